package source

import (
	"cmp"
	"slices"
)

// Loss is the weight of a ledger entry.
type Loss string

// Warning stands for data that is damaged, cut or lost; Note for what is whole but was not used, or is cut on purpose
// (a snap length). Only warnings make an input count as damaged.
const (
	Note    Loss = "info"
	Warning Loss = "warning"
)

// Entry counts one kind of loss in one source.
type Entry struct {
	Source   string `json:"source"`
	Name     string `json:"name"` // kebab-case, one for each kind of loss: "truncated-record"
	Severity Loss   `json:"severity"`
	Count    int64  `json:"count"`
	First    Pos    `json:"first"` // where it was met first; Source is empty since the entry names it
	Text     string `json:"text"`  // what was met there, and what was done about it
}

// Ledger collects what was lost, skipped or not understood, so that nothing vanishes silently. The zero value is ready.
// It is not safe for concurrent use; give each worker its own and Merge them.
type Ledger struct {
	index   map[[2]string]int
	entries []Entry
}

// Add counts n losses of the kind name at pos. The text of the first one is kept.
func (l *Ledger) Add(name string, severity Loss, pos Pos, n int64, text string) {
	first := pos
	first.Source = ""
	l.add(Entry{Source: pos.Source, Name: name, Severity: severity, Count: n, First: first, Text: text})
}

func (l *Ledger) add(e Entry) {
	if l.index == nil {
		l.index = map[[2]string]int{}
	}
	key := [2]string{e.Source, e.Name}
	i, known := l.index[key]
	if !known {
		l.index[key] = len(l.entries)
		l.entries = append(l.entries, e)
		return
	}
	have := &l.entries[i]
	have.Count += e.Count
	if before(e.First, have.First) {
		have.First, have.Text = e.First, e.Text
	}
	if e.Severity == Warning {
		have.Severity = Warning
	}
}

func before(a, b Pos) bool {
	return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Record, b.Record), cmp.Compare(a.Line, b.Line)) < 0
}

// Merge adds all entries of other.
func (l *Ledger) Merge(other *Ledger) {
	for _, e := range other.entries {
		l.add(e)
	}
}

// Entries returns what was collected, warnings first, then by source and name.
func (l *Ledger) Entries() []Entry {
	sorted := slices.Clone(l.entries)
	slices.SortStableFunc(sorted, func(a, b Entry) int {
		return cmp.Or(-cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Name, b.Name))
	})
	if sorted == nil {
		sorted = []Entry{}
	}
	return sorted
}
