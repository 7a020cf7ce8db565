package bench

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nettrace/fixtures/shared"
)

func tableFixture(t testing.TB, names ...string) []Run {
	t.Helper()
	var runs []Run
	for _, name := range names {
		found, _ := readCSV(t, name, fixture(t, name))
		runs = append(runs, found...)
	}
	return runs
}

// TestRingScaling has the published curves of the ring review: fitted terms, and the number of senders from which each
// variant overtakes.
func TestRingScaling(t *testing.T) {
	curves := Curves(Variants(tableFixture(t, "table-ring-scaling.csv")))
	if len(curves) != 1 || curves[0].Axis != streamsAxis {
		t.Fatalf("%d curves", len(curves))
	}
	var got []string
	for _, s := range curves[0].Series {
		got = append(got, fmt.Sprintf("%s %.3g %.2g%% %.2g%% %.0f %.3f", s.Set, s.USL.Lambda, 100*s.USL.Contention, 100*s.USL.Coherency, s.USL.Peak, s.USL.Fit))
	}
	for _, x := range curves[0].Crossings {
		got = append(got, fmt.Sprintf("%s over %s between %g and %g, fits %g", x.Second, x.First, x.From, x.To, x.FitAt))
	}
	want := []string{"bypass 1.54 3.8% 0.037% 51 0.980", "mp_ring_abdicate_on 0.459 1.8% 0.013% 87 0.993", "mp_ring_abdicate_off 1.16 9.2% 0.024% 61 0.981", "mce 1.52 4.1% 0.03% 56 0.974",
		"mce over bypass between 32 and 64, fits 68", "mp_ring_abdicate_on over mp_ring_abdicate_off between 16 and 32, fits 36"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestZeroCopyCrossing has SDP's runs, from the published thread as it is archived and from our log of them: copying is
// faster at 16,384 bytes, zero copy from 65,536 on.
func TestZeroCopyCrossing(t *testing.T) {
	thread, _ := filepath.Glob(filepath.Join(shared.Path(t, "data/threads"), "002_*.txt"))
	for _, path := range append(thread, filepath.Join("..", "fixtures", "bench", "netperf-zcopy-log.txt")) {
		runs, _ := read(t, path, content(t, path))
		var got []string
		for _, c := range Curves(SplitBy(runs, "sdp_zcopy_thresh")) {
			for _, x := range c.Crossings {
				got = append(got, fmt.Sprintf("%s %s: %s over %s between %g and %g, at %.0f", c.Name, c.Unit, x.Second, x.First, x.From, x.To, x.At))
			}
		}
		want := []string{
			"TCP_STREAM 10^6 bits/s: sdp_zcopy_thresh=1 over sdp_zcopy_thresh=0 between 16384 and 65536, at 26551",
			"TCP_STREAM local CPU cost us/KB: sdp_zcopy_thresh=1 over sdp_zcopy_thresh=0 between 16384 and 65536, at 27566",
			"TCP_STREAM remote CPU cost us/KB: sdp_zcopy_thresh=1 over sdp_zcopy_thresh=0 between 16384 and 65536, at 30753",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// TestServiceDemandIdentity holds that all 24 published service demands follow from utilisation, CPUs and rate.
func TestServiceDemandIdentity(t *testing.T) {
	runs, ledger := readCSV(t, "by-hand.csv", content(t, shared.Path(t, "data/published/sdp-bzcopy.netperf-by-hand.csv")))
	checked := 0
	for _, r := range runs {
		for _, c := range []*CPU{r.Local, r.Remote} {
			demand := c.UtilPercent * float64(c.CPUs) * 1e4 / (r.Rate * perSecond(r.Unit))
			if off := math.Abs(demand/c.DemandMicros - 1); c.CPUs != 8 || off > 0.002 {
				t.Errorf("line %d: demand %g, identity %g (%d CPUs)", r.Pos.Line, c.DemandMicros, demand, c.CPUs)
			}
			checked++
		}
	}
	if checked != 24 || len(ledger) != 0 {
		t.Errorf("%d values checked, ledger %v", checked, names(ledger))
	}
}

// TestTagTrade has tg3's tables: what coalescing gains in packets for each interrupt it saves in CPU time, and what
// tagged status loses it pays, at all loads.
func TestTagTrade(t *testing.T) {
	sets := Variants(tableFixture(t, "table-tg3.packets-per-interrupt.csv", "table-tg3.cpu-util.csv"))
	var got []string
	for _, x := range Trades(Curves(sets)) {
		got = append(got, fmt.Sprintf("%s: %+.3g %d/%d, %+.4g %d/%d, %+.3g each", x.Set, x.First.Mean, x.First.Above, x.First.Below, x.Second.Mean, x.Second.Above, x.Second.Below, x.Each))
	}
	want := []string{"base+mchan1-3: +0.2 4/0, -2 0/4, -10 each", "base+mchan1-3+tagged: -0.775 0/4, +2.75 3/0, -3.55 each", "base+mchan1-3+coal: +1.97 4/0, -14.25 0/4, -7.22 each"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSizeCost fits what the generated sweep was made of (88 us and 2.7 ns a byte, with a cliff of three segments), and
// an invented cost of segments.
func TestSizeCost(t *testing.T) {
	runs, _ := read(t, "sweep", fixture(t, "netperf-sweep-cliff.txt"))
	s := Curves([]Set{{"a", runs}})[0].Series[0]
	if len(s.Cliffs) != 1 || s.Cliffs[0].SizeBefore != 4344 || s.Cliffs[0].Segments != 3 || s.Cliffs[0].Confidence != "high" || math.Abs(s.Cliffs[0].StepMicros-194) > 1 {
		t.Errorf("cliffs %+v", s.Cliffs)
	}
	if c := s.Cost; c == nil || math.Abs(c.FixedMicros-88) > 1 || math.Abs(c.PerByteNanos-2.7) > 0.1 || c.ErrorPercent > 1 {
		t.Errorf("cost %+v", c)
	}
	runs = nil
	for size := int64(100); size <= 12_000; size += 311 {
		micros := 40 + 0.0011*float64(size) + 3.5*math.Ceil(float64(size)/1448)
		runs = append(runs, Run{Tool: "netperf", Test: "TCP_RR", Unit: transactions, Rate: 1e6 / micros, Sizes: Sizes{Request: size, Response: 1}})
	}
	c := Curves([]Set{{"a", runs}})[0].Series[0].Cost
	if c == nil || c.MSS != 1448 || math.Abs(c.PerSegmentMicros-3.5) > 0.01 || math.Abs(c.PerByteNanos-1.1) > 0.01 || math.Abs(c.FixedMicros-40) > 0.1 {
		t.Errorf("cost with segments %+v", c)
	}
}

// TestPacketByteScript has a whole output of netperf's script, made of 86 us, 2.7 ns a byte and 2.1 us a segment (CPU: 21
// and 19 us, 0.9 ns, 1.2 us; streams: 0.35 us, 0.82 ns, 0.22 us): the fits give back what it was made of.
func TestPacketByteScript(t *testing.T) {
	runs, ledger := read(t, "script", fixture(t, "netperf-packet_byte_script.txt"))
	if len(runs) != 52 || len(ledger) != 0 {
		t.Errorf("%d runs, ledger %v", len(runs), names(ledger))
	}
	var got []string
	for _, c := range Curves([]Set{{"a", runs}}) {
		if k := c.Series[0].Cost; k != nil {
			got = append(got, fmt.Sprintf("%s by %s: %.3g us %.3g ns %.3g us of %d", c.Name, c.Axis, k.FixedMicros, k.PerByteNanos, k.PerSegmentMicros, k.MSS))
		}
	}
	want := []string{
		"TCP_RR, 1-byte responses by request: 86 us 2.7 ns 2.1 us of 1448",
		"TCP_RR local CPU cost, 1-byte responses by request: 21 us 0.9 ns 1.2 us of 1448",
		"TCP_RR remote CPU cost, 1-byte responses by request: 19 us 0.9 ns 1.2 us of 1448",
		"TCP_RR, 1-byte requests by response: 86 us 2.7 ns 2.1 us of 1448",
		"TCP_RR local CPU cost, 1-byte requests by response: 21 us 0.9 ns 1.2 us of 1448",
		"TCP_RR remote CPU cost, 1-byte requests by response: 19 us 0.9 ns 1.2 us of 1448",
		"TCP_STREAM by message: 0.35 us 0.82 ns 0.22 us of 1448",
		"TCP_STREAM local CPU cost by message: 0.117 us 0.879 ns 0 us of 0",
		"TCP_STREAM remote CPU cost by message: 0.127 us 0.977 ns 0 us of 0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestBothSizes has transactions that send as much as they receive.
func TestBothSizes(t *testing.T) {
	var runs []Run
	for _, size := range []int64{1, 64, 256, 1024, 4096, 8192} {
		runs = append(runs, Run{Tool: "netperf", Test: "TCP_RR", Unit: transactions, Rate: 1e6 / (50 + 0.004*float64(size)), Sizes: Sizes{Request: size, Response: size}})
	}
	curves := Curves([]Set{{"a", runs}})
	if len(curves) != 1 || curves[0].AxisName() != "request and response bytes" || curves[0].Name != "TCP_RR" {
		t.Fatalf("%+v", curves)
	}
	if k := curves[0].Series[0].Cost; k == nil || math.Abs(k.FixedMicros-50) > 0.1 || math.Abs(k.PerByteNanos-4) > 0.01 {
		t.Errorf("%+v", k)
	}
}

// TestCurvesScale holds that curves scale with their values and do not depend on the order of the runs.
func TestCurvesScale(t *testing.T) {
	runs, _ := read(t, "log", fixture(t, "netperf-zcopy-log.txt"))
	base := Curves(SplitBy(runs, "sdp_zcopy_thresh"))[0]
	reversed := make([]Run, len(runs))
	for i, r := range runs {
		reversed[len(runs)-1-i] = r
	}
	sets := SplitBy(reversed, "sdp_zcopy_thresh")
	sets[0], sets[1] = sets[1], sets[0]
	other := Curves(sets)[0]
	for i := range base.Series {
		for k, p := range base.Series[i].Points {
			if q := other.Series[i].Points[k]; math.Abs(p.Mean-q.Mean) > 1e-9*p.Mean || p.At != q.At {
				t.Errorf("in another order %+v is %+v", p, q)
			}
		}
	}
	twice := Curves(SplitBy(scaled(runs, 2), "sdp_zcopy_thresh"))[0]
	if a, b := base.Crossings[0], twice.Crossings[0]; math.Abs(a.At-b.At) > 1e-6*a.At || a.From != b.From || math.Abs(a.Before-b.Before) > 1e-9 {
		t.Errorf("at twice the rates %+v is %+v", a, b)
	}
	if strings.Contains(fmt.Sprint(Varied(runs)), "-- -m") {
		t.Errorf("sizes are no condition: %v", Varied(runs))
	}
}

func TestSplitBy(t *testing.T) {
	runs, _ := read(t, "log", fixture(t, "netperf-zcopy-log.txt"))
	for by, want := range map[string]int{"sdp_zcopy_thresh": 2, "/sys/module/ib_sdp/sdp_zcopy_thresh": 2, "thresh": 0, "": 0, "-l": 1} {
		if got := len(SplitBy(runs, by)); got != want {
			t.Errorf("%q: %d sets, want %d", by, got, want)
		}
	}
	if Variants(runs) != nil {
		t.Error("a log has no variants")
	}
}

func TestShellSettings(t *testing.T) {
	for line, want := range map[string]string{
		"# echo 1 > /sys/module/ib_sdp/sdp_zcopy_thresh":       "{/sys/module/ib_sdp/sdp_zcopy_thresh 1}",
		"user@host:~$ sudo sysctl -w net.ipv4.tcp_sack=0":      "{net.ipv4.tcp_sack 0}",
		"sysctl net.ipv4.tcp_rmem = 4096":                      "{net.ipv4.tcp_rmem 4096}",
		"ethtool -C eth2 adaptive-rx off rx-usecs 16":          "{ethtool -C eth2 adaptive-rx off rx-usecs 16}",
		"  # echo $LD_PRELOAD":                                 "",
		"echo 1 > /tmp/x":                                      "",
		"echo the quick > /sys/a b":                            "",
		"ethtool -c eth2":                                      "",
		"sysctl net.ipv4.tcp_rmem":                             "",
		"we set it with sysctl net.ipv4.tcp_sack=0 in the end": "",
	} {
		s, ok := shellSetting([]byte(line))
		got := ""
		if ok {
			got = fmt.Sprint(s)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
