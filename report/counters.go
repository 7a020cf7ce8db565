package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"nettrace/coalesce"
	"nettrace/unit"
)

// CountersJSON writes the figures of hosts, and where packets went between them, for scripts.
func CountersJSON(w io.Writer, hosts []*coalesce.Host, all bool) error {
	out := struct {
		Hosts      []coalesce.Figures     `json:"hosts"`
		Accounting []*coalesce.Accounting `json:"accounting"`
	}{[]coalesce.Figures{}, []*coalesce.Accounting{}}
	for _, h := range hosts {
		out.Hosts = append(out.Hosts, h.Figures(all))
	}
	out.Accounting = append(out.Accounting, coalesce.Accounts(hosts)...)
	e := json.NewEncoder(Plain(w))
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(out)
}

// Counters prints what changed on hosts and how fast, and where packets went between them. With all it also prints
// what did not change.
func Counters(w io.Writer, hosts []*coalesce.Host, all bool, style Style) error {
	p := &page{w: w, style: style}
	for k, h := range hosts {
		if k > 0 {
			p.print("\n")
		}
		f := h.Figures(all)
		p.print(p.paint(bold, Clean(f.String())) + "\n")
		p.interfaces(f.Interfaces)
		p.queues(f.Interfaces)
		p.cpus(f.CPUs)
		p.figures("interrupts", f.Interrupts)
		for _, i := range f.Interfaces {
			p.figures("counters of "+orUnnamed(i.Name), i.Counters)
		}
		p.figures("protocols", f.Protocols)
		p.work(f.Work)
		p.sockets(f.Sockets)
		p.reported(f.Reported)
		for _, n := range f.Notes {
			p.labelled(0, "note", faint, 6, n.Text)
		}
	}
	for _, a := range coalesce.Accounts(hosts) {
		p.accounting(a)
	}
	return p.err
}

func orUnnamed(name string) string {
	if name == "" {
		return "an interface whose name is not known"
	}
	return name
}

// rateCell prints a rate that may not be known.
func rateCell(v *float64) string {
	if v == nil {
		return "-"
	}
	return unit.Number(*v)
}

func percent(v *float64) string {
	if v == nil {
		return "-"
	}
	return unit.Percent(*v)
}

func changes(n uint64) string { return unit.Count(int64(n & (1<<63 - 1))) }

func rightFrom(first, columns int) map[int]bool {
	right := map[int]bool{}
	for k := first; k < columns; k++ {
		right[k] = true
	}
	return right
}

func (p *page) interfaces(interfaces []coalesce.InterfaceFigures) {
	var rows [][]string
	for _, i := range interfaces {
		rows = append(rows, []string{orUnnamed(i.Name), rateCell(i.RX.PacketsPerSecond), rateCell(i.RX.BytesPerPacket), rateCell(i.TX.PacketsPerSecond), rateCell(i.TX.BytesPerPacket), rateCell(i.InterruptsPerSecond), rateCell(i.PacketsPerInterrupt)})
	}
	if len(rows) > 0 {
		p.table([]string{"interface", "rx packets/s", "bytes each", "tx packets/s", "bytes each", "interrupts/s", "rx packets each"}, rows, rightFrom(1, 7))
	}
}

func (p *page) queues(interfaces []coalesce.InterfaceFigures) {
	var rows [][]string
	for _, i := range interfaces {
		if len(i.Queues) < 2 {
			continue
		}
		for _, q := range i.Queues {
			rows = append(rows, []string{orUnnamed(i.Name) + " rx " + strconv.Itoa(q.Queue), changes(q.Packets), rateCell(q.PacketsPerSecond), unit.Percent(q.Share), rateCell(q.InterruptsPerSecond), rateCell(q.PacketsPerInterrupt)})
		}
	}
	if len(rows) > 0 {
		p.print("\n")
		p.table([]string{"queue", "packets", "packets/s", "share", "interrupts/s", "packets each"}, rows, rightFrom(1, 6))
	}
}

func (p *page) cpus(cpus []coalesce.CPUFigures) {
	var rows [][]string
	for _, c := range cpus {
		rows = append(rows, []string{strconv.Itoa(c.CPU), rateCell(c.InterruptsPerSecond), rateCell(c.SoftirqsPerSecond), percent(c.SoftirqShare), rateCell(c.Processed), changes(c.Squeezed), changes(c.Dropped)})
	}
	if len(rows) > 0 {
		p.print("\n")
		p.table([]string{"CPU", "network interrupts/s", "NET_RX/s", "time in softirqs", "processed/s", "squeezed", "dropped"}, rows, rightFrom(0, 7))
	}
}

// figures prints counters by tool, with the course of a series as a line of bars.
func (p *page) figures(title string, figures []coalesce.Figure) {
	if len(figures) == 0 {
		return
	}
	var rows [][]string
	course := false
	for _, f := range figures {
		row := []string{f.Name, changes(f.Delta), rateCell(f.PerSecond), strings.Trim(strings.Join(strings.Fields(fmt.Sprint(f.CPUs)), ","), "[]"), bars(f.Steps)}
		if f.Lost > 0 {
			row[4] = strings.TrimSpace(row[4] + fmt.Sprintf(" %s not known", plural(f.Lost, "step", "steps")))
		}
		course = course || row[4] != ""
		rows = append(rows, row)
	}
	head := []string{title, "change", "per second", "CPUs", "course"}
	if !course {
		head = head[:4]
	}
	if title != "interrupts" {
		head[3] = ""
	}
	p.print("\n")
	p.table(head, rows, map[int]bool{1: true, 2: true})
}

func (p *page) accounting(a *coalesce.Accounting) {
	p.print("\n" + p.paint(bold, Clean(a.Sender+" to "+a.Receiver)) + "\n")
	p.labelled(0, "", "", 1, a.Text)
	var rows [][]string
	for _, l := range a.Layers {
		lost := make([]string, len(l.Losses))
		for k, t := range l.Losses {
			lost[k] = changes(t.Delta) + " " + t.Name
		}
		rows = append(rows, []string{l.Name, l.Host, changes(l.Packets), l.Unit, changes(l.Merged), strings.Join(lost, ", ")})
	}
	p.table([]string{"layer", "host", "passed on", "", "merged", "lost"}, rows, map[int]bool{2: true, 4: true})
	for _, b := range a.Balances {
		text := "closes"
		if b.Difference != 0 {
			text = fmt.Sprintf("differs by %s: %s", unit.Count(b.Difference), b.Note)
		}
		p.labelled(0, "balance of "+b.Name, "", 22, text)
	}
}
