package coalesce

import (
	"cmp"
	"slices"

	"nettrace/kernel"
	"nettrace/source"
)

// Losses of interfaces and load of queues, as drivers count them.

// InterfaceLoss is what an interface lost at one place.
type InterfaceLoss struct {
	Place kernel.LossPlace
	Name  string // of the counter, or of that of the queue with most
	Delta uint64 // summed over the queues; of several counters of one place, which count the same packets, the largest
	Last  uint64 // since the interface came up
	Rate  float64
	Pos   source.Pos
	Also  []string // further counters of the place that rose

	change Change
	series *Series
}

// Losses returns what the interface lost over its series, by place, and the pauses, in the order of the places.
func (i *Interface) Losses() []InterfaceLoss {
	byKey := map[[2]string]*InterfaceLoss{}
	order := [][2]string{}
	for _, s := range i.Counters {
		if len(s.Snapshots) < 2 || s.Tool == "tc-qdisc" {
			continue
		}
		for k := range s.Counters {
			c := &s.Counters[k]
			if c.Delta == 0 {
				continue
			}
			place, key := kernel.ParseLoss(c.Name)
			if place == kernel.NoLoss {
				continue
			}
			id := [2]string{s.Tool, key}
			l := byKey[id]
			if l == nil {
				l = &InterfaceLoss{Place: place}
				byKey[id], order = l, append(order, id)
			}
			l.add(c, &s.Series)
		}
	}
	var losses []InterfaceLoss
	for _, id := range order {
		losses = merge(losses, *byKey[id])
	}
	slices.SortStableFunc(losses, func(a, b InterfaceLoss) int { return cmp.Compare(a.Place, b.Place) })
	return losses
}

func (l *InterfaceLoss) add(c *Counter, s *Series) {
	l.Delta += c.Delta
	l.Last += c.Last.Value
	if r, ok := c.Rate(); ok {
		l.Rate += r
	}
	if l.Name == "" || c.Delta > l.change.Delta {
		l.Name, l.Pos, l.change, l.series = c.Name, c.Last.Pos, c.Change, s
	}
}

// merge adds a loss to those of other places; of one place the larger stays and names the other.
func merge(losses []InterfaceLoss, l InterfaceLoss) []InterfaceLoss {
	k := slices.IndexFunc(losses, func(x InterfaceLoss) bool { return x.Place == l.Place })
	if k < 0 {
		return append(losses, l)
	}
	small, large := l, losses[k]
	if l.Delta > losses[k].Delta {
		small, large = losses[k], l
	}
	for _, name := range append([]string{small.Name}, small.Also...) {
		if name != large.Name && !slices.Contains(large.Also, name) && len(large.Also) < 4 {
			large.Also = append(large.Also, name)
		}
	}
	losses[k] = large
	return losses
}

// Loss returns what the interface lost at a place.
func (i *Interface) Loss(place kernel.LossPlace) (InterfaceLoss, bool) {
	for _, l := range i.Losses() {
		if l.Place == place {
			return l, true
		}
	}
	return InterfaceLoss{}, false
}

// QueueLoad is what one receive queue took.
type QueueLoad struct {
	Queue   int
	Name    string // of a counter
	Packets uint64
	Last    uint64 // since the interface came up
	Pos     source.Pos

	change Change
	series *Series
}

// QueueLoad returns the packets of the receive queues by number, from the first series over several snapshots in which
// a queue counted any since boot.
func (i *Interface) QueueLoad() []QueueLoad {
	for _, s := range i.Counters {
		if len(s.Snapshots) < 2 {
			continue
		}
		var queues []QueueLoad
		some := false
		for _, c := range s.packets(kernel.RX, true, -1) {
			q, _ := kernel.ParseQueueCounter(c.Name)
			k := slices.IndexFunc(queues, func(x QueueLoad) bool { return x.Queue == q.Queue })
			if k < 0 {
				k = len(queues)
				queues = append(queues, QueueLoad{Queue: q.Queue, Name: c.Name, Pos: c.Last.Pos, change: c.Change, series: &s.Series})
			}
			queues[k].Packets += c.Delta
			queues[k].Last += c.Last.Value
			some = some || c.Last.Value > 0
		}
		if some {
			slices.SortFunc(queues, func(a, b QueueLoad) int { return cmp.Compare(a.Queue, b.Queue) })
			return queues
		}
	}
	return nil
}
