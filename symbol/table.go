package symbol

import (
	"cmp"
	"slices"
	"strings"
)

// Symbol is a function with its range of addresses.
type Symbol struct {
	Name       string
	Start, End uint64
	Module     string // of the kernel, "" for the kernel itself and in user space
}

// Table finds the function of an address. The nil table finds nothing.
type Table struct {
	symbols []Symbol // by start, one for each
}

// entry is a symbol as a file has it, before one is chosen of those with the same address.
type entry struct {
	Symbol
	size     uint64
	weak     bool
	global   bool
	position int // in the file
}

const pageSize = 4096

// newTable orders the symbols of an object and chooses one of each address.
func newTable(entries []entry) *Table {
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), preferred(&a, &b), cmp.Compare(a.position, b.position))
	})
	return finished(entries)
}

// newLastTable takes the last one of each address. Of the kernel's symbols, which all lack a size, perf does so: it gives
// each the next one as its end, and then prefers those that are not empty (dso__load_kallsyms, tools/perf/util/symbol.c,
// Linux 6.1).
func newLastTable(entries []entry) *Table {
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), -cmp.Compare(a.position, b.position))
	})
	return finished(entries)
}

// finished takes the first symbol of each address, and gives those without a size an end: the next symbol, or the end of
// a page behind the last one and where another module begins (symbols__fixup_end).
func finished(entries []entry) *Table {
	t := &Table{}
	for i := range entries {
		e := &entries[i]
		if n := len(t.symbols); n > 0 && t.symbols[n-1].Start == e.Start {
			continue
		}
		e.End = e.Start + e.size
		t.symbols = append(t.symbols, e.Symbol)
	}
	for i := range t.symbols {
		s := &t.symbols[i]
		switch {
		case s.End > s.Start:
		case i+1 < len(t.symbols) && t.symbols[i+1].Module == s.Module:
			s.End = t.symbols[i+1].Start
		default:
			s.End = (s.Start+pageSize-1)&^(pageSize-1) + pageSize
		}
	}
	return t
}

// preferred orders symbols of one address as perf chooses among them (choose_best_symbol, tools/perf/util/symbol.c):
// one with a size, not weak, global, with fewer underscores in front, the longer name.
func preferred(a, b *entry) int {
	return cmp.Or(
		-compareBool(a.size > 0, b.size > 0),
		compareBool(a.weak, b.weak),
		-compareBool(a.global, b.global),
		cmp.Compare(underscores(a.Name), underscores(b.Name)),
		-cmp.Compare(len(a.Name), len(b.Name)),
	)
}

func underscores(s string) int { return len(s) - len(strings.TrimLeft(s, "_")) }

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// Len returns the number of symbols.
func (t *Table) Len() int {
	if t == nil {
		return 0
	}
	return len(t.symbols)
}

// Find returns the function that holds an address.
func (t *Table) Find(address uint64) (Symbol, bool) {
	if t == nil {
		return Symbol{}, false
	}
	i, found := slices.BinarySearchFunc(t.symbols, address, func(s Symbol, a uint64) int { return cmp.Compare(s.Start, a) })
	if !found {
		i--
	}
	if i < 0 || address >= t.symbols[i].End {
		return Symbol{}, false
	}
	return t.symbols[i], true
}

// named returns the address of a symbol.
func (t *Table) named(name string) (uint64, bool) {
	for i := range t.symbols {
		if t.symbols[i].Name == name {
			return t.symbols[i].Start, true
		}
	}
	return 0, false
}
