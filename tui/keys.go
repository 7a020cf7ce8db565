package tui

import (
	"slices"
	"strings"
)

// binding is a key, or keys that belong together, and what they do: in a word for the last line, and in full for help.
type binding struct{ keys, word, what string }

// Keys that several pages list among their own.
func openKey(what string) binding { return binding{"enter", "open", what} }
func upKey() binding              { return binding{"esc", "up", "one level up"} }
func filterKey() binding          { return binding{"/", "filter", "filter as you type"} }
func sortKey() binding            { return binding{"s", "sort", "sort by the next column"} }
func plotKey() binding {
	return binding{"t", "over time", "the connection's sequence numbers over time"}
}
func writeKey(what string) binding {
	return binding{"w", "write", "write packets as pcapng: " + what}
}
func tabKey() binding { return binding{"tab", "pane", "other pane"} }
func copyKey() binding {
	return binding{"y", "copy", "copy what is selected, or the command that prints it: yy the first that is offered"}
}

// moveKeys work on every page.
func moveKeys() []binding {
	return []binding{
		{"up down", "", "previous, next (also k, j, the wheel)"},
		{"pgup pgdn", "", "a page (also space)"},
		{"ctrl+u ctrl+d", "", "half a page"},
		{"g G", "", "first, last (also home, end)"},
		{"12G :12", "", "the row, packet or line of that number; 05j: five down (a count begins with 0, since 1 to 8 are the screens)"},
		{"m '", "", "mark the place with a letter, go back to it"},
		{"[ ]", "", "back, and forth again, to where you were"},
		{"left right", "", "scroll long text sideways"},
		{"click", "", "select; again: open; on a column's head: sort; on a screen's name: go there; on a key of the last line: press it"},
	}
}

// programKeys work everywhere.
func programKeys() []binding {
	return []binding{
		{"1 to 8", "", "screens"},
		{"esc", "", "one level up"},
		{":", "", "a command by its name in the program; Tab completes"},
		{"< >", "", "sort by the column to the left, to the right"},
		{"S", "", "sort the other way round"},
		{"c", "", "columns: show, hide, move, widen"},
		{"y", "", "copy, through the terminal (OSC 52) or into a file"},
		{"w", "", "write packets as pcapng"},
		{"e", "", "export what is seen, or the whole result"},
		{"o", "", "write the report as one page, and open it"},
		{"d", "", "compare with another incident"},
		{"?", "", "keys of this screen"},
		{"ctrl+c", "", "end the reading and keep what is there; afterwards quit"},
		{"q", "", "quit"},
	}
}

// described is a page's keys under its name, for help and documentation.
type described struct {
	page string
	keys []binding
}

// allKeys lists the keys of every page, in the order of the screens.
func allKeys() []described {
	return []described{
		{"1 Findings", findingsKeys()},
		{"1 Findings, a finding", findingKeys()},
		{"1 Findings, compared", changesKeys()},
		{"2 Flows", flowsKeys()},
		{"2 Flows, a connection over time", sequenceKeys()},
		{"3 Packets", packetsKeys()},
		{"3 Packets, several captures", capturesKeys()},
		{"3 Packets, a packet", packetKeys()},
		{"4 Locks", locksKeys()},
		{"4 Locks, a lock", lockKeys()},
		{"5 Stacks", stacksKeys()},
		{"5 Stacks, several profiles", profilesKeys()},
		{"6 Counters", countersKeys()},
		{"7 Sources", sourcesKeys()},
		{"8 Replay", replayKeys()},
		{"8 Replay, a scenario", tryKeys()},
		{"a text", viewerKeys()},
		{"lists", listKeys()},
		{"moving", moveKeys()},
		{"everywhere", programKeys()},
	}
}

// listKeys are those that mean the same on all pages that list them.
func listKeys() []binding { return []binding{filterKey(), sortKey(), tabKey(), copyKey()} }

// KeyTable returns the table of keys for the documentation, in Markdown. What means the same on many pages is in it once.
func KeyTable() string {
	var b strings.Builder
	b.WriteString("| where | key | what it does |\n|---|---|---|\n")
	for _, d := range allKeys() {
		name := d.page
		for _, k := range d.keys {
			if d.page != "lists" && (k == upKey() || slices.Contains(listKeys(), k)) {
				continue
			}
			b.WriteString("| " + name + " | `" + k.keys + "` | " + k.what + " |\n")
			name = ""
		}
	}
	return b.String()
}
