package datapath

// station is a place of a closed queueing network where customers wait for service.
type station struct {
	demand  float64 // us of service that one round of a customer takes in all
	servers int     // that work side by side; 0 is 1
}

// network is a closed queueing network: customers that go round for ever between stations and a delay.
type network struct {
	customers int
	delay     float64 // us of a round that are no waiting for anything shared
	stations  []station
}

// flowRates is what mean-value analysis gives of a network.
type flowRates struct {
	rounds  float64   // per us
	waiting []float64 // at each station: us of a round in which a customer waits for service
}

// solve is exact mean-value analysis for single servers with exponential service (Reiser and Lavenberg, 1980); a station of
// m servers is taken as one that is m times as fast and a delay of the rest of the service (Seidmann, 1987).
func (n network) solve() flowRates {
	delay := n.delay
	demand := make([]float64, len(n.stations))
	for i, s := range n.stations {
		servers := float64(max(s.servers, 1))
		demand[i] = s.demand / servers
		delay += s.demand - demand[i]
	}
	queue, rounds := make([]float64, len(demand)), 0.0
	residence := make([]float64, len(demand))
	for k := 1; k <= n.customers; k++ {
		round := delay
		for i, d := range demand {
			residence[i] = d * (1 + queue[i])
			round += residence[i]
		}
		rounds = float64(k) / round
		for i := range queue {
			queue[i] = rounds * residence[i]
		}
	}
	waiting := make([]float64, len(demand))
	for i := range waiting {
		waiting[i] = residence[i] - demand[i]
	}
	return flowRates{rounds, waiting}
}
