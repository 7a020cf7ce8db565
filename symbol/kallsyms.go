package symbol

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// The kernel's symbols, from /proc/kallsyms or System.map (kernel/kallsyms.c, scripts/kallsyms.c, Linux 6.1):
//
//	ffffffff81000000 T _text
//	ffffffff81000000 T _stext
//	ffffffffc0001000 t nf_nat_init	[nf_nat]
//
// Of the types T, t, W, w, D, d, B and b are taken, as perf does; names beginning with $ mark what is in between.

// lineMax bounds a line: names of symbols have at most 512 characters.
const lineMax = 1 << 16

// SniffKallsyms reports whether head is the beginning of the kernel's symbols: three whole lines of that form.
func SniffKallsyms(head []byte) bool {
	for range 3 {
		line, rest, found := bytes.Cut(head, []byte("\n"))
		if _, _, _, ok := parseKallsym(line); !ok || !found {
			return false
		}
		head = rest
	}
	return true
}

// IsKallsym reports whether a line is one of the kernel's symbols.
func IsKallsym(line []byte) bool {
	_, _, _, ok := parseKallsym(line)
	return ok
}

// Kernel are the symbols of a kernel and its modules.
type Kernel struct {
	symbols []entry
	table   *Table
	modules *Table
	text    map[string]uint64 // of the names by which a shift is told
	shift   uint64            // already added to the table
}

var errHidden = errors.New("all addresses are 0: they were hidden from the user who copied the file; copy it as root, or after sysctl kernel.kptr_restrict=0")

// readKallsyms reads the symbols of a kernel.
func readKallsyms(r io.Reader) (*Kernel, error) {
	k := &Kernel{text: map[string]uint64{}}
	var modules []entry
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4096), lineMax)
	seen, shown := 0, 0
	for lines.Scan() {
		e, module, kind, ok := parseKallsym(lines.Bytes())
		if !ok {
			continue
		}
		seen++
		if e.Start != 0 {
			shown++
		}
		if !bytes.ContainsRune([]byte("TtWwDdBb"), rune(kind)) || e.Name[0] == '$' {
			continue
		}
		e.position = seen
		if e.Module = module; module != "" {
			modules = append(modules, e)
			continue
		}
		if e.Name == "_text" || e.Name == "_stext" {
			k.text[e.Name] = e.Start
		}
		k.symbols = append(k.symbols, e)
	}
	switch {
	case lines.Err() != nil:
		return nil, lines.Err()
	case seen == 0:
		return nil, fmt.Errorf("no line of the kernel's symbols; expected lines such as %q", "ffffffff81000000 T _text")
	case shown == 0:
		return nil, errHidden
	}
	k.modules = newLastTable(modules)
	return k, nil
}

func parseKallsym(line []byte) (e entry, module string, kind byte, ok bool) {
	address, rest, ok := bytes.Cut(line, []byte(" "))
	if !ok || len(rest) < 3 || rest[1] != ' ' {
		return e, "", 0, false
	}
	start, err := strconv.ParseUint(string(address), 16, 64)
	if err != nil || len(address) < 8 {
		return e, "", 0, false
	}
	if letter := rest[0] | ' '; (letter < 'a' || letter > 'z') && letter != '?' { // nm(1)
		return e, "", 0, false
	}
	kind = rest[0]
	name, where, _ := bytes.Cut(bytes.TrimRight(rest[2:], "\r \t"), []byte("\t"))
	if len(name) == 0 {
		return e, "", 0, false
	}
	if n := len(where); n > 2 && where[0] == '[' && where[n-1] == ']' {
		module = string(where[1 : n-1])
	}
	e = entry{Symbol: Symbol{Name: string(name), Start: start}, weak: kind == 'W' || kind == 'w', global: kind >= 'A' && kind <= 'Z'}
	return e, module, kind, true
}

// Find returns the function of an address. The recording says where a symbol of the kernel was ("_text" or "_stext"):
// by as much as it was elsewhere (KASLR) the symbols are shifted. An address of 0 is one that was hidden: no shift.
// Modules' symbols are not shifted, since they are right only for the boot that they were copied in.
func (k *Kernel) Find(address uint64, reference string, at uint64) (Symbol, bool) {
	if k == nil {
		return Symbol{}, false
	}
	shift := uint64(0)
	if given, ok := k.text[reference]; ok && at != 0 {
		shift = at - given
	}
	if k.table == nil || k.shift != shift {
		k.build(shift)
	}
	if s, ok := k.table.Find(address); ok {
		return s, true
	}
	return k.modules.Find(address)
}

func (k *Kernel) build(shift uint64) {
	shifted := make([]entry, len(k.symbols))
	for i, e := range k.symbols {
		e.Start += shift
		shifted[i] = e
	}
	k.table, k.shift = newLastTable(shifted), shift
}
