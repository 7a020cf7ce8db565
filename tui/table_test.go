package tui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

// sheet is a table's content for tests: a name, a time and a rate.
type sheet [][3]string

func (s sheet) Len() int { return len(s) }

func (s sheet) Cell(row, column int) cell {
	if column == 0 {
		return text(s[row][0])
	}
	v, ok := quantity(strings.ReplaceAll(s[row][column], " ", ""))
	return cell{text: s[row][column], value: v, numeric: ok}
}

func newSheet(rows ...[3]string) *table {
	return &table{look: newLook(theme{dark: true}), rows: sheet(rows), columns: []column{
		{name: "name", grow: true, min: 8}, {name: "time", right: true, drop: 1}, {name: "rate", right: true, drop: 2},
	}}
}

func example() *table {
	return newSheet([3]string{"eth0 Alpha", "40.2 ms", "1,200"}, [3]string{"eth1", "870 ns", "9"}, [3]string{"eth10", "1.50 s", "50 %"}, [3]string{"lo:0", "", ""})
}

func names(t *table) string {
	var list []string
	for place := range t.Len() {
		list = append(list, t.rows.Cell(t.row(place), 0).text)
	}
	return strings.Join(list, ",")
}

func TestFilterLanguage(t *testing.T) {
	for text, want := range map[string]string{
		"":                  "eth0 Alpha,eth1,eth10,lo:0",
		"ALPHA":             "eth0 Alpha",
		"eth1":              "eth1,eth10",
		"!eth1":             "eth0 Alpha,lo:0",
		"name:eth time>1us": "eth0 Alpha,eth10",
		"time>=40.2ms":      "eth0 Alpha,eth10",
		"time<1ms":          "eth1",
		"rate=1200":         "eth0 Alpha",
		"rate!=1200 !lo":    "eth1,eth10",
		"lo:0":              "lo:0", // no column: an address
		"rate<=50%":         "eth10",
		"na":                "eth0 Alpha,eth1,eth10,lo:0", // half a column's name
		"nosuch":            "",
	} {
		s := example()
		if err := s.Filter(text); err != nil || names(s) != want {
			t.Errorf("%q lets through %q (%v), want %q", text, names(s), err, want)
		}
	}
	for text, want := range map[string]string{"time>": "needs a value", "tiem>4": "nearest is time", "time>x": "not a value", "!": "needs a word", "time>=": "needs a value"} {
		s := example()
		if err := s.Filter("eth1"); err != nil {
			t.Fatal(err)
		}
		err := s.Filter(text)
		if err == nil || !strings.Contains(err.Error(), want) || names(s) != "eth1,eth10" {
			t.Errorf("%q: %v, shown %q; want %q and what was shown before", text, err, names(s), want)
		}
	}
}

func TestSortIsNumeric(t *testing.T) {
	s := example()
	s.Render(60, 10, true)
	s.Sort()
	if names(s) != "eth0 Alpha,eth1,eth10,lo:0" {
		t.Errorf("by name: %s", names(s))
	}
	s.Sort()
	if names(s) != "eth10,eth0 Alpha,eth1,lo:0" {
		t.Errorf("by time, longest first: %s", names(s))
	}
	s.Turn()
	if names(s) != "lo:0,eth1,eth0 Alpha,eth10" {
		t.Errorf("turned: %s", names(s))
	}
	if said := s.Sort() + s.Sort(); !strings.Contains(said, "order of the result") || names(s) != "eth0 Alpha,eth1,eth10,lo:0" {
		t.Errorf("%q: %s", said, names(s))
	}
}

// TestColumnsFit draws tables of any width with wide, combining and long texts: every line has its width.
func TestColumnsFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := make([][3]string, rapid.IntRange(0, 30).Draw(t, "rows"))
		for i := range rows {
			rows[i] = [3]string{rapid.StringOf(rapid.RuneFrom([]rune("aé漢\u0301😀\x1b\t "))).Draw(t, "name"), fmt.Sprint(i), "x"}
		}
		s := newSheet(rows...)
		width, height := rapid.IntRange(1, 90).Draw(t, "width"), rapid.IntRange(1, 20).Draw(t, "height")
		s.Move(rapid.IntRange(0, 30).Draw(t, "moves"))
		lines := s.Render(width, height, true)
		if len(lines) != height {
			t.Fatalf("%d lines, want %d", len(lines), height)
		}
		for _, line := range lines {
			if w := ansi.StringWidth(line); w != width && width > markRoom+2*gap+3 {
				t.Fatalf("%d columns, want %d: %q", w, width, line)
			}
		}
	})
}
