package bench

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"nettrace/fixtures/shared"
)

// TestBenchmath holds p-values, medians and their intervals to those of benchstat's library.
func TestBenchmath(t *testing.T) {
	var pairs []struct {
		A, B      []float64
		P, Median float64
		Low, High *float64
	}
	if err := json.Unmarshal([]byte(fixture(t, "benchmath-pairs.json")), &pairs); err != nil {
		t.Fatal(err)
	}
	for i, pair := range pairs {
		a, b := ascending(pair.A), ascending(pair.B)
		if p, err := MannWhitney(a, b); err != nil || math.Abs(p-min(1, pair.P)) > 1e-9 {
			t.Errorf("pair %d of %d and %d values: p is %g, %v; benchmath says %g", i, len(a), len(b), p, err, pair.P)
		}
		interval, ok := MedianInterval(a, 0.95)
		if median := medianOf(a); median != pair.Median || ok != (pair.Low != nil && pair.High != nil) || ok && (interval.Low != *pair.Low || interval.High != *pair.High) {
			t.Errorf("pair %d: median of %d values is %g in %v %v, benchmath says %+v", i, len(a), median, interval, ok, pair)
		}
	}
}

func TestMannWhitneyLeast(t *testing.T) {
	for n, want := range map[int]float64{3: 0.1, 4: 0.02857142857142857, 5: 0.007936507936507936, 6: 0.0021645021645021645, 7: 0.0005827505827505828} {
		a, b := make([]float64, n), make([]float64, n)
		for i := range n {
			a[i], b[i] = float64(i), float64(100+i)
		}
		if p, _ := MannWhitney(a, b); math.Abs(p-want) > 1e-15 {
			t.Errorf("%d values apart: p is %v, want %v", n, p, want)
		}
	}
	if p, err := MannWhitney([]float64{1, 1}, []float64{1, 1, 1}); p != 1 || err == nil {
		t.Errorf("equal values: p is %v, error %v", p, err)
	}
	if leastRuns(0.05) != 4 || leastRuns(0.01) != 5 || medianRuns(0.95) != 6 || medianRuns(0.99) != 8 {
		t.Errorf("least runs %d, %d; values of a bounded interval %d, %d", leastRuns(0.05), leastRuns(0.01), medianRuns(0.95), medianRuns(0.99))
	}
}

// TestStudentTable has entries of printed tables and those in which ministat differs.
func TestStudentTable(t *testing.T) {
	for _, c := range []struct {
		degrees int
		percent float64
		want    float64
	}{{8, 95, 2.306}, {7, 95, 2.365}, {4, 80, 1.533}, {8, 99.5, 4.499}, {13, 99.5, 3.852}, {100, 95, 1.984}, {101, 95, 1.96}, {150, 99.5, 3.09}} {
		if got := studentT(c.degrees, c.percent); got != c.want {
			t.Errorf("t of %d degrees at %g %% is %v, want %v", c.degrees, c.percent, got, c.want)
		}
	}
}

// TestPublishedComparisons computes the ring thread's comparisons from the summaries printed there.
func TestPublishedComparisons(t *testing.T) {
	sets := map[string][]Summary{}
	for _, row := range csvRows(t, shared.Path(t, "data/published/iflib-mpring.ministat-sets.csv")) {
		v := func(i int) float64 { return number([]byte(row[i])) }
		sets[row[0]] = append(sets[row[0]], Summary{N: int(v(3)), Min: v(4), Max: v(5), Median: v(6), Mean: v(7), StdDev: v(8)})
	}
	proven := 0
	for _, row := range csvRows(t, shared.Path(t, "data/published/iflib-mpring.ministat-results.csv")) {
		pair := sets[row[0]]
		r := Student(pair[0], pair[1], 95, MinistatNewer)
		if row[2] == "" {
			if r.Significant {
				t.Errorf("comparison %s: %+v, none was proven", row[0], r)
			}
			continue
		}
		proven++
		got := fmt.Sprintf("%.6g %.6g %.6g %.6g %.6g", r.Difference, r.Margin, r.DifferencePercent, r.MarginPercent, r.PooledS)
		if want := strings.Join(row[2:7], " "); got != want || !r.Significant {
			t.Errorf("comparison %s: %s, printed is %s", row[0], got, want)
		}
	}
	if proven != 6 {
		t.Errorf("%d proven comparisons, want 6", proven)
	}
}

// TestHalfwayDigits has a pair whose difference lies halfway between two printed ones: Debian's ministat prints 41.0167.
func TestHalfwayDigits(t *testing.T) {
	a := Summarise([]float64{985.96, 998.30, 1015.22, 998.60, 1021.47, 1005.76, 1013.48, 991.46}, Ministat2015)
	b := Summarise([]float64{1072.80, 1020.73, 1047.82, 1053.77, 1028.87}, Ministat2015)
	if got := fmt.Sprintf("%.6g", Student(a, b, 95, Ministat2015).Difference); got != "41.0167" {
		t.Errorf("the difference is printed as %s", got)
	}
}

func TestHolm(t *testing.T) {
	got := Holm([]float64{0.01, 0.04, 0.03, math.NaN(), 0.005})
	want := []float64{0.03, 0.06, 0.06, math.NaN(), 0.02}
	if diff := cmp.Diff(fmt.Sprint(want), fmt.Sprint(got)); diff != "" {
		t.Error(diff)
	}
}

// TestRunsNeeded simulates the chance of a difference to show in as many runs.
func TestRunsNeeded(t *testing.T) {
	n := RunsNeeded(10, 10, 95)
	r := rand.New(rand.NewPCG(1, 2))
	shown := 0
	const attempts = 2000
	for range attempts {
		a, b := make([]float64, n), make([]float64, n)
		for i := range n {
			a[i], b[i] = 100+10*r.NormFloat64(), 110+10*r.NormFloat64()
		}
		if Student(Summarise(a, MinistatNewer), Summarise(b, MinistatNewer), 95, MinistatNewer).Significant {
			shown++
		}
	}
	if share := float64(shown) / attempts; share < 0.77 || share > 0.83 {
		t.Errorf("%d runs show a difference of one deviation in %g of the attempts, want 0.8", n, share)
	}
	if RunsNeeded(0, 1, 95) != 0 || RunsNeeded(1e-9, 1, 95) != 0 || RunsNeeded(1, 0, 95) != leastNumbers {
		t.Error("a difference of nothing, one too small, and one without spread")
	}
}

// TestNullIsUniform holds that p-values of sets from one distribution are uniform: both tests, 2,000 draws.
func TestNullIsUniform(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const pairs, n = 2000, 15
	var student, mannWhitney []float64
	for range pairs {
		a, b := make([]float64, n), make([]float64, n)
		for i := range n {
			a[i], b[i] = 1000+20*r.NormFloat64(), 1000+20*r.NormFloat64()
		}
		student = append(student, Student(Summarise(a, MinistatNewer), Summarise(b, MinistatNewer), 95, MinistatNewer).P)
		p, err := MannWhitney(ascending(a), ascending(b))
		if err != nil {
			t.Fatal(err)
		}
		mannWhitney = append(mannWhitney, p)
	}
	for name, p := range map[string][]float64{"Student": student, "Mann-Whitney": mannWhitney} {
		slices.Sort(p)
		distance := 0.0
		for i, v := range p {
			distance = max(distance, math.Abs(float64(i+1)/pairs-v), math.Abs(float64(i)/pairs-v))
		}
		if distance >= 0.05 {
			t.Errorf("%s: Kolmogorov distance %g", name, distance)
		}
	}
}

// TestMedianRatioCovers holds that the bootstrap interval holds the true ratio about as often as it says.
func TestMedianRatioCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	inside := 0
	const attempts, n = 300, 25
	for range attempts {
		a, b := make([]float64, n), make([]float64, n)
		for i := range n {
			a[i], b[i] = 100+5*r.NormFloat64(), 120+5*r.NormFloat64()
		}
		if _, i, ok := MedianRatio(ascending(a), ascending(b), 0.95); ok && i.Low <= 1.2 && 1.2 <= i.High {
			inside++
		}
	}
	if share := float64(inside) / attempts; share < 0.9 || share > 0.995 {
		t.Errorf("the interval holds the true ratio in %g of the attempts", share)
	}
}

// TestStatisticsScale holds that scaling scales, order does not matter, and a set does not differ from itself.
func TestStatisticsScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(1, 1e6), 3, 30)
		a, b := values.Draw(t, "a"), values.Draw(t, "b")
		factor := rapid.Float64Range(1e-3, 1e3).Draw(t, "factor")
		times := func(values []float64) (scaled []float64) {
			for _, v := range values {
				scaled = append(scaled, v*factor)
			}
			return scaled
		}
		near := func(x, y float64) bool { return math.Abs(x-y) <= 1e-7*max(math.Abs(x), math.Abs(y), 1e-6) }
		one := Student(Summarise(a, MinistatNewer), Summarise(b, MinistatNewer), 95, MinistatNewer)
		more := Student(Summarise(times(a), MinistatNewer), Summarise(times(b), MinistatNewer), 95, MinistatNewer)
		if !near(one.Difference*factor, more.Difference) && math.Abs(one.Difference) > 1e-6 || !near(one.Margin*factor, more.Margin) || !near(one.MarginPercent, more.MarginPercent) {
			t.Fatalf("times %g: %+v and %+v", factor, one, more)
		}
		slices.Reverse(b)
		if again := Student(Summarise(a, MinistatNewer), Summarise(b, MinistatNewer), 95, MinistatNewer); again != one {
			t.Fatalf("in another order: %+v and %+v", one, again)
		}
		self := Student(Summarise(a, MinistatNewer), Summarise(a, MinistatNewer), 95, MinistatNewer)
		if p, err := MannWhitney(ascending(a), ascending(a)); self.Significant || err == nil && p < 0.9 {
			t.Fatalf("a set differs from itself: %+v, p %g", self, p)
		}
	})
}
