package report

import (
	"fmt"
	"io"
	"strings"

	"nettrace/analyze"
	"nettrace/coalesce"
	"nettrace/finding"
	"nettrace/source"
)

// Markdown prints a result for a mail or an issue: all findings of warning and above whole, the others as a list.
func Markdown(w io.Writer, r *analyze.Result) error {
	names := r.ShortNames()
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", mark(title(r)))
	for _, e := range r.Ledger {
		if e.Severity == source.Warning {
			fmt.Fprintf(&b, "- lost: %s: %s\n", mark(place(names[e.Source], e.First)), mark(e.Text))
		}
	}
	for _, text := range coalesce.Unjudged(r.Models.Hosts) {
		fmt.Fprintf(&b, "- note: %s\n", mark(text))
	}
	shown, rest := split(r.Findings, false)
	for i := range shown {
		b.WriteString("\n" + markdownFinding(&shown[i], names))
	}
	if len(rest) > 0 {
		b.WriteString("\n## Also\n\n")
		for _, f := range rest {
			fmt.Fprintf(&b, "- %s: %s (`%s`)\n", f.Severity, mark(f.Summary), f.Rule)
		}
	}
	if len(r.Findings) == 0 {
		b.WriteString(mark(nothing(r)) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// markdownFinding prints a finding whole.
func markdownFinding(f *finding.Finding, names map[string]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s: %s\n\n", strings.ToUpper(f.Severity.String()), mark(f.Summary))
	fmt.Fprintf(&b, "`%s` on %s; confidence %s%s\n\n", f.Rule, mark(f.Subject.Name), f.Confidence, effect(f.Effect))
	for _, reason := range f.Reasons {
		fmt.Fprintf(&b, "- why: %s\n", mark(reason))
	}
	for _, e := range f.Evidence {
		fmt.Fprintf(&b, "- see: %s: %s\n", mark(place(names[e.Source], e.Pos)), mark(e.Text))
	}
	for _, a := range f.Advice {
		fmt.Fprintf(&b, "- try: %s\n", mark(advice(a, true)))
	}
	for _, c := range f.Caveats {
		fmt.Fprintf(&b, "- but: %s\n", mark(c))
	}
	if len(f.Measures) > 0 {
		b.WriteString("\n| measure | value |\n|---|---|\n")
		for _, m := range f.Measures {
			name, value, _ := strings.Cut(m.String(), " ")
			fmt.Fprintf(&b, "| %s | %s |\n", mark(name), mark(value))
		}
	}
	return b.String()
}

// mark makes text that comes from an input safe in Markdown: no markup and no HTML of its own.
func mark(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`).Replace(Clean(s))
}
