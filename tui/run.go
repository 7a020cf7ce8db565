package tui

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"nettrace/analyze"
)

// Options are what the explorer starts with. The zero value of each but Paths is a default.
type Options struct {
	Paths   []string
	Analyze analyze.Options // Progress is the explorer's own
	Predict bool            // try what is advised in the reference datapath
	Theme   string          // one of Themes; auto if empty
	Forms   []Form          // in which the program prints results
	Program string          // written into files as what wrote them
	ASCII   bool            // draw with ASCII characters only
	Color   bool            // use colours
	Env     []string        // the environment, os.Environ if nil
}

// Outcome is what there was when the user left.
type Outcome struct {
	Result *analyze.Result // nil if the user left before anything was judged
	Errors []error         // of sources that could not be read
	Files  []string        // that were written
}

// Themes. What they leave open is as the terminal answers, dark if it does not.
const (
	ThemeAuto     = "auto"
	ThemeDark     = "dark"
	ThemeLight    = "light"
	ThemeContrast = "high-contrast"
)

// Themes returns what Options.Theme may be.
func Themes() []string { return []string{ThemeAuto, ThemeDark, ThemeLight, ThemeContrast} }

// theme is the one for a background, if that is not decided already.
func (o *Options) theme(dark bool) theme {
	switch o.Theme {
	case ThemeDark:
		dark = true
	case ThemeLight:
		dark = false
	}
	return theme{dark: dark, contrast: o.Theme == ThemeContrast, ascii: o.ASCII}
}

// Run shows the explorer in the terminal that standard output is. Keys come from standard input or, where that holds
// data, from the controlling terminal.
func Run(ctx context.Context, o Options) (Outcome, error) {
	if o.Env == nil {
		o.Env = os.Environ()
	}
	o.ASCII = o.ASCII || variable(o.Env, "TERM") == "linux"
	if o.Analyze.Stdin != nil {
		o.Analyze.Stdin = newKeeper(o.Analyze.Stdin)
	}
	m := NewModel(ctx, o)
	defer m.stop()
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithEnvironment(o.Env), tea.WithColorProfile(profile(o))).Run()
	if err != nil {
		err = fmt.Errorf("explore: %w; nettrace analyze prints the same as text", err)
	}
	return Outcome{m.result, m.errs, m.written}, err
}

// profile decides about colours in one place: the library takes NO_COLOR=yes for "no".
func profile(o Options) colorprofile.Profile {
	if !o.Color {
		return colorprofile.ASCII
	}
	env := slices.DeleteFunc(slices.Clone(o.Env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return name == "NO_COLOR" || name == "CLICOLOR" || name == "CLICOLOR_FORCE"
	})
	return max(colorprofile.Detect(os.Stdout, env), colorprofile.ANSI)
}

// variable returns the value of an environment variable.
func variable(env []string, name string) string {
	for _, v := range env {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}
