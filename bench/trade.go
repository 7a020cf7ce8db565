package bench

// Trade is what a set gains and pays against the first set in two figures that were taken at the same places: packets
// for each interrupt and CPU time, rate and cost.
type Trade struct {
	Set    string    `json:"set"`
	Base   string    `json:"base"`
	Axis   string    `json:"axis"`
	First  Shift     `json:"first"`
	Second Shift     `json:"second"`
	Names  [2]string `json:"names"` // of the figures
	Units  [2]string `json:"units"`
	Each   float64   `json:"each"`   // mean difference of the second figure for each unit of the first
	Always bool      `json:"always"` // both figures moved in one direction at all places
}

// maxTrades bounds the pairs of curves that are set against each other.
const maxTrades = 200

// Trades sets the shifts of curves against each other that have the same axis and the same first set.
func Trades(curves []Curve) []Trade {
	trades := []Trade{}
	for i := range curves {
		for k := i + 1; k < len(curves); k++ {
			a, b := &curves[i], &curves[k]
			if a.Axis != b.Axis || a.figure == b.figure || a.options != b.options {
				continue
			}
			for _, x := range a.Shifts {
				for _, y := range b.Shifts {
					if x.Set != y.Set || x.Base != y.Base || x.Places != y.Places || x.Mean == 0 || len(trades) == maxTrades {
						continue
					}
					each := y.Mean / x.Mean
					if !finite(each) {
						continue
					}
					trades = append(trades, Trade{Set: x.Set, Base: x.Base, Axis: a.Axis, First: x, Second: y, Names: [2]string{a.Name, b.Name}, Units: [2]string{a.Unit, b.Unit},
						Each: each, Always: x.oneWay() && y.oneWay()})
				}
			}
		}
	}
	return trades
}

func (s *Shift) oneWay() bool { return s.Above == s.Places || s.Below == s.Places }
