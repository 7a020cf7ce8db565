package collect

import (
	"fmt"
	"strings"
)

// writer puts a script together.
type writer struct {
	options Options
	plan    plan
	b       strings.Builder
}

func (w *writer) line(format string, args ...any) {
	if len(args) > 0 {
		format = fmt.Sprintf(format, args...)
	}
	w.b.WriteString(format + "\n")
}

// header says what the script does and costs, and defines how a step runs.
func (w *writer) header() {
	o := w.options
	w.line("#!/bin/sh")
	w.line("# Records a bundle for nettrace on %s: %s. It changes no setting of the machine.", o.System, meaning(o.Question))
	w.line("# Start the load first, then run this on both hosts at once (with --peer on the other one), as root where it says so.")
	w.line("#")
	for _, s := range w.chosen() {
		who := ""
		if s.root {
			who = ", root"
		}
		w.line("#   %-22s %s%s", s.tool, s.cost, who)
	}
	w.line("#")
	w.line("LC_ALL=C; export LC_ALL")
	w.line("SECONDS_LONG=%d", o.Seconds)
	if o.Interface != "" {
		w.line("IF=%s", quote(o.Interface))
	} else {
		w.line("IF=$(%s)", w.plan.interfaceOf)
	}
	if o.Folder != "" {
		w.line("DIR=%s", quote(o.Folder))
	} else {
		w.line("DIR=bundle-$(hostname -s 2>/dev/null || hostname)-$(date -u +%Y%m%dT%H%M%SZ)")
	}
	peer := ""
	if o.Peer {
		peer = "-peer"
	}
	w.b.WriteString(`mkdir -p "$DIR" || exit 1
LOG=$DIR/collect.log
# stamp prints the time, to a millisecond where date can (GNU, FreeBSD 14.1 and later).
stamp() {
    T=$(date -u +%Y%m%dT%H%M%S.%3NZ)
    case $T in
    ????????T??????.[0-9][0-9][0-9]Z) echo "$T" ;;
    *) date -u +%Y%m%dT%H%M%S.000Z ;;
    esac
}
# step TAG TOOL EXT NEEDS COMMAND: runs COMMAND if NEEDS is there, into a file named by tag, tool and time.
step() {
    command -v "$4" >/dev/null 2>&1 || { echo "$2: no $4 here" >>"$LOG"; return 0; }
    OUT=$DIR/$1` + peer + `.$2.$(stamp).$3
    export OUT IF SECONDS_LONG
    if ! sh -c "$5" >"$OUT.part" 2>>"$LOG"; then echo "$2: failed: $5" >>"$LOG"; fi
    if [ -s "$OUT.part" ]; then mv "$OUT.part" "$OUT"; else rm -f "$OUT.part"; fi
}
`)
}

// chosen returns the steps for the question.
func (w *writer) chosen() (list []step) {
	for _, steps := range [][]step{w.plan.settings, w.plan.counters, w.plan.recordings} {
		for _, s := range steps {
			if s.wanted(w.options.Question) {
				list = append(list, s)
			}
		}
	}
	return list
}

func meaning(q Question) string {
	return map[Question]string{Latency: "why a request takes long", Throughput: "why a transfer is slow", CPU: "where the CPU time goes", Drops: "where packets are lost"}[q]
}

// steps writes the steps of one part; those that record run at the same time.
func (w *writer) steps(title, tag string, steps []step, together bool) {
	w.line("")
	w.line("# " + title)
	end := ""
	if together {
		end = " &"
	}
	for _, s := range steps {
		if s.wanted(w.options.Question) {
			w.line("step %s %s %s %s %s%s", tag, s.tool, s.ext, s.needs, quote(s.command), end)
		}
	}
	if together {
		w.line("wait")
	}
}
