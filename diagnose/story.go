package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"nettrace/analyze"
	"nettrace/finding"
	"nettrace/kernel"
	"nettrace/unit"
)

// story is a cause that findings of several sources tell together: each part alone is a symptom, or only a setting.
type story struct {
	finding.Rule
	parts []part // the first that is found is what the others have to belong to
	// tell makes the cause of the parts that were found. It sets summary, subject and advice; evidence, effect, severity,
	// confidence and caveats follow from the parts and the rule. False means that they do not fit together after all.
	tell func(*told) (finding.Finding, bool)
	also func(*analyze.Result) []diagnosis // what tells of the cause alone; nil if nothing does
}

// part is one kind of finding that belongs to a story.
type part struct {
	name  string // by which tell asks for it
	rules []string
	when  func(*finding.Finding) bool // nil takes every finding of the rules
	facts func(*told) []clue          // what models tell that no rule judges; nil if there is nothing
	locks []string                    // names of kernel.NetworkLocks that it is about; nil is any subject
	need  bool                        // without it there is no story
	least finding.Severity            // findings below it do not count
	says  string                      // what it proves, for the reasons of the confidence
	want  string                      // how to record it, where it was not found
}

// clue is a fact of a model: a setting, a counter. It is a finding that no rule made, without an identifier.
type clue = finding.Finding

// told are the parts of a story that were found in a result and belong together.
type told struct {
	result *analyze.Result
	params finding.Params
	places *places
	found  map[string][]*finding.Finding // by part, the worst first
	index  *kernel.LockIndex             // nil until it is needed
}

// worst returns the worst finding of a part, nil if there is none.
func (t *told) worst(part string) *finding.Finding {
	if list := t.found[part]; len(list) > 0 {
		return list[0]
	}
	return nil
}

// advice returns what the findings of a part advise, that of a rule first and the worst first otherwise.
func (t *told) advice(part, first string) (list []finding.Advice) {
	for _, is := range []bool{true, false} {
		for _, f := range t.found[part] {
			if (f.Rule == first) == is {
				list = append(list, f.Advice...)
			}
		}
	}
	return list
}

// sum adds a measure up over all findings of a part.
func (t *told) sum(part, measure string) (sum float64) {
	for _, f := range t.found[part] {
		v, _ := f.Measure(measure)
		sum += v
	}
	return sum
}

// Links between the parts of a story.
const (
	clockSlack     = 10 * unit.Second // what one script records one after the other is of one time
	diagnosesMax   = 8                // of one story: of a host with a hundred interfaces the worst are enough
	maxApartParam  = "max-apart"
	maxApartMethod = " Parts belong together only if nothing that is known of them differs: the host (its folder, the tags of the files' names, its addresses), the interface, the CPU, the connection and, where recordings have dates, the time."
)

// apartParam is the parameter of all rules that tie recordings by their time.
func apartParam() finding.Param {
	return finding.Param{Name: maxApartParam, Default: float64(300 * unit.Second), Unit: "ns", Doc: "most time between recordings that can be of one incident; own choice: a load that lasts is recorded by one tool after the other. Beyond 10 s the confidence is not high"}
}

// storyRule makes a rule of the table out of a story.
func storyRule(s story) rule {
	s.Method += maxApartMethod
	s.Params = append(s.Params, apartParam())
	return rule{s.Rule, func(r *analyze.Result, p finding.Params) []diagnosis {
		all := &told{result: r, params: p, places: newPlaces(r), found: map[string][]*finding.Finding{}}
		for i := range s.parts {
			all.look(&s.parts[i])
		}
		var list []diagnosis
		if k := slices.IndexFunc(s.parts, func(p part) bool { return len(all.found[p.name]) > 0 }); k >= 0 && s.complete(all) {
			list = s.each(all, s.parts[k].name)
		}
		if s.also != nil {
			list = append(list, s.also(r)...)
		}
		return list
	}}
}

// each tells the story of each finding of a part that belongs to no other one before it.
func (s *story) each(all *told, first string) (list []diagnosis) {
	var taken []*finding.Finding
	for _, anchor := range all.found[first] {
		if slices.Contains(taken, anchor) || len(list) == diagnosesMax {
			continue
		}
		t := s.around(all, first, anchor)
		taken = append(taken, t.found[first]...)
		if !s.complete(t) {
			continue
		}
		if cause, ok := s.tell(t); ok {
			d := diagnosis{cause: cause, told: t}
			s.weigh(t, &d)
			list = append(list, d)
		}
	}
	return list
}

// around keeps what belongs to a finding of the first part, and to what else of that part belongs to it.
func (s *story) around(all *told, first string, anchor *finding.Finding) *told {
	t := *all
	at := all.places.of(anchor)
	host := *at
	host.endpoints = nil // several connections may show the same
	t.found = map[string][]*finding.Finding{first: all.belonging(first, func(x *place) bool { return all.together(&host, x) })}
	var anchors []*place
	for _, f := range t.found[first] {
		anchors = append(anchors, all.places.of(f))
	}
	for _, p := range s.parts {
		if p.name != first {
			t.found[p.name] = all.belonging(p.name, func(x *place) bool {
				return all.together(&host, x) && slices.ContainsFunc(anchors, func(a *place) bool { return all.together(a, x) })
			})
		}
	}
	return &t
}

func (t *told) belonging(part string, belongs func(*place) bool) (list []*finding.Finding) {
	for _, f := range t.found[part] {
		if belongs(t.places.of(f)) {
			list = append(list, f)
		}
	}
	return list
}

func (t *told) together(a, b *place) bool {
	return t.places.apart(a, b, unit.Nanos(t.params[maxApartParam])) == ""
}

// look finds the findings of a part.
func (t *told) look(p *part) {
	var list []*finding.Finding
	for i := range t.result.Findings {
		f := &t.result.Findings[i]
		if slices.Contains(p.rules, f.Rule) && f.Severity >= p.least && (p.when == nil || p.when(f)) && (p.locks == nil || t.isLock(f, p.locks)) {
			list = append(list, f)
		}
	}
	if p.facts != nil {
		facts := p.facts(t)
		for i := range facts {
			list = append(list, &facts[i])
		}
	}
	slices.SortStableFunc(list, func(a, b *finding.Finding) int {
		return cmp.Or(-cmp.Compare(a.Severity, b.Severity), -cmp.Compare(a.Effect.Share, b.Effect.Share), -cmp.Compare(a.Effect.Lost, b.Effect.Lost))
	})
	t.found[p.name] = list
}

// isLock reports whether a finding is about one of these network locks, which tools know by many names.
func (t *told) isLock(f *finding.Finding, names []string) bool {
	if slices.Contains(names, f.Subject.Key) {
		return true
	}
	if t.index == nil {
		t.index = kernel.NewLockIndex()
	}
	known := t.index.Find(f.Subject.Key, strings.TrimPrefix(f.Subject.Key, "at "))
	return known != nil && slices.Contains(names, known.Name)
}

// complete reports whether every part that is needed was found, in more than one source together.
func (s *story) complete(t *told) bool {
	sources := map[string]bool{}
	for _, p := range s.parts {
		if p.need && len(t.found[p.name]) == 0 {
			return false
		}
		for _, f := range t.found[p.name] {
			for _, e := range f.Evidence {
				sources[kindOf(t.result, e.Source)] = true
			}
		}
	}
	return len(sources) > 1
}

// kindOf returns what kind of source a path is, so that several files of one recording count once.
func kindOf(r *analyze.Result, path string) string {
	for i := range r.Sources {
		if r.Sources[i].Path == path {
			return string(r.Sources[i].Kind)
		}
	}
	return path
}

// How much evidence a cause shows: of each part, and together.
const (
	evidenceOfPart = 3
	evidenceMax    = 12
)

// weigh fills in what follows from the parts.
func (s *story) weigh(t *told, d *diagnosis) {
	f := &d.cause
	sure := true
	var record []finding.Advice
	var first *place
	for i := range s.parts {
		p := &s.parts[i]
		list := t.found[p.name]
		if len(list) == 0 {
			if p.want != "" {
				sure = false
				f.Reasons = append(f.Reasons, "not recorded or not found: "+p.says)
				record = append(record, finding.Advice{Text: "record next: " + p.want, Reference: s.Name})
			}
			continue
		}
		f.Reasons = append(f.Reasons, p.says+": "+brief(list[0]))
		if first == nil {
			first = t.places.of(list[0])
		} else if gap := first.gap(t.places.of(list[0])); gap > clockSlack {
			sure = false
			f.Reasons = append(f.Reasons, apartReason(gap))
		}
		for _, x := range list {
			if x.ID != "" { // no fact
				d.symptoms = append(d.symptoms, x.ID)
			}
		}
		for _, e := range list[0].Evidence[:min(len(list[0].Evidence), evidenceOfPart)] {
			if len(f.Evidence) < evidenceMax {
				f.Evidence = append(f.Evidence, e)
			}
		}
	}
	f.Advice = append(distinct(f.Advice), record...)
	f.Caveats = append(f.Caveats, s.FalsePositives)
	f.Confidence = finding.Medium
	if sure {
		f.Confidence = finding.High
	}
}

func apartReason(gap unit.Nanos) string { return fmt.Sprintf("recorded %v apart from the first", gap) }

// adviceMax bounds what a cause advises; the parts have more.
const adviceMax = 4

// distinct keeps the first of each advice, and not too many.
func distinct(list []finding.Advice) (kept []finding.Advice) {
	for _, a := range list {
		if len(kept) < adviceMax && !slices.ContainsFunc(kept, func(k finding.Advice) bool { return k.Text == a.Text }) {
			kept = append(kept, a)
		}
	}
	return kept
}

// brief returns the first part of a summary, which has its main figures.
func brief(f *finding.Finding) string {
	text, _, _ := strings.Cut(f.Summary, "; ")
	return text
}

// says takes findings whose summary holds one of these words.
func says(words ...string) func(*finding.Finding) bool {
	return func(f *finding.Finding) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(f.Summary, w) })
	}
}
