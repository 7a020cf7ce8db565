package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"nettrace/analyze"
	"nettrace/diagnose"
	"nettrace/finding"
	"nettrace/unit"
)

// command is one that the line below the page takes. It has the name of the program's command that shows the same.
type command struct {
	name, takes, what string
	run               func(m *Model, argument string) act
	complete          func(m *Model, argument string) []string
}

// commands lists them.
func commands() []command {
	to := func(screen int) func(*Model, string) act {
		return func(m *Model, argument string) act { return m.filtered(screen, argument) }
	}
	return []command{
		{"analyze", "[FILTER]", "the findings", to(findingsScreen), nil},
		{"flows", "[FILTER]", "the connections", to(flowsScreen), nil},
		{"packets", "[FILTER]", "the packets, by tcpdump's words", to(packetsScreen), nil},
		{"locks", "[FILTER]", "the locks", to(locksScreen), nil},
		{"flame", "[WORDS]", "the stacks, with what is searched for", to(stacksScreen), nil},
		{"counters", "[FILTER]", "counters and settings", to(countersScreen), nil},
		{"inspect", "[FILTER]", "what was read, and what was lost", to(sourcesScreen), nil},
		{"replay", "[SCENARIO]", "try settings in the reference model", (*Model).replayCommand, (*Model).scenarioNames},
		{"compare", "PATH", "compare with another incident", func(m *Model, path string) act { return m.compareWith(path) }, func(_ *Model, text string) []string { return completePath(text) }},
		{"report", "[FILE]", "write the report as one page", (*Model).reportCommand, func(_ *Model, text string) []string { return completePath(text) }},
		{"explain", "RULE", "what a rule looks for, and why", (*Model).explain, func(*Model, string) []string { return ruleNames() }},
		{"rules", "", "what is looked for", func(m *Model, _ string) act { return act{push: newRulesPage(m.look)} }, nil},
		{"formats", "", "what can be read, and how to record it", func(m *Model, _ string) act { return act{push: newFormatsPage(m.look)} }, nil},
	}
}

// Commands returns the names of the commands that the command line takes: each is one of the program's.
func Commands() (names []string) {
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return names
}

// ownCommands have no equal in the program: they leave it.
func ownCommands() []string { return []string{"quit", "q"} }

// askCommand asks for a command. A number goes to the row of that number.
func (m *Model) askCommand() {
	m.prompt = &prompt{
		sign:     ":",
		changed:  func(text string) error { return understood(text) },
		hint:     func() string { return m.commandHint() },
		complete: m.completeCommand,
		entered:  m.runCommand,
	}
}

func (m *Model) commandHint() string {
	name, _, _ := strings.Cut(strings.TrimSpace(m.prompt.edit.text), " ")
	if c := commandOf(name); c != nil {
		return strings.TrimSpace(c.name+" "+c.takes) + ": " + c.what
	}
	return "Tab completes: " + strings.Join(Commands(), " ")
}

func commandOf(name string) *command {
	list := commands()
	i := slices.IndexFunc(list, func(c command) bool { return c.name == name })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// understood says why a text is no command. One that is half typed may become one.
func understood(text string) error {
	name, _, whole := strings.Cut(strings.TrimLeft(text, " "), " ")
	all := append(Commands(), ownCommands()...)
	switch {
	case name == "", isNumber(name), slices.Contains(all, name):
		return nil
	case !whole && slices.ContainsFunc(all, func(c string) bool { return strings.HasPrefix(c, name) }):
		return nil
	}
	return fmt.Errorf("no command is called %s; the nearest is %s", name, unit.Nearest(name, all))
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == "" && len(s) <= maxDigits
}

// completeCommand completes the name, or what stands behind it.
func (m *Model) completeCommand(text string) (found []string) {
	name, argument, behind := strings.Cut(text, " ")
	if !behind {
		for _, c := range commands() {
			if strings.HasPrefix(c.name, name) {
				full := c.name
				if c.takes != "" {
					full += " "
				}
				found = append(found, full)
			}
		}
		return found
	}
	c := commandOf(name)
	if c == nil || c.complete == nil {
		return nil
	}
	for _, a := range c.complete(m, argument) {
		if strings.HasPrefix(a, argument) {
			found = append(found, name+" "+a)
		}
	}
	return found
}

func (m *Model) runCommand(text string) act {
	name, argument, _ := strings.Cut(strings.TrimSpace(text), " ")
	argument = strings.TrimSpace(argument)
	switch {
	case name == "":
		return act{}
	case isNumber(name):
		n := 0
		fmt.Sscan(name, &n)
		m.goToNumber(n)
		return act{}
	case slices.Contains(ownCommands(), name):
		m.stop()
		return act{cmd: tea.Quit}
	}
	if c := commandOf(name); c != nil {
		return c.run(m, argument)
	}
	// The only one that begins so.
	if found := m.completeCommand(name); len(found) == 1 {
		return m.runCommand(found[0])
	}
	return say(name + " may be " + strings.Join(m.completeCommand(name), "or "))
}

// filtered goes to a screen and filters its list.
func (m *Model) filtered(screen int, filter string) act {
	m.current = screen
	p, ok := m.page().(filtering)
	switch {
	case filter == "":
	case !ok:
		return say("nothing to filter here")
	default:
		if err := p.Filter(filter); err != nil {
			return say(clean(err.Error()))
		}
	}
	return act{}
}

// reportCommand writes the page into a file of a given name.
func (m *Model) reportCommand(file string) act {
	m.report()
	if m.prompt == nil || file == "" {
		return act{}
	}
	p := m.prompt
	m.prompt = nil
	return p.entered(file)
}

func allRules() []finding.Rule { return append(analyze.Rules(), diagnose.Rules()...) }

func ruleNames() (names []string) {
	for _, r := range allRules() {
		names = append(names, r.Name)
	}
	return names
}

// explain shows what a rule looks for; without a name, the rule of the selected finding.
func (m *Model) explain(name string) act {
	if p, ok := m.page().(*findingPage); ok && name == "" {
		name = p.finding.Rule
	}
	rules := allRules()
	i := slices.IndexFunc(rules, func(r finding.Rule) bool { return r.Name == name })
	if i < 0 {
		return say("no rule is called " + clean(name) + "; the nearest is " + unit.Nearest(name, ruleNames()))
	}
	return act{push: newRulePage(m.look, &rules[i])}
}
