package report

import (
	"bytes"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"nettrace/analyze"
	"nettrace/finding"
	"nettrace/flame"
	"nettrace/source"
	"nettrace/tcp"
)

// TestAnyPageIsKeptSmall makes pages of results that are large in one way each: they take what a page may take by default,
// hold all critical findings, and say what they lack.
func TestAnyPageIsKeptSmall(t *testing.T) {
	t.Chdir("..")
	for name, grow := range map[string]func(*testing.T, *analyze.Result){
		"findings": func(_ *testing.T, r *analyze.Result) {
			for i := range 4_000 {
				f := small(fmt.Sprint(i)).Findings[0]
				f.Rule = "tcp/stretch-ack"
				r.Findings = append(r.Findings, f)
			}
			r.Findings = finding.Rank(r.Findings)
		},
		"long texts": func(_ *testing.T, r *analyze.Result) {
			for i := range r.Findings {
				r.Findings[i].Evidence[0].Text += strings.Repeat(" and so on", 100_000)
			}
		},
		"sources": func(_ *testing.T, r *analyze.Result) {
			for i := range 30_000 {
				r.Sources = append(r.Sources, analyze.Source{Path: fmt.Sprintf("logs/%d.txt", i), Format: "ethtool-S", Kind: analyze.Counters, Bytes: 1, Facts: r.Sources[0].Facts})
			}
		},
		"losses": func(_ *testing.T, r *analyze.Result) {
			for i := range 30_000 {
				r.Ledger = append(r.Ledger, source.Entry{Source: fmt.Sprintf("logs/%d.txt", i), Name: "truncated-record", Severity: source.Warning, Count: 1, Text: "the last record is cut off"})
			}
		},
		"connections": func(_ *testing.T, r *analyze.Result) {
			c := r.Models.Captures[0]
			for i := range 16_384 {
				c.Connections = append(c.Connections, tcp.Connection{Number: int64(i + 100), Client: netip.AddrPortFrom(netip.MustParseAddr("192.0.2.1"), uint16(i)), Server: netip.MustParseAddrPort("198.51.100.2:443")})
			}
		},
		"captures": func(_ *testing.T, r *analyze.Result) {
			for range 1_500 {
				r.Models.Captures = append(r.Models.Captures, r.Models.Captures[0])
			}
		},
		"stacks": func(t *testing.T, r *analyze.Result) { r.Models.Profiles = append(r.Models.Profiles, manyFrames(t)) },
		"profiles": func(_ *testing.T, r *analyze.Result) {
			for range 1_000 {
				r.Models.Profiles = append(r.Models.Profiles, r.Models.Profiles[0])
			}
		},
		"hosts": func(_ *testing.T, r *analyze.Result) {
			for i := range 150 {
				h := *r.Models.Hosts[0]
				h.Name = fmt.Sprint("host", i)
				r.Models.Hosts = append(r.Models.Hosts, &h)
			}
		},
		"plots": func(_ *testing.T, r *analyze.Result) {
			for i := range 1_000 {
				s := r.Models.Series[0]
				s.Connection += int64(i)
				r.Models.Series = append(r.Models.Series, s)
			}
		},
		"runs": func(_ *testing.T, r *analyze.Result) {
			for i := range 12_000 {
				run := r.Models.Runs[0]
				run.Rate += float64(i)
				r.Models.Runs = append(r.Models.Runs, run)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := analysed(t, demo)
			grow(t, r)
			page := pageOf(t, r, HTMLOptions{})
			if len(page) > maxPageBytes {
				t.Errorf("the page takes %d bytes", len(page))
			}
			p := parsePage(t, page)
			if !strings.Contains(p.text, "the page is kept small: it lacks") {
				t.Error("the page does not say what it lacks")
			}
			for _, f := range r.Findings {
				if f.Severity == finding.Critical && !strings.Contains(p.text, f.Summary) {
					t.Errorf("the page lacks %q", f.Summary)
				}
			}
		})
	}
}

// manyFrames is a profile of 100,000 functions, each called in two stacks.
func manyFrames(t *testing.T) *flame.Profile {
	t.Helper()
	var text bytes.Buffer
	for i := range 100_000 {
		fmt.Fprintf(&text, "app;main;worker_%d;handle_request_of_kind_%d %d\napp;main;read_%d;handle_request_of_kind_%d 1\n", i%999, i, i%77+1, i%7, i)
	}
	var ledger source.Ledger
	p, err := flame.ReadFolded(source.NewLines(source.NewInput("many.folded", &text), &ledger), &ledger)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
