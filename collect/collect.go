// Package collect writes the shell script that records a good bundle for a question: settings, counters before and
// after, and recordings in between, in files whose names pair and date them as package source reads them.
package collect

import (
	"fmt"
	"slices"
	"strings"
)

// Question is what the user wants to know; it selects the recordings.
type Question string

// The questions.
const (
	Latency    Question = "latency"    // why a request takes long
	Throughput Question = "throughput" // why a transfer is slow
	CPU        Question = "cpu"        // where the CPU time goes
	Drops      Question = "drops"      // where packets are lost
)

// Questions returns all questions.
func Questions() []Question { return []Question{Latency, Throughput, CPU, Drops} }

// Systems returns the systems that a script can be written for.
func Systems() []string { return []string{"linux", "freebsd"} }

// Options choose a script.
type Options struct {
	Question  Question
	System    string // one of Systems
	Interface string // "" is that of the default route when the script runs
	Seconds   int    // that recordings last; 10 where 0
	Folder    string // that the files go to; "bundle-HOST-TIME" where ""
	Peer      bool   // the script runs on the other host: its files say so
}

// step is one file of the bundle.
type step struct {
	tool      string // in the file's name: "ethtool-S"
	ext       string // "txt", "pcap"
	command   string // writes to stdout, or to $OUT
	needs     string // program that must be there
	root      bool
	cost      string
	questions []Question // nil is all
}

func (s *step) wanted(q Question) bool { return s.questions == nil || slices.Contains(s.questions, q) }

// plan are the steps of a system in the order in which they run: settings once, counters before and after, and what
// records between them, all at the same time.
type plan struct {
	interfaceOf string // prints the interface of the default route
	settings    []step
	counters    []step
	recordings  []step
}

// Script returns the script. It is for a POSIX shell, changes nothing on the machine, and goes on where a program is
// missing or a step fails.
func Script(o Options) (string, error) {
	if !slices.Contains(Questions(), o.Question) {
		return "", fmt.Errorf("--for %s: expected one of %s", o.Question, join(Questions()))
	}
	var p plan
	switch o.System {
	case "linux":
		p = linux()
	case "freebsd":
		p = freebsd()
	default:
		return "", fmt.Errorf("--system %s: expected one of %s", o.System, strings.Join(Systems(), ", "))
	}
	if o.Seconds == 0 {
		o.Seconds = 10
	}
	if o.Seconds < 1 || o.Seconds > 3600 {
		return "", fmt.Errorf("--seconds %d: expected 1 to 3600", o.Seconds)
	}
	w := writer{options: o, plan: p}
	w.header()
	w.steps("settings of the interface and the machine", "before", p.settings, false)
	w.steps("counters before", "before", p.counters, false)
	w.steps(fmt.Sprintf("recordings of %d s, all at the same time", o.Seconds), "during", p.recordings, true)
	w.steps("counters after", "after", p.counters, false)
	w.line("echo \"recorded into $DIR: nettrace analyze $DIR\"")
	return w.b.String(), nil
}

func join(list []Question) string {
	var names []string
	for _, q := range list {
		names = append(names, string(q))
	}
	return strings.Join(names, ", ")
}

// quote makes a word of the shell of any text.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
