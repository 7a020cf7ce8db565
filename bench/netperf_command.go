package bench

import (
	"bytes"
	"strings"
)

// A command line says what a row of numbers means when the heads are off (-P 0):
//
//	# netperf -C -c -P 0 -t TCP_STREAM -H 193.168.10.143 -l 60 -- -m 64K
//	87380  16384  65536  60.00  8323.20 12.96 13.64 1.020 1.074
//
// In archived copies "-- -m" became "---m". Options are those of netsh.c (global) and nettest_bsd.c (of the test).

// command is a command line that is being read.
type command struct {
	own      bool   // past "--": the test's own options
	waiting  string // the option whose argument comes next
	done     bool   // past the end of the command proper: "; done"
	words    int
	settings []Setting
}

// Bounds on a command line with the text that follows it up to its output, and on one word of it.
const (
	maxCommandWords = 256
	maxCommandWord  = 256
)

// isCommand reports whether words begin with a call of netperf.
func isCommand(words []word) bool {
	return len(words) > 1 && (string(words[0].text) == "netperf" || bytes.HasSuffix(words[0].text, []byte("/netperf"))) && words[1].text[0] == '-'
}

// take reads one word of the command line, or of what follows it, up to the first number that is no argument.
func (c *command) take(text []byte) bool {
	c.words++
	if c.words > maxCommandWords || len(text) > maxCommandWord {
		return false
	}
	word := printable(text)
	switch {
	case c.waiting != "" && !c.done:
		c.argument(word)
	case kindOf(text) != notNumber:
		return false
	case c.done, word[0] == '$': // a variable of the shell
	case word == "--":
		c.own = true
	case len(word) > 1 && word[0] == '-':
		c.option(word)
	default:
		c.done = true
	}
	return true
}

// option reads a word of option letters as getopt does: "-l", "-l60", "-cC".
func (c *command) option(word string) {
	if rest, glued := strings.CutPrefix(word, "---"); glued {
		c.own, word = true, "-"+rest
	}
	for i := 1; i < len(word) && optionLetter(word[i]); i++ {
		name := "-" + word[i:i+1]
		if !c.takesArgument(word[i]) {
			c.add(name, "")
			continue
		}
		c.waiting = name
		if value := word[i+1:]; value != "" {
			c.argument(value)
		}
		return
	}
}

func optionLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '4' || c == '6'
}

// takesArgument: netsh.c, GLOBAL_CMD_LINE_ARGS; nettest_bsd.c, SOCKETS_ARGS, with those that nettest_omni.c adds.
func (c *command) takesArgument(letter byte) bool {
	if c.own {
		return strings.IndexByte("bBdeHkKLmMoOpPqrRsStTuwW", letter) >= 0
	}
	return strings.IndexByte("AabBDfFHiIKlLnOoPpstTvWwyYZ", letter) >= 0
}

func (c *command) argument(word string) {
	name := c.waiting
	c.waiting = ""
	if end := strings.IndexAny(word, ";|&>"); end >= 0 {
		word, c.done = word[:end], true
	}
	if name == "-t" || name == "-H" { // "TCP_RR$HDR": a variable ran into the name
		word, _, _ = strings.Cut(word, "$")
	}
	c.add(name, word)
}

func (c *command) add(name, value string) {
	if c.own {
		name = "-- " + name
	}
	c.settings = append(c.settings, Setting{Name: name, Value: value})
}

// finishCommand ends the command line: what follows is its output.
func (r *netperf) finishCommand() {
	settings := append(r.command.settings, r.shell...)
	r.command = command{}
	r.inside = inText
	r.about = about{settings: settings[:len(settings):len(settings)], given: len(settings)}
	r.about.test = "TCP_STREAM" // netperf's default
	for _, s := range settings {
		switch s.Name {
		case "-t":
			r.about.test = s.Value
		case "-H":
			r.about.host, _, _ = strings.Cut(s.Value, ",")
		case "-f":
			r.about.unit = optionUnit(s.Value)
		}
	}
}

// optionUnit is the unit that -f asks for (netlib.c, format_units).
func optionUnit(value string) string {
	switch value {
	case "B":
		return "bytes/s"
	case "K":
		return "KBytes/s"
	case "M":
		return "MBytes/s"
	case "G":
		return "GBytes/s"
	case "k":
		return "10^3 bits/s"
	case "m":
		return "10^6 bits/s"
	case "g":
		return "10^9 bits/s"
	case "x":
		return transactions
	}
	return ""
}
