package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"nettrace/finding"
)

// Style is how text is printed. The zero value is plain text of unlimited width, as for a pipe.
type Style struct {
	Width   int // columns; 0 does not wrap
	Color   bool
	Verbose bool // all details of all findings
}

// page prints wrapped, indented and coloured text. All text passes through Clean.
type page struct {
	w     io.Writer
	style Style
	err   error
}

func (p *page) print(s string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, s)
	}
}

// Colours of the terminal's own palette, so that they suit dark and light backgrounds.
const (
	red    = "31"
	yellow = "33"
	cyan   = "36"
	bold   = "1"
	faint  = "2"
)

func (p *page) paint(code, s string) string {
	if !p.style.Color || code == "" || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func severityColor(s finding.Severity) string {
	switch s {
	case finding.Critical:
		return bold + ";" + red
	case finding.Warning:
		return yellow
	case finding.Notice:
		return cyan
	default:
		return faint
	}
}

// labelled prints text behind a label of a column of its own, wrapped and with a hanging indent.
func (p *page) labelled(indent int, label, labelColor string, column int, text string) {
	lines := p.wrap(Clean(text), indent+column)
	pad := strings.Repeat(" ", max(column-utf8.RuneCountInString(label), 1))
	p.print(strings.Repeat(" ", indent) + p.paint(labelColor, label) + pad + lines[0] + "\n")
	for _, line := range lines[1:] {
		p.print(strings.Repeat(" ", indent+column) + line + "\n")
	}
}

// wrap breaks text at blanks into lines that fit the page behind an indent.
func (p *page) wrap(text string, indent int) []string {
	room := p.style.Width - indent
	if p.style.Width == 0 || room < 20 {
		return []string{text}
	}
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > room {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// table prints rows under a head with aligned columns; the columns of right are aligned to the right.
func (p *page) table(head []string, rows [][]string, right map[int]bool) {
	widths := make([]int, len(head))
	clean := make([][]string, 0, len(rows)+1)
	for _, row := range append([][]string{head}, rows...) {
		cells := make([]string, len(head))
		for i := range cells {
			if i < len(row) {
				cells[i] = Clean(row[i])
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cells[i]))
		}
		clean = append(clean, cells)
	}
	for n, cells := range clean {
		var b strings.Builder
		for i, cell := range cells {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if right[i] {
				b.WriteString(pad + cell)
			} else {
				b.WriteString(cell + pad)
			}
			b.WriteString("  ")
		}
		line := strings.TrimRight(b.String(), " ")
		if n == 0 {
			line = p.paint(faint, line)
		}
		p.print(line + "\n")
	}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", one)
	}
	return fmt.Sprintf("%d %s", n, many)
}
