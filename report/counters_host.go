package report

import (
	"strconv"

	"nettrace/coalesce"
	"nettrace/unit"
)

// mostRows bounds what the lists below print; -o json has all.
const mostRows = 20

// rows prints at most mostRows of a table and says how many more there are.
func (p *page) rows(head []string, rows [][]string, left int) {
	if len(rows) == 0 {
		return
	}
	p.print("\n")
	p.table(head, rows[:min(len(rows), mostRows)], rightFrom(left, len(head)))
	if more := len(rows) - mostRows; more > 0 {
		p.print(plural(more, "more line", "more lines") + "; -o json has all\n")
	}
}

// work prints recordings of tracepoints: what polls brought, how long softirqs ran, and where packets were dropped.
func (p *page) work(recordings []*coalesce.Work) {
	for _, w := range recordings {
		var polls, softirqs, drops [][]string
		for _, x := range w.Polls {
			polls = append(polls, []string{x.Device, cpuCell(x.CPU), unit.Count(x.Polls), unit.Count(x.Packets), unit.Number(float64(x.Packets) / float64(max(1, x.Polls))), unit.Count(x.Empty), unit.Count(x.Full)})
		}
		p.rows([]string{"polls of device", "CPU", "polls", "packets", "packets each", "empty", "used up the budget"}, polls, 1)
		for _, x := range w.Softirqs {
			softirqs = append(softirqs, []string{x.Name, cpuCell(x.CPU), unit.Count(x.Runs), timeShare(x.Time, w.Span), x.Longest.String()})
		}
		p.rows([]string{"softirq", "CPU", "runs", "of the time", "longest"}, softirqs, 1)
		for _, x := range w.Drops {
			drops = append(drops, []string{orDash(x.Reason), x.Location, unit.Count(x.Packets)})
		}
		p.rows([]string{"packets dropped for", "at", "packets"}, drops, 2)
	}
}

func cpuCell(cpu int) string {
	if cpu == coalesce.AllCPUs {
		return "-"
	}
	return strconv.Itoa(cpu)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func timeShare(part, whole unit.Nanos) string {
	if whole <= 0 {
		return "-"
	}
	return unit.Percent(float64(part) / float64(whole))
}

// sockets prints what the kernel says of the senders: the time with data to send, and what of it was spent waiting.
func (p *page) sockets(sockets []coalesce.Socket) {
	var rows [][]string
	for _, s := range sockets {
		if !s.Known {
			continue
		}
		rows = append(rows, []string{s.Local + " > " + s.Peer, s.Busy.String(), timeShare(s.RwndLimited, s.Busy), timeShare(s.SndbufLimited, s.Busy), unit.Count(int64(s.Retrans & (1<<62 - 1))), s.RTT.String(), strconv.FormatUint(s.CWnd, 10)})
	}
	p.rows([]string{"sender", "busy", "peer's window", "send buffer", "retransmitted", "RTT", "cwnd"}, rows, 1)
}

// reported prints what tools worked out themselves.
func (p *page) reported(list []coalesce.Reported) {
	var rows [][]string
	for _, r := range list {
		rows = append(rows, []string{r.Tool, orDash(r.Subject), r.Name, unit.Number(r.Mean), unit.Number(r.Least), unit.Number(r.Most), reportedBars(r.Course)})
	}
	if len(rows) == 0 {
		return
	}
	p.print("\n")
	p.table([]string{"reported by", "of", "", "mean", "least", "most", "course"}, rows, map[int]bool{3: true, 4: true, 5: true})
}
