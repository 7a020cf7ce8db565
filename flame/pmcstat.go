package flame

// Call graphs of FreeBSD's hwpmc(4), as `pmcstat -R samples.log -z 100 -G out` of all versions prints them: a section for
// each counter (so for each event on each CPU, which are joined), in it trees that begin at the sampled function, with
// callers below.
//
//	@ inst_retired.any [35705 samples]
//
//	20.86%  [7447]     zfs_lz4_compress @ /boot/kernel/zfs.ko
//	 100.0%  [7447]      zio_compress_data
//
// Source: FreeBSD usr.sbin/pmcstat/pmcpl_callgraph.c. A node is: as many blanks as it is deep, its share of its parent's
// count, its count, the function, and the image where it differs from that of the line before; top nodes begin anew. The
// samples that end in a node (the chain was not longer, or the kernel's limit cut it) are its count less its children's.
// The shares are left out, since the counts say more; so is the difference between a section's count and its trees',
// which the ledger tells.

import (
	"bytes"

	"nettrace/source"
)

// SniffPmcstat recognises the first line of a section.
func SniffPmcstat(head []byte) source.Match {
	if len(head) < 2 || head[0] != '@' || head[1] != ' ' {
		return source.No
	}
	line, rest, _ := bytes.Cut(head, []byte("\n"))
	if _, _, ok := pmcSection(bytes.TrimRight(line, "\r")); !ok {
		return source.No
	}
	rest = bytes.TrimLeft(rest, "\r\n")
	line, _, whole := bytes.Cut(rest, []byte("\n"))
	if _, ok := parsePMCNode(bytes.TrimRight(line, "\r")); ok || len(rest) == 0 || rest[0] == '@' || !whole {
		return source.Strong
	}
	return source.No
}

// pmcSection reads "@ EVENT [N samples]".
func pmcSection(line []byte) (event []byte, samples int64, ok bool) {
	line, ok = bytes.CutSuffix(line, []byte(" samples]"))
	i := bytes.LastIndexByte(line, '[')
	if !ok || i < 3 || line[0] != '@' || line[1] != ' ' || !isNumber(line[i+1:]) || line[i+1] == '-' {
		return nil, 0, false
	}
	return bytes.TrimSpace(line[2:i]), digits(line[i+1:]), true
}

// pmcNode is one line of a tree.
type pmcNode struct {
	depth    int
	count    int64
	children int64 // sum of their counts
	function []byte
	image    []byte // nil where the line names none
	place    place
}

func parsePMCNode(line []byte) (n pmcNode, ok bool) {
	n.depth = indent(line)
	share, rest, ok := bytes.Cut(line[n.depth:], []byte("%"))
	if !ok || len(share) == 0 || len(bytes.Trim(share, "0123456789.")) > 0 {
		return n, false
	}
	rest = bytes.TrimLeft(rest, " ")
	if len(rest) == 0 || rest[0] != '[' {
		return n, false
	}
	count, function, ok := bytes.Cut(rest[1:], []byte("]"))
	if !ok || !isNumber(count) || count[0] == '-' {
		return n, false
	}
	n.count, n.function = digits(count), bytes.TrimSpace(function)
	if i := bytes.LastIndex(n.function, []byte(" @ ")); i >= 0 {
		n.function, n.image = n.function[:i], bytes.TrimSpace(n.function[i+3:])
	}
	return n, len(n.function) > 0
}

// ReadPmcstat reads the sections of a call graph into one profile.
func ReadPmcstat(l *source.Lines, ledger *source.Ledger) (*Profile, error) {
	start := l.Pos()
	f := pmcFolder{textFolder: newTextFolder(l, ledger)}
	for l.Next() && f.line(l.Bytes()) {
	}
	f.end()
	if !l.Complete() {
		ledger.Add("cut-input", source.Note, l.Pos(), 1, "the last line has no end; what followed is missing")
	}
	p := &Profile{Source: start.Source, Line: start.Line, Format: "pmcstat"}
	return f.done(p, "not a node of a call graph: expected a share, [a count] and a function"), nil
}

type pmcFolder struct {
	textFolder
	event          uint32
	listed, header int64 // samples of the section
	section        source.Pos
	open           []pmcNode // from the top node to the one of the line before
	image          string
}

// line takes one line and reports whether it belongs to the call graph.
func (f *pmcFolder) line(line []byte) bool {
	if len(bytes.TrimSpace(line)) == 0 {
		f.close(0)
		return true
	}
	if event, samples, ok := pmcSection(line); ok {
		f.end()
		f.section, f.header = f.lines.Pos(), samples
		f.event = f.builder.event(string(event), "", f.section)
		return true
	}
	n, ok := parsePMCNode(line)
	if ok && len(f.totals) > 0 {
		f.node(n)
		return true
	}
	if len(f.open) == 0 || !f.lines.Stray() {
		f.lines.Back()
		return false
	}
	f.unknown(f.lines.Pos())
	return true
}

func (f *pmcFolder) node(n pmcNode) {
	f.close(n.depth)
	parent := -1
	if len(f.open) > 0 {
		parent = f.open[len(f.open)-1].depth
		last := &f.open[len(f.open)-1]
		last.children = sum(last.children, n.count)
	} else {
		f.image = ""
		f.listed = sum(f.listed, n.count)
	}
	if n.depth > parent+1 {
		f.ledger.Add("missing-caller", source.Warning, f.lines.Pos(), 1, "the line is more than one level deeper than the one before; a line between them is missing or damaged, and its function with it")
	}
	if n.image != nil && f.image != string(n.image) {
		f.image = string(n.image)
	}
	pos := f.lines.Pos()
	n.place = place{pos.Line, pos.Offset}
	f.push(f.located(n.function, f.image, asPrinted))
	n.function, n.image = nil, nil // parts of the line
	f.open = append(f.open, n)
}

// close folds in the nodes at a depth and below, which have no more callers to come.
func (f *pmcFolder) close(depth int) {
	for len(f.open) > 0 && f.open[len(f.open)-1].depth >= depth {
		n := f.open[len(f.open)-1]
		if own := n.count - n.children; own > 0 {
			f.add(f.event, labels{}, f.stack, own, own, n.place)
		} else if own < 0 {
			f.ledger.Add("callers-exceed-count", source.Warning, source.Pos{Source: f.source, Line: n.place.line, Offset: n.place.offset}, 1, "the callers of this function have more samples than it has itself; theirs are taken")
		}
		f.open = f.open[:len(f.open)-1]
		f.stack = f.stack[:4*len(f.open)]
	}
}

// end finishes a section.
func (f *pmcFolder) end() {
	f.close(0)
	if f.listed != f.header {
		f.ledger.Add("samples-not-listed", source.Warning, f.section, max(f.header-f.listed, 1), "the section's first line tells another number of samples than its trees have: the text is cut or filtered; the trees' are taken")
	}
	f.listed, f.header, f.image = 0, 0, ""
}
