package report

import (
	"html"
	"slices"
	"strings"
	"testing"
)

// parsedPage is a page as a strict reader of HTML finds it: tags nest, attributes are quoted, texts hold no markup.
type parsedPage struct {
	elements []element
	outline  []string       // names of elements and their attributes, in order
	classes  map[string]int // elements by "name.class", "name.class.class" and "name"
	findings []string       // headings of the articles
	titles   []string       // of boxes
	cells    []string       // of tables
	text     string         // all text but that of raw elements
}

type element struct {
	name       string
	attributes []attribute
	text       strings.Builder
}

type attribute struct{ name, value string }

func (e *element) attribute(name string) string {
	for _, a := range e.attributes {
		if a.name == name {
			return a.value
		}
	}
	return ""
}

var (
	void = []string{"meta", "link", "input", "br"}
	raw  = []string{"script", "style"}
)

// parsePage reads a page and fails the test at the first thing that is not as strict.
func parsePage(t testing.TB, page []byte) *parsedPage {
	t.Helper()
	rest, ok := strings.CutPrefix(string(page), "<!doctype html>\n")
	if !ok {
		t.Fatal("the page does not begin with a doctype")
	}
	p := &parsedPage{classes: map[string]int{}}
	var open []*element
	var text strings.Builder
	for rest != "" {
		at := strings.IndexByte(rest, '<')
		if at < 0 {
			at = len(rest)
		}
		if at > 0 {
			said := unescaped(t, rest[:at])
			text.WriteString(said)
			for _, e := range open {
				e.text.WriteString(said)
			}
			rest = rest[at:]
			continue
		}
		if name, ok := strings.CutPrefix(rest, "</"); ok {
			name, after, found := strings.Cut(name, ">")
			if !found || len(open) == 0 || open[len(open)-1].name != name {
				t.Fatalf("</%.30s closes nothing that is open", name)
			}
			p.close(open[len(open)-1])
			open, rest = open[:len(open)-1], after
			continue
		}
		var e *element
		e, rest = parseTag(t, rest)
		p.open(e)
		switch closed := strings.HasSuffix(e.name, "/"); {
		case closed:
			e.name = strings.TrimSuffix(e.name, "/")
		case slices.Contains(void, e.name):
		case slices.Contains(raw, e.name):
			_, after, found := strings.Cut(rest, "</"+e.name+">")
			if !found {
				t.Fatalf("<%s> has no end", e.name)
			}
			rest = after
		default:
			open = append(open, e)
		}
	}
	if len(open) > 0 {
		t.Fatalf("<%s> has no end", open[len(open)-1].name)
	}
	p.text = text.String()
	return p
}

func (p *parsedPage) open(e *element) {
	p.elements = append(p.elements, *e)
	name := strings.TrimSuffix(e.name, "/")
	line := name
	for _, a := range e.attributes {
		line += " " + a.name
	}
	p.outline = append(p.outline, line)
	p.classes[name]++
	if class := e.attribute("class"); class != "" {
		p.classes[name+"."+strings.ReplaceAll(class, " ", ".")]++
		p.classes[name+"."+strings.Fields(class)[0]]++
	}
}

func (p *parsedPage) close(e *element) {
	switch e.name {
	case "h2":
		if strings.HasSuffix(e.attribute("id"), "-title") && strings.HasPrefix(e.attribute("id"), "f-") {
			p.findings = append(p.findings, e.text.String())
		}
	case "title":
		p.titles = append(p.titles, e.text.String())
	case "td":
		p.cells = append(p.cells, e.text.String())
	}
}

// parseTag reads a start tag.
func parseTag(t testing.TB, s string) (*element, string) {
	t.Helper()
	end := strings.IndexAny(s, " >")
	if end < 0 {
		t.Fatalf("a tag has no end: %.40s", s)
	}
	e := &element{name: strings.TrimSuffix(s[1:end], "/")}
	if e.name == "" || strings.Trim(e.name, "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		t.Fatalf("no tag: %.40s", s)
	}
	if s[end-1] == '/' {
		e.name += "/"
	}
	s = s[end:]
	for {
		s = strings.TrimPrefix(s, " ")
		if after, ok := strings.CutPrefix(s, "/>"); ok {
			e.name += "/"
			return e, after
		}
		if after, ok := strings.CutPrefix(s, ">"); ok {
			return e, after
		}
		stop := strings.IndexAny(s, " =>\"'<")
		if stop <= 0 {
			t.Fatalf("no attribute of <%s>: %.40s", e.name, s)
		}
		a := attribute{name: s[:stop]}
		s = s[stop:]
		if after, ok := strings.CutPrefix(s, "=\""); ok {
			value, after, found := strings.Cut(after, "\"")
			if !found || strings.ContainsAny(value, "<>") {
				t.Fatalf("the value of %s in <%s>: %.40s", a.name, e.name, value)
			}
			a.value, s = unescaped(t, value), after
		}
		e.attributes = append(e.attributes, a)
	}
}

// unescaped decodes the references in a text, each of which has to be whole.
func unescaped(t testing.TB, s string) string {
	t.Helper()
	for i, part := range strings.Split(s, "&") {
		if name, _, found := strings.Cut(part, ";"); i > 0 && (!found || len(name) > 8) {
			t.Fatalf("& that begins no reference: &%.20s", part)
		}
	}
	return html.UnescapeString(s)
}
