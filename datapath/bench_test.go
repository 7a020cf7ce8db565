package datapath

import "testing"

// BenchmarkRun is one run of 10 s: 14,000 transactions/s, 70,000 frames/s.
func BenchmarkRun(b *testing.B) {
	c := Thread()
	if err := c.Set("rx-usecs-high", "0"); err != nil {
		b.Fatal(err)
	}
	w := Workload{Request: 4344, Response: 1, Depth: 1, Duration: DefaultDuration}
	b.ReportAllocs()
	events, frames := int64(0), int64(0)
	for b.Loop() {
		r, err := Run(c, w, 1)
		if err != nil {
			b.Fatal(err)
		}
		events += r.Events
		frames += r.Client.Packets + r.Server.Packets
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(frames)/b.Elapsed().Seconds(), "frames/s")
}
