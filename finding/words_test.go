package finding

import (
	"testing"

	"nettrace/unit"
)

func TestWords(t *testing.T) {
	for got, want := range map[string]string{
		Effect{Share: 0.66, Lost: 6600 * unit.Millisecond}.String(): "costs 66 %; 6.60 s lost",
		Effect{Lost: unit.Millisecond}.String():                     "1.00 ms lost",
		Effect{}.String():                                           "",
		Measure{Name: "loss", Value: 0.66, Unit: "ratio", Threshold: Threshold(0.2)}.String():                  "loss 66 %, threshold 20 %",
		Measure{Name: "rate", Value: 3407, Unit: "transactions/s", Expected: Threshold(10028)}.String():        "rate 3,407 transactions/s, expected 10,028 transactions/s",
		Advice{Text: "ethtool -C eth2 adaptive-rx off"}.String():                                               "ethtool -C eth2 adaptive-rx off",
		Advice{Text: "try", Predicted: &Prediction{Value: 10300, Low: 9800, High: 10800, Unit: "/s"}}.String(): "try; predicted 10,300 /s (9,800 to 10,800)",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
