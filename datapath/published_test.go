package datapath

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"

	"nettrace/fixtures/shared"
)

// The published figures that are built in are those of the shared table, with their units, roles and bars.
func TestPublishedFigures(t *testing.T) {
	text, err := os.ReadFile(shared.Path(t, "checks", "published-points.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	tables, err := publishedTables(nil)
	if err != nil {
		t.Fatal(err)
	}
	ours := map[string]Point{}
	names := map[string]bool{}
	for _, table := range tables {
		names[table.Name] = true
		for _, p := range table.Points {
			ours[table.Name+"/"+p.Label] = p
		}
	}
	roles := map[string]PointRole{"may-calibrate": Calibrated, "held-out": HeldOut, "report": Report}
	seen := map[string]bool{}
	for _, line := range strings.Split(string(text), "\n") {
		f := strings.Split(line, "\t")
		if strings.HasPrefix(line, "#") || len(f) < 6 || !names[f[0]] {
			continue
		}
		seen[f[0]+"/"+f[1]] = true
		p, ok := ours[f[0]+"/"+f[1]]
		if figure, err := strconv.ParseFloat(f[3], 64); !ok || err != nil || p.Published != figure || p.Unit != f[2] || p.Bar != f[5] || p.Role != roles[f[4]] {
			t.Errorf("%s is %+v here, %q there", f[1], p, line)
		}
	}
	for name, p := range ours {
		if !seen[name] && p.Role != Report {
			t.Errorf("%s is %s, but it is not there", name, p.Role)
		}
	}
	if len(seen) != 106 {
		t.Errorf("%d points are there", len(seen))
	}
}

func TestPublishedNames(t *testing.T) {
	if _, err := Published(context.Background(), "adaptive-tx"); err == nil || !strings.Contains(err.Error(), `the nearest is "adaptive-rx"`) {
		t.Errorf("an unknown table: %v", err)
	}
}

func TestHolds(t *testing.T) {
	for _, c := range []struct {
		bar                  string
		predicted, published float64
		want                 bool
	}{{"0.08", 108, 100, true}, {"0.08", 109, 100, false}, {"0.08", 91, 100, false}, {"abs 0.10", 0.43, 0.33, true}, {"abs 0.10", 0.44, 0.33, false}, {"", 1, 100, true}, {"x", 100, 100, false}} {
		if got := (Point{Bar: c.bar, Predicted: c.predicted, Published: c.published}).Holds(); got != c.want {
			t.Errorf("%g for %g with bar %q holds: %v", c.predicted, c.published, c.bar, got)
		}
	}
}
