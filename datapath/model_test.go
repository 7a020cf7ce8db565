package datapath

import (
	"context"
	"math"
	"slices"
	"sync"
	"testing"

	"nettrace/unit"
)

func replay(t testing.TB, settings, workload string, seeds int) *Replay {
	t.Helper()
	c, w := scenario(t, settings, workload)
	r, err := Seeds(context.Background(), c, w, seeds)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// predicted predicts the published tables once for all tests.
var predicted = sync.OnceValues(func() ([]Table, error) { return Published(context.Background()) })

func published(t testing.TB) []Table {
	t.Helper()
	tables, err := predicted()
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

// edge4344 is the thread's run of 4344 bytes, once for all tests.
var edge4344 = sync.OnceValues(func() (*Replay, error) {
	return Seeds(context.Background(), Thread(), Workload{Request: 4344, Response: 1, Depth: 1, Duration: DefaultDuration}, DefaultSeeds)
})

func onEdge4344(t testing.TB) *Replay {
	t.Helper()
	r, err := edge4344()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Each held-out point is within its bar, and one byte more costs what was published.
func TestHeldOutPoints(t *testing.T) {
	at := map[string]float64{}
	held := 0
	for _, table := range published(t) {
		for _, p := range table.Points {
			at[p.Label] = p.Predicted
			if p.Role == HeldOut {
				held++
			}
			if !p.Holds() || p.Bar == "" && p.Role == HeldOut {
				t.Errorf("%s, %s: %.5g predicted, %.5g published, off by %+.1f %%, bar %q", table.Name, p.Label, p.Predicted, p.Published, 100*p.Error(), p.Bar)
			}
			if p.Low > p.Predicted || p.High < p.Predicted {
				t.Errorf("%s: %g is not between %g and %g", p.Label, p.Predicted, p.Low, p.High)
			}
		}
	}
	if held != 72 {
		t.Errorf("%d points are held out, not 72", held)
	}
	step := at["forwarding with a dedicated drain"]
	for _, table := range published(t) {
		for _, p := range table.Points {
			if p.Label == "two lines removed from the dedicated drain" && (p.Low <= step || p.Low > p.Published || p.High < p.Published) {
				t.Errorf("the two lines' step from %g is read as %g to %g, published %g", step, p.Low, p.High, p.Published)
			}
		}
	}
	for _, high := range []string{"128", "64"} {
		if at["request 4345 high "+high] > 0.6*at["request 4344 high "+high] {
			t.Errorf("at high %s one byte more takes %g to %g", high, at["request 4344 high "+high], at["request 4345 high "+high])
		}
	}
}

// variant is a way to be wrong.
type variant struct {
	name, settings string
	study          [4]float64 // errors that the feasibility study of the model found, with other code from the same description
	off, margin    [4]float64 // errors of this model, and how sure they are
}

// variantPoints are the published rates that variants are compared with.
func variantPoints() [4]struct {
	label, workload, settings string
	published                 float64
} {
	return [4]struct {
		label, workload, settings string
		published                 float64
	}{
		{"4345 at 128", "rr:4345,1", "rx-usecs-high=128", 3406.62}, {"4345 at 64", "rr:4345,1", "rx-usecs-high=64", 5790.48},
		{"4344 at 128", "rr:4344,1", "rx-usecs-high=128", 10030.37}, {"4344 at 64", "rr:4344,1", "rx-usecs-high=64", 11143.07},
	}
}

// variants are predicted once for all tests.
var variants = sync.OnceValues(func() ([]variant, error) {
	list := []variant{
		{name: "the rule quoted in the thread (Linux 2.6.38)", settings: "policy=mlx4-v2", study: [4]float64{0.54, 0.34, 0.18, 0.12}},
		{name: "received packets counted after merging", settings: "counters=merged", study: [4]float64{0.27, 0, -0.43, -0.33}},
		{name: "only the server adaptive", settings: "client.adaptive-rx=off", study: [4]float64{0.43, 0.20, 0.02, -0.05}},
		{name: "only the client adaptive", settings: "server.adaptive-rx=off", study: [4]float64{0.56, 0.38, 0.08, 0.04}},
	}
	for i := range list {
		for j, p := range variantPoints() {
			seeds := 3 // 4345 bytes vary little
			if p.workload == "rr:4344,1" {
				seeds = 12
			}
			c := Thread()
			if err := c.Apply(list[i].settings + "," + p.settings); err != nil {
				return nil, err
			}
			w, err := ParseWorkload(p.workload)
			if err != nil {
				return nil, err
			}
			r, err := Seeds(context.Background(), c, w, seeds)
			if err != nil {
				return nil, err
			}
			list[i].off[j], list[i].margin[j] = r.Rate.Mean/p.published-1, r.Rate.Margin/p.published
		}
	}
	return list, nil
})

// What is known to be wrong misses the published rates, 4345 at 128 by more than 10 %, and by as much as the study found.
func TestRejectedVariants(t *testing.T) {
	list, err := variants()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range list {
		if v.off[0] < 0.10 {
			t.Errorf("%s: off by %+.0f %% at 4345 and 128 us, has to miss by more than 10 %%", v.name, 100*v.off[0])
		}
		for j, p := range variantPoints() {
			if math.Abs(v.off[j]-v.study[j]) > 0.03+v.margin[j] {
				t.Errorf("%s, %s: off by %+.1f %%, the study found %+.0f %%", v.name, p.label, 100*v.off[j], 100*v.study[j])
			}
		}
	}
}

// At 4344 bytes each host is slow in 0.29 +- 0.05 of its samples, a slow sample is rarely followed by another, and nearly
// all samples are on the edge; at 4345 bytes all are slow, and none is on the edge.
func TestSlowShare(t *testing.T) {
	r := onEdge4344(t)
	for name, h := range map[string]HostEstimates{"client": r.Client, "server": r.Server} {
		if math.Abs(h.HighShare.Mean-0.29) > 0.05 {
			t.Errorf("%s: %.3f of the samples are high, expected 0.29 +- 0.05", name, h.HighShare.Mean)
		}
		if h.EdgeShare.Mean < 0.9 {
			t.Errorf("%s: %.2f of the samples are on the edge", name, h.EdgeShare.Mean)
		}
	}
	if len(r.Warnings) != 2 {
		t.Errorf("warnings %q, expected one for each host", r.Warnings)
	}
	r = replay(t, "", "rr:4345,1", 3)
	if r.Client.HighShare.Mean < 0.9 || r.Server.HighShare.Mean < 0.9 || len(r.Warnings) != 0 {
		t.Errorf("at 4345 bytes %.2f and %.2f of the samples are high, warnings %q", r.Client.HighShare.Mean, r.Server.HighShare.Mean, r.Warnings)
	}
}

// interimQuantiles are those of the published interim reports of 4344 bytes (netperf -D 0.25, second mail).
func interimQuantiles() []struct{ share, published float64 } {
	return []struct{ share, published float64 }{{0.25, 7280}, {0.5, 11084}, {0.75, 14176}}
}

// interimRates are the rates of all interim reports of 4344 bytes over seeds, in order.
func interimRates(t testing.TB) []float64 {
	var rates []float64
	for _, run := range onEdge4344(t).Runs {
		for _, i := range run.Interims {
			rates = append(rates, i.Rate)
		}
	}
	slices.Sort(rates)
	return rates
}

// The interim reports of 4344 bytes are spread as the published ones.
func TestInterimDistribution(t *testing.T) {
	rates := interimRates(t)
	for _, q := range interimQuantiles() {
		if got := quantile(rates, q.share); math.Abs(got/q.published-1) > 0.12 {
			t.Errorf("quantile %.2f of the interim rates is %.0f, published %.0f", q.share, got, q.published)
		}
	}
	for _, run := range onEdge4344(t).Runs {
		end := unit.Nanos(0)
		for _, i := range run.Interims {
			if i.Length < interimInterval || i.End != end+i.Length {
				t.Fatalf("a report of %v that ends at %v follows one that ends at %v", i.Length, i.End, end)
			}
			end = i.End
		}
	}
}

func quantile(sorted []float64, share float64) float64 {
	return sorted[int(share*float64(len(sorted)-1))]
}

// Where nothing overlaps, a transaction takes the sum of its parts: written down by hand, as a second implementation.
func TestSumOfParts(t *testing.T) {
	constants, err := FrozenConstants(adaptiveRX)
	if err != nil {
		t.Fatal(err)
	}
	us := map[string]float64{}
	for _, k := range constants.List() {
		us[k.Name] = k.Value
	}
	wire := func(payload float64) float64 { return (payload + 66 + 24) * 8 / 1e4 }
	receive := func(wait, frames float64) float64 {
		return wait + us["interrupt"] + us["poll-start"] + frames*us["packet"] + us["tcp-receive"]
	}
	read := func(bytes float64) float64 { return us["wake"] + us["read"] + bytes*us["read-byte"]/1000 }
	for _, c := range []struct {
		settings, workload string
		want               float64 // us
	}{
		// One frame each way, each waits 50 us.
		{"adaptive-rx=off,rx-usecs=50", "rr:100,1", 2*us["send"] + wire(100) + wire(1) + 2*us["latency"] + 2*receive(50, 1) + read(100) + read(1)},
		// Two segments: more than one MSS, so a pure ACK starts the client's wait, and the response hides in it.
		{"adaptive-rx=off,rx-usecs=100", "rr:2896,1", us["send"] + wire(1448) + wire(0) + 2*us["latency"] + receive(100, 2) + us["ack"] + receive(100, 2) + read(1)},
		// Three segments and a remainder: the same, and the split send.
		{"adaptive-rx=off,rx-usecs=128", "rr:4345,1", us["send"] + us["split"] + wire(1448) + wire(0) + 2*us["latency"] + receive(128, 4) + us["ack"] + receive(128, 2) + read(1)},
	} {
		r := replay(t, c.settings, c.workload, 1).Runs[0]
		if got := float64(r.Latency.Mean) / 1000; math.Abs(got-c.want) > 0.02 {
			t.Errorf("%s %s takes %.2f us, the sum of its parts is %.2f", c.settings, c.workload, got, c.want)
		}
	}
}

// A 4344-byte request is three frames one way and two the other, one of them a pure ACK; one byte more is four and two.
func TestFramesOfATransaction(t *testing.T) {
	for _, c := range []struct {
		workload    string
		there, acks float64
	}{{"rr:4344,1", 3, 1}, {"rr:4345,1", 4, 1}, {"rr:1448,1", 1, 0}, {"rr:1449,1", 2, 1}, {"rr:1,1", 1, 0}} {
		r := replay(t, "adaptive-rx=off", c.workload, 1).Runs[0]
		n := float64(r.Transactions)
		if there, acks := float64(r.Server.Packets)/n, float64(r.Server.PureACKs)/n; math.Abs(there-c.there) > 0.01 || math.Abs(acks-c.acks) > 0.01 {
			t.Errorf("%s: %.2f frames to the server, %.2f pure ACKs back, expected %g and %g", c.workload, there, acks, c.there, c.acks)
		}
		if back := float64(r.Client.Packets) / n; math.Abs(back-1-c.acks) > 0.01 {
			t.Errorf("%s: %.2f frames to the client", c.workload, back)
		}
	}
}

// Where one frame each way is all, a longer wait never makes the exchange faster. (With a pure ACK it can: the client's
// wait then begins before the response comes.)
func TestLongerWaits(t *testing.T) {
	last := math.Inf(1)
	for _, usecs := range []string{"0", "1", "2", "5", "16", "64", "128", "500"} {
		rate := replay(t, "adaptive-rx=off,rx-usecs="+usecs, "rr:1,1", 2).Rate.Mean
		if rate > last {
			t.Errorf("rx-usecs %s gives %.0f transactions/s, a shorter wait %.0f", usecs, rate, last)
		}
		last = rate
	}
	if a, b := replay(t, "adaptive-rx=off,rx-usecs=16", "rr:4344,1", 1).Rate.Mean, replay(t, "adaptive-rx=off,rx-usecs=24", "rr:4344,1", 1).Rate.Mean; a > b {
		t.Errorf("the client's hidden wait is gone: %.0f at 16 us, %.0f at 24", a, b)
	}
}

// 1 us more in a transaction is 1.4 % in fast states and 0.3 % in slow ones.
func TestSensitivity(t *testing.T) {
	for _, c := range []struct {
		settings, workload string
		want               float64
	}{{"adaptive-rx=off,rx-usecs=0", "rr:4344,1", 0.0145}, {"adaptive-rx=off,rx-usecs=128", "rr:4345,1", 0.0033}} {
		config, w := scenario(t, c.settings, c.workload)
		before, err := Run(config, w, 1)
		if err != nil {
			t.Fatal(err)
		}
		slower, err := FrozenConstants(adaptiveRX)
		if err != nil {
			t.Fatal(err)
		}
		config.Constants = slower.with("latency", slower.value("latency")+0.5) // us, twice in a transaction
		after, err := Run(config, w, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := 1 - after.Rate/before.Rate; math.Abs(got-c.want) > 0.1*c.want {
			t.Errorf("%s %s: 1 us more takes %.2f %%, expected %.2f", c.settings, c.workload, 100*got, 100*c.want)
		}
	}
}

func TestGain(t *testing.T) {
	on, off := replay(t, "", "rr:4345,1", 5), replay(t, "adaptive-rx=off", "rr:4345,1", 5)
	if g := off.Gain(on); g.Mean < 2.8 || g.Mean > 3.2 || g.Low > g.Mean || g.High < g.Mean {
		t.Errorf("switching adaptive-rx off gives %+v times the rate, published 10460/3407 = 3.07", g)
	}
}
