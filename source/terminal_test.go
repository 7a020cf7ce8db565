package source

import (
	"strings"
	"testing"
)

func TestLinesWithoutWhatATerminalActsOn(t *testing.T) {
	for text, want := range map[string]string{
		"\x1b[32;22m  all\x1b[0m 2.15":              "  all 2.15",
		"\x1b[38;2;171;117;146mCPU\x1b[m":           "CPU",
		"\x1b]0;root@a: ~\x07root@a:~# \x1b[?2004l": "root@a:~# ",
		"\x1b]8;;http://x\x1b\\link":                "link",
		"cut \x1b[3":                                "cut ",
		"cut \x1b":                                  "cut ",
		"cut \x1b]0;title":                          "cut ",
		"damaged \x1b[3é":                           "damaged é",
		"\x1b[1ma\x1b[0m;\x1b[1mb\x1b[0m 5":         "a;b 5",
	} {
		l := lines(text + "\nnext\n")
		if head := string(l.Head(100)); text[:3] != "cut" && head != want+"\nnext\n" {
			t.Errorf("the head of %q is %q, want %q", text, head, want)
		}
		if !l.Next() || string(l.Bytes()) != want {
			t.Errorf("%q is read as %q, want %q", text, l.Bytes(), want)
		}
		l.Back()
		if !l.Next() || string(l.Bytes()) != want || !l.Next() || string(l.Bytes()) != "next" {
			t.Errorf("behind %q stands %q", text, l.Bytes())
		}
	}
}

// TestTerminalEscapesAreTold: each line that had some counts once, also if it is put back.
func TestTerminalEscapesAreTold(t *testing.T) {
	var ledger Ledger
	l := NewLines(NewInput("x", strings.NewReader("\x1b[1ma\nb\n\x1b]0;t\ac\n")), &ledger)
	for l.Next() {
		l.Back()
		l.Next()
	}
	if got := ledger.Entries(); len(got) != 1 || got[0].Name != "terminal-escapes" || got[0].Count != 2 || got[0].Severity != Note {
		t.Errorf("the ledger says %v", got)
	}
}
