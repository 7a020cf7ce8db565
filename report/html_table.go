package report

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"

	"nettrace/unit"
)

// table is a table of the page. The script lets people sort it.
type table struct {
	ID, Caption string
	Head        []column
	Rows        []row
	Note        string // what is not in it
}

type column struct {
	Text   string
	Number bool // right-aligned, and sorted by value
}

type row struct {
	ID, Class string
	Cells     []cell
}

// cell is a text with what it is sorted by, if that is not the text itself.
type cell struct {
	Text, Value string
	Link        string // a fragment of the page
	Code        bool
}

func text(s string) cell { return cell{Text: s} }

func number(v float64, s string) cell {
	return cell{Text: s, Value: strconv.FormatFloat(v, 'g', -1, 64)}
}

func nanos(n unit.Nanos) cell { return number(float64(n), n.String()) }

func whole(n int64) cell { return number(float64(n), unit.Count(n)) }

// withoutEmpty leaves out the columns in which no row has a text.
func (t *table) withoutEmpty() *table {
	for c := len(t.Head) - 1; c >= 0; c-- {
		if len(t.Rows) > 0 && !slices.ContainsFunc(t.Rows, func(r row) bool { return r.Cells[c].Text != "" }) {
			t.Head = slices.Delete(t.Head, c, c+1)
			for i := range t.Rows {
				t.Rows[i].Cells = slices.Delete(t.Rows[i].Cells, c, c+1)
			}
		}
	}
	return t
}

// anchor makes an identifier of what is stable from run to run: a kind, and the names of the thing.
func anchor(kind string, names ...string) string {
	h := sha256.New()
	for _, n := range names {
		h.Write([]byte(n + "\x00"))
	}
	return kind + "-" + hex.EncodeToString(h.Sum(nil)[:5])
}
