package bench

// Sample is one figure of one test in a single set.
type Sample struct {
	Name           string    `json:"name"`
	Unit           string    `json:"unit"`
	Summary        Summary   `json:"summary"`
	MedianInterval *Interval `json:"median_interval"` // null with too few values, or where only a summary is known
	OnCurve        bool      `json:"on_curve"`        // one of Curves has it as a point
	Notes          []string  `json:"notes"`           // why it may mislead

	Values []float64 `json:"-"` // in ascending order, nil where only the summary is known
}

// Refusal is a test whose sets cannot be compared.
type Refusal struct {
	Name string   `json:"name"`
	Sets []string `json:"sets"`
	Text string   `json:"text"`
}

// Unmatched is a test that only one set has.
type Unmatched struct {
	Set  string `json:"set"`
	Name string `json:"name"`
	N    int    `json:"n"`
}

// Comparison is one figure of one test in two sets. Lists have an element for each set, in the order of the arguments.
type Comparison struct {
	Name   string    `json:"name"`  // "" for columns of numbers
	Unit   string    `json:"unit"`  // "" where none is known
	Test   string    `json:"test"`  // "Student's t", or "none" with fewer than three values in a set
	Pairs  int       `json:"pairs"` // of sets of this test; they follow each other
	Sets   []string  `json:"sets"`
	N      []int     `json:"n"`
	Min    []float64 `json:"min"`
	Max    []float64 `json:"max"`
	Mean   []float64 `json:"mean"`
	Median []float64 `json:"median"`
	StdDev []float64 `json:"stddev"`

	Difference        float64 `json:"difference"` // of the means, the second less the first
	Margin            float64 `json:"margin"`
	DifferencePercent float64 `json:"difference_percent"` // of the first mean
	MarginPercent     float64 `json:"margin_percent"`
	Confidence        float64 `json:"confidence"` // in percent
	PooledS           float64 `json:"pooled_s"`
	Significant       bool    `json:"significant"` // by Student's t, after Holm's correction where there are more than two sets
	P                 float64 `json:"p"`           // of Student's t; 1 where it cannot be had
	PHolm             float64 `json:"p_holm"`      // corrected for the number of pairs of sets

	MedianIntervals []*Interval        `json:"median_intervals"` // null with too few values, or where only a summary is known
	MannWhitney     *MannWhitneyResult `json:"mann_whitney"`     // null where only summaries are known
	MedianRatio     *Ratio             `json:"median_ratio"`     // the second over the first; null where it cannot be had, and behind 500 pairs
	RunsNeeded      int                `json:"runs_needed"`      // of each set, to show the observed difference in four of five attempts; 0: practically never
	OnCurve         bool               `json:"on_curve"`         // one of Curves has it as a point
	Notes           []string           `json:"notes"`            // why it may mislead

	Values [][]float64 `json:"-"` // of each set in ascending order, nil where only the summary is known
}

// MannWhitneyResult is the result of the test of ranks, as benchstat makes it.
type MannWhitneyResult struct {
	P           float64 `json:"p"`
	PHolm       float64 `json:"p_holm"`
	Significant bool    `json:"significant"`
	MedianShift float64 `json:"median_difference_percent"` // of the first median
}

// Ratio is a ratio with its bootstrap interval.
type Ratio struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}
