package diagnose

import (
	"context"
	"path/filepath"
	"testing"
)

// What a recording without the stall shows, 5.5 to 6 ms an exchange, is what the one with it is predicted to come to.
func TestPredictionOfARecording(t *testing.T) {
	r := diagnosed(t, filepath.Join("..", "fixtures", "pcap", "nagle-wwr-stall.pcap"))
	Predict(context.Background(), r)
	for _, f := range r.Findings {
		if f.Rule != "tcp/delayed-ack-stall" {
			continue
		}
		p := f.Advice[0].Predicted
		if p == nil || p.Low > 5.6 || p.High < 5.6 || p.Value < 5 || p.Value > 6 || p.Unit != "ms/exchange" {
			t.Fatalf("predicted %+v, recorded without the stall 5.62 ms", p)
		}
		return
	}
	t.Fatal("the stall is not found")
}

// What costs little, or cannot be read again, has no prediction.
func TestNoPredictionWithoutAStall(t *testing.T) {
	r := diagnosed(t, filepath.Join("..", "fixtures", "pcap", "nagle-wwr-nodelay.pcap"))
	Predict(context.Background(), r)
	for _, f := range r.Findings {
		for _, a := range f.Advice {
			if a.Predicted != nil {
				t.Errorf("%s predicts %+v", f.Rule, a.Predicted)
			}
		}
	}
}
