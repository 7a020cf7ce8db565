package bench

import (
	"bytes"
	"path"
	"strings"

	"nettrace/source"
)

// Tables with a head, as scripts around benchmarks and spreadsheets write them, with commas, tabs or semicolons:
//
//	# netperf TCP_RR, adaptive-rx on and off
//	adaptive_rx,request_bytes,response_bytes,elapsed_s,trans_per_s
//	on,4344,1,10.00,10030.37
//
// There is no standard of such tables (RFC 4180 has the quotes only), so the names of the columns say what they are; see
// columnOf. Each row gives a run for each of its figures. A table whose columns name no figure, with one column of numbers
// that ascend and others beside it, is a wide one: every further column is a variant of what the first comment, or the
// file's name, says. Blank lines and # comments are passed over. Quoted fields over several lines are not read.

// SniffCSV recognises, weakly, a head of two and more names over a row with as many fields, one of them a number.
func SniffCSV(head []byte) source.Match {
	var names []string
	separator := byte(0)
	for line := range bytes.Lines(head) {
		text, comment := numberLine(line)
		if comment {
			continue
		}
		if names == nil {
			if separator, names = csvHead(text); names == nil || sampledOverTime(names[0]) {
				return source.No
			}
			continue
		}
		if line[len(line)-1] != '\n' && len(head) >= headBytes {
			return source.No
		}
		fields := splitFields(text, separator)
		if len(fields) != len(names) {
			return source.No
		}
		for _, f := range fields {
			if kindOf([]byte(unquoted(f))) != notNumber {
				return source.Weak
			}
		}
		return source.No
	}
	return source.No
}

// sampledOverTime tells by its first column a log of what was sampled (a socket's state, a machine's load) from results.
func sampledOverTime(first string) bool {
	switch strings.ToLower(first) {
	case "time", "timestamp", "date", "datetime":
		return true
	}
	return false
}

// maxColumnName is the longest name of a column: what is longer is a sentence.
const maxColumnName = 60

// csvHead returns the names of a table's columns and what parts them, nil if the line is no head: a name is no number, no
// sentence and no key of a list ("Slot:" of lspci -vm).
func csvHead(line []byte) (separator byte, names []string) {
	for _, c := range [...]byte{',', '\t', ';'} {
		if bytes.IndexByte(line, c) >= 0 {
			separator = c
			break
		}
	}
	if separator == 0 {
		return 0, nil
	}
	for _, f := range splitFields(line, separator) {
		name := unquoted(f)
		if name == "" || len(name) > maxColumnName || len(strings.Fields(name)) > 4 || kindOf([]byte(name)) != notNumber || strings.ContainsAny(name, "|{}<>") || name[len(name)-1] == ':' {
			return 0, nil
		}
		names = append(names, name)
	}
	if len(names) > maxColumns {
		return 0, nil
	}
	return separator, names
}

// maxColumns is the largest number of columns of a table that people made of results.
const maxColumns = 64

// unquoted takes blanks and quotes off a field.
func unquoted(field string) string {
	field = strings.TrimSpace(field)
	if n := len(field); n > 1 && field[0] == '"' && field[n-1] == '"' {
		field = strings.ReplaceAll(field[1:n-1], `""`, `"`)
	}
	return field
}

// csvTable is a table being read.
type csvTable struct {
	begin   source.Pos
	ledger  *source.Ledger
	name    string // what a wide table holds: the first clause of a comment above it, or the name of its file
	titled  bool
	columns []tableColumn
	rows    []csvRow
}

type csvRow struct {
	pos    source.Pos
	fields []string
}

// ReadCSV reads one table. Ledger: too-many-results, cut-input, csv-row (a row with another number of fields),
// csv-column-unused, service-demand-identity.
func ReadCSV(l *source.Lines, ledger *source.Ledger) ([]Run, error) {
	t := &csvTable{begin: l.Pos(), ledger: ledger}
	t.name = strings.TrimSuffix(strings.TrimSuffix(path.Base(t.begin.Source), ".csv"), ".tsv")
	separator := byte(0)
	var names []string
	for l.Next() {
		text, comment := numberLine(l.Bytes())
		if comment {
			t.title(text, names == nil)
			continue
		}
		if names == nil {
			if separator, names = csvHead(text); names == nil {
				l.Back()
				break
			}
			continue
		}
		if bytes.IndexByte(text, separator) < 0 {
			if !l.Stray() {
				l.Back()
				break
			}
			text = l.Bytes()
		}
		t.row(splitFields(text, separator), len(names), l)
	}
	t.classify(names)
	return t.runs(), nil
}

// title takes the first clause of the first comment above the head for the table's name.
func (t *csvTable) title(comment []byte, above bool) {
	clause := strings.TrimSpace(strings.TrimLeft(printable(comment), "# "))
	if cut := strings.IndexAny(clause, ",;:."); cut >= 0 {
		clause = clause[:cut]
	}
	if above && !t.titled && clause != "" && len(clause) <= maxColumnName {
		t.name, t.titled = clause, true
	}
}

// row keeps a row.
func (t *csvTable) row(fields []string, want int, l *source.Lines) {
	switch {
	case !l.Complete():
		t.ledger.Add("cut-input", source.Warning, l.Pos(), 1, "the last row has no line end and may be cut; it is left out")
	case len(fields) != want:
		t.ledger.Add("csv-row", source.Warning, l.Pos(), 1, "a row with more or fewer fields than the head; it is left out")
	case len(t.rows) == maxRuns:
		t.ledger.Add("too-many-results", source.Warning, l.Pos(), 1, "more than 10,000 rows in one table; the rest is left out")
	default:
		for i := range fields {
			fields[i] = unquoted(fields[i])
		}
		t.rows = append(t.rows, csvRow{l.Pos(), fields})
	}
}

// numeric reports whether a column holds nothing but numbers, and whether they ascend.
func (t *csvTable) numeric(i int) (numeric, ascending bool) {
	last, found := 0.0, 0
	ascending = true
	for _, r := range t.rows {
		text := []byte(r.fields[i])
		if len(text) == 0 {
			continue
		}
		if kindOf(text) == notNumber {
			return false, false
		}
		v := number(text)
		ascending = ascending && (found == 0 || v > last)
		last = v
		found++
	}
	return found > 0, ascending && found == len(t.rows)
}

// classify decides what each column is.
func (t *csvTable) classify(names []string) {
	figures := 0
	for i, name := range names {
		c := columnOf(name)
		if numeric, _ := t.numeric(i); !numeric {
			c = tableColumn{name: name, role: labelColumn}
		}
		if c.role == figureColumn || c.role == costColumn {
			figures++
		}
		t.columns = append(t.columns, c)
	}
	if figures == 0 {
		t.wide()
	}
}

// wide takes the columns of numbers that nothing is known of for variants, beside a first one that ascends; where there
// is but one such column, it is the figure.
func (t *csvTable) wide() {
	var numbers, unknown []int
	for i, c := range t.columns {
		if c.role == conditionColumn || c.role == streamsColumn || c.role == sizeColumn {
			numbers = append(numbers, i)
		}
		if c.role == conditionColumn {
			unknown = append(unknown, i)
		}
	}
	if len(unknown) == 1 {
		t.columns[unknown[0]].role = figureColumn
		return
	}
	if len(unknown) == 0 {
		return
	}
	if _, ascending := t.numeric(numbers[0]); !ascending {
		t.ledger.Add("csv-column-unused", source.Note, t.begin, int64(len(unknown)), "no column is named after a rate, a time or a cost; name one so (trans_per_s, Mbit_per_s, us_per_KB), or give the first column ascending numbers")
		return
	}
	for _, i := range unknown {
		if i != numbers[0] {
			t.columns[i].role = variantColumn
		}
	}
}

// runs makes a run of each figure of each row.
func (t *csvTable) runs() []Run {
	var runs []Run
	for _, row := range t.rows {
		of := t.conditions(row)
		first := len(runs)
		for i, c := range t.columns {
			if text := row.fields[i]; text == "" || c.role != figureColumn && c.role != variantColumn {
				continue
			}
			run := of
			run.Rate, run.Unit, run.Test = number([]byte(row.fields[i])), c.unit, c.figure
			if c.role == variantColumn {
				run.Test, run.Settings = t.name, append(run.Settings[:len(run.Settings):len(run.Settings)], Setting{variantSetting, c.name})
			}
			runs = append(runs, run)
		}
		if len(runs) > first {
			t.costs(&runs[first], row)
		} else {
			runs = append(runs, t.onlyCosts(of, row)...)
		}
	}
	return runs
}

// variantSetting is the setting that names the column of a wide table.
const variantSetting = "variant"

// conditions makes a run of what a row says beside its figures.
func (t *csvTable) conditions(row csvRow) Run {
	run := Run{Pos: row.pos, Group: t.begin.Offset, Tool: "csv"}
	for i, c := range t.columns {
		text := []byte(row.fields[i])
		switch {
		case len(text) == 0:
		case c.role == sizeColumn:
			c.size(&run.Sizes, count(text))
		case c.role == streamsColumn:
			run.Streams = int(max(0, min(number(text), 1e6)))
		case c.role == secondsColumn:
			run.Seconds = max(0, number(text))
		case c.role == labelColumn, c.role == conditionColumn:
			run.Settings = append(run.Settings, Setting{c.name, printable(text)})
		}
	}
	return run
}

// costs enters the CPU columns into the run that they belong to.
func (t *csvTable) costs(run *Run, row csvRow) {
	var util, demand [2][]byte // local, remote
	var rate []byte
	for i, c := range t.columns {
		switch {
		case c.role == utilColumn:
			util[c.side] = []byte(row.fields[i])
		case c.role == costColumn:
			demand[c.side] = []byte(row.fields[i])
		case c.role == figureColumn && rate == nil:
			rate = []byte(row.fields[i])
		}
	}
	for side, to := range [...]**CPU{&run.Local, &run.Remote} {
		if len(util[side]) > 0 && len(demand[side]) > 0 {
			*to = cost(t.ledger, run, "", rate, util[side], demand[side])
		} else if len(demand[side]) > 0 {
			*to = &CPU{DemandMicros: number(demand[side]), DemandPer: t.demandPer(side)}
		}
	}
}

func (t *csvTable) demandPer(side int) string {
	for _, c := range t.columns {
		if c.role == costColumn && c.side == side {
			return strings.TrimPrefix(c.unit, "us/")
		}
	}
	return ""
}

// onlyCosts makes runs of the costs of a row without a rate.
func (t *csvTable) onlyCosts(of Run, row csvRow) []Run {
	var runs []Run
	for i, c := range t.columns {
		if c.role == costColumn && row.fields[i] != "" {
			run := of
			run.Rate, run.Unit, run.Test = number([]byte(row.fields[i])), c.unit, [...]string{"local CPU cost", "remote CPU cost"}[c.side]
			runs = append(runs, run)
		}
	}
	return runs
}
