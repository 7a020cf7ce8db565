package coalesce

import (
	"bytes"
	"strings"

	"nettrace/source"
)

// /proc/interrupts: counts of each interrupt on each CPU since boot.
//
//	           CPU0       CPU1
//	 54:    3489881          0   PCI-MSI-edge      eth2-3
//	LOC:    1097386    1389212   Local timer interrupts
//
// Written by Linux on all architectures (kernel/irq/proc.c, arch/*/kernel/irq.c). After the counts: the controller, in
// newer kernels the number of the interrupt there with its trigger ("0-edge", "27 Level"), and the drivers' names for
// it, separated by commas. ERR and MIS have one value for all CPUs; the arm64 IPI rows may touch their counts. Counts
// are unsigned 32 bit and wrap.

// SniffInterrupts recognises /proc/interrupts by its header and the first row.
func SniffInterrupts(head []byte) source.Match { return sniffTable(head, "/proc/interrupts", false) }

func sniffTable(head []byte, path string, softirqs bool) source.Match {
	line, rest := firstLine(head)
	if !bytes.Contains(line, []byte("CPU")) {
		return source.No
	}
	if _, ok := cpuHeader(line, path); !ok {
		return source.No
	}
	row, _ := firstLine(rest)
	if !isRow(row) || bytes.HasPrefix(bytes.TrimSpace(row), []byte("HI:")) != softirqs {
		return source.No
	}
	return source.Strong
}

// ReadInterrupts reads /proc/interrupts.
func ReadInterrupts(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	return readTable(l, ledger, "proc-interrupts", "/proc/interrupts", interruptText)
}

func readTable(l *source.Lines, ledger *source.Ledger, tool, path string, keep func(*TableRow, []byte)) (*Output, error) {
	if !l.Next() {
		return nil, &source.SyntaxError{Pos: l.Pos(), Msg: "the input is empty; the CPU header of " + path + " was expected"}
	}
	cpus, ok := cpuHeader(l.Bytes(), path)
	if !ok {
		return nil, &source.SyntaxError{Pos: l.Pos(), Msg: source.Excerpt(l.Bytes()) + " is no header of " + path + "; CPU names were expected"}
	}
	out := &Output{Tool: tool, Pos: l.Pos(), Table: &Table{CPUs: cpus}}
	t := tableReader{out: out, ledger: ledger, what: path, keep: keep}
	t.rows(l)
	return out, nil
}

// interruptText splits what follows the counts into controller and names.
func interruptText(row *TableRow, text []byte) {
	if key := row.Key; key[0] < '0' || key[0] > '9' { // NMI, LOC, IPI0: the text is the meaning
		row.Name = string(text)
		return
	}
	chip, rest := word(text)
	if line, after := word(rest); isHardwareLine(line) {
		chip, rest = chip+" "+line, after
		if trigger, after := word(rest); trigger == "Level" || trigger == "Edge" || trigger == "None" {
			chip, rest = chip+" "+trigger, after
		}
	}
	row.Chip, row.Name = chip, strings.Join(strings.Fields(string(rest)), " ")
}

func word(text []byte) (first string, rest []byte) {
	text = bytes.TrimLeft(text, " \t")
	end := bytes.IndexAny(text, " \t")
	if end < 0 {
		end = len(text)
	}
	return string(text[:end]), text[end:]
}

// isHardwareLine reports whether s is the number of an interrupt at its controller: "27", "524288-edge".
func isHardwareLine(s string) bool {
	number, _, _ := strings.Cut(s, "-")
	_, ok := parseUint([]byte(number))
	return ok
}
