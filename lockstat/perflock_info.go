package lockstat

import (
	"bytes"
	"path"

	"nettrace/source"
)

// perf lock info: what the numbers in other tables stand for. -m lists the addresses of locks with their names, which on
// kernels without lockdep are the places that wait first; -t lists threads. Newer perf lists the threads before the locks
// in one run. (tools/perf/builtin-lock.c, dump_map and dump_threads)
//
//	Address of instance: name of class
//	 0xffff888100040500: ___slab_alloc+0x5ca

const perfLockInfo = "perf lock info"

// SniffPerfLockInfo recognises perf lock info by its first line.
func SniffPerfLockInfo(head []byte) source.Match {
	switch string(firstLine(head)) {
	case "Address of instance: name of class", "Thread ID: comm":
		return source.Strong
	}
	return source.No
}

// ReadPerfLockInfo reads the lists of perf lock info: locks without figures, which give tables that know only addresses
// their names (see Name).
func ReadPerfLockInfo(l *source.Lines, ledger *source.Ledger) (*Table, error) {
	b := newBuilder(l.Pos(), Tool{Program: perfLockInfo, System: "Linux"}, ByLock, ledger)
	threads := false
	for l.Next() {
		line := bytes.TrimSpace(l.Bytes())
		if SniffPerfLockInfo(line) == source.Strong {
			if threads = line[0] == 'T'; threads {
				b.option("-t")
			} else {
				b.option("-m")
			}
			continue
		}
		if len(line) > 0 && !infoRow(b, l, line, threads) {
			l.Back()
			break
		}
	}
	return b.finish(), nil
}

// infoRow reads "0xffff888100040500: name" or "683: comm".
func infoRow(b *builder, l *source.Lines, line []byte, threads bool) bool {
	number, name, ok := bytes.Cut(line, []byte(": "))
	if !l.Complete() && line[0] >= '0' && line[0] <= '9' {
		b.lose("cut-input", source.Warning, l.Pos(), 1, "the input ends inside a row; it is left out")
		return true
	}
	if !ok {
		return false
	}
	row := Row{Pos: l.Pos(), Stack: []string{}}
	if threads {
		if _, ok := whole(number); !ok {
			return false
		}
		row.Thread = b.name(number) + " " + b.name(name)
		b.keep(row)
		return true
	}
	if row.Address, row.Lock = b.name(number), b.name(name); !isAddress(row.Address) {
		return false
	}
	b.keep(row)
	b.add(row.Address, row.Lock, &row)
	return true
}

// Name gives locks that tables know by address the names that perf lock info lists for them in the same folder, since
// addresses are those of one boot.
func Name(tables []*Table) {
	names := map[string]map[string]string{} // by folder
	for _, t := range tables {
		if t.Tool.Program != perfLockInfo {
			continue
		}
		folder := path.Dir(t.Source)
		if names[folder] == nil {
			names[folder] = map[string]string{}
		}
		for i := range t.Locks {
			names[folder][t.Locks[i].Address] = t.Locks[i].Name
		}
	}
	for _, t := range tables {
		if n := names[path.Dir(t.Source)]; n != nil && t.Tool.Program != perfLockInfo && t.Keyed == ByLock {
			t.rename(n)
		}
	}
}
