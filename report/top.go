package report

import (
	"io"
	"strconv"
	"strings"

	"nettrace/flame"
	"nettrace/unit"
)

// Top prints the functions in which most of a value was found, with what was found in all that they called.
func Top(w io.Writer, p *flame.Profile, column flame.Column, n int, style Style) error {
	t, err := flame.Top(p, column, n)
	if err != nil {
		return err
	}
	page := &page{w: w, style: style}
	page.print(topTitle(t, p.Selected) + "\n")
	page.table(append([]string{"#"}, topHead()...), numbered(topRows(t)), map[int]bool{0: true, 1: true, 2: true, 3: true, 4: true})
	return page.err
}

// TopMarkdown prints the same as a Markdown table; n of 0 is 50 functions.
func TopMarkdown(w io.Writer, p *flame.Profile, column flame.Column, n int) error {
	if n == 0 {
		n = 50
	}
	t, err := flame.Top(p, column, n)
	if err != nil {
		return err
	}
	page := &page{w: w}
	page.print(mark(topTitle(t, p.Selected)) + "\n\n")
	page.markdownTable(topHead(), topRows(t), 4)
	return page.err
}

func topTitle(t *flame.Table, selected []string) string {
	title := Clean(t.Event.Name) + ": " + flame.Quantity(t.Total, t.Scale, t.Unit) + " in " + unit.Count(t.Event.Samples) + " samples"
	if len(selected) > 0 {
		title += " (" + Clean(strings.Join(selected, "; ")) + ")"
	}
	return title
}

func topHead() []string { return []string{"self", "", "total", "", "function"} }

func topRows(t *flame.Table) [][]string {
	rows := make([][]string, len(t.Rows))
	for i, r := range t.Rows {
		rows[i] = []string{flame.Quantity(r.Self, t.Scale, t.Unit), unit.Percent(r.SelfShare), flame.Quantity(r.Total, t.Scale, t.Unit), unit.Percent(r.TotalShare), r.Name}
	}
	return rows
}

// numbered puts the number of each row before it.
func numbered(rows [][]string) [][]string {
	for i := range rows {
		rows[i] = append([]string{strconv.Itoa(i + 1)}, rows[i]...)
	}
	return rows
}

// markdownTable prints a table of GitHub's Markdown; the first columns, so many, are aligned to the right.
func (p *page) markdownTable(head []string, rows [][]string, right int) {
	line := func(cells []string) {
		for i, cell := range cells {
			cells[i] = mark(cell)
		}
		p.print("| " + strings.Join(cells, " | ") + " |\n")
	}
	line(head)
	p.print("|" + strings.Repeat("--:|", right) + strings.Repeat("---|", len(head)-right) + "\n")
	for _, row := range rows {
		line(row)
	}
}
