package bench

import "math"

// maxColumnValues is how many values of one column are kept: 16 MiB. Beyond, every second of them is, and so on.
const maxColumnValues = 1 << 21

// longColumn takes a long column of numbers: count, extremes, mean and spread of all of them, and their values as far as they
// are kept.
type longColumn struct {
	n             int
	min, max      float64
	mean, squares float64 // Welford 1962
	values        []float64
	stride        int // each kept value stands for so many
}

func newLongColumn() *longColumn { return &longColumn{min: math.Inf(1), max: math.Inf(-1), stride: 1} }

func (c *longColumn) add(v float64) {
	if c.n%c.stride == 0 {
		if len(c.values) == maxColumnValues {
			for i := range maxColumnValues / 2 {
				c.values[i] = c.values[2*i]
			}
			c.values = c.values[:maxColumnValues/2]
			c.stride *= 2
		}
		c.values = append(c.values, v)
	}
	c.n++
	c.min, c.max = min(c.min, v), max(c.max, v)
	off := v - c.mean
	c.mean += off / float64(c.n)
	c.squares += off * (v - c.mean)
}

// into makes the run of the column.
func (c *longColumn) into(r Run) Run {
	s := Summarise(c.values, MinistatNewer)
	if c.stride > 1 {
		s.N, s.Min, s.Max, s.Mean = c.n, c.min, c.max, c.mean
		s.StdDev = math.Sqrt(c.squares / float64(c.n-1))
	}
	r.Rate, r.Summary, r.Values, r.Stride = s.Mean, &s, c.values, c.stride
	return r
}
