package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"nettrace/analyze"
	"nettrace/finding"
	"nettrace/kernel"
)

// story is a cause that findings of several sources tell together: each part alone is a symptom, or only a setting.
type story struct {
	finding.Rule
	parts []part
	// tell makes the cause of the parts that were found. It sets summary, subject, advice and caveats; evidence, effect,
	// severity and confidence follow from the parts. False means that they do not fit together after all.
	tell func(*told) (finding.Finding, bool)
}

// part is one kind of finding that belongs to a story.
type part struct {
	name  string // by which tell asks for it
	rules []string
	when  func(*finding.Finding) bool // nil takes every finding of the rules
	locks []string                    // names of kernel.NetworkLocks that it is about; nil is any subject
	need  bool                        // without it there is no story
	least finding.Severity            // findings below it do not count
	says  string                      // what it proves, for the reasons of the confidence
	want  string                      // how to record it, where it was not found
}

// told are the parts of a story that were found in a result.
type told struct {
	result *analyze.Result
	params finding.Params
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

// sum adds a measure up over all findings of a part.
func (t *told) sum(part, measure string) (sum float64) {
	for _, f := range t.found[part] {
		v, _ := f.Measure(measure)
		sum += v
	}
	return sum
}

// storyRule makes a rule of the table out of a story.
func storyRule(s story) rule {
	return rule{s.Rule, func(r *analyze.Result, p finding.Params) []diagnosis {
		t := &told{result: r, params: p, found: map[string][]*finding.Finding{}}
		for i := range s.parts {
			t.look(&s.parts[i])
		}
		if !s.complete(t) {
			return nil
		}
		cause, ok := s.tell(t)
		if !ok {
			return nil
		}
		d := diagnosis{cause: cause}
		s.weigh(t, &d)
		return []diagnosis{d}
	}}
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
	all := true
	for i := range s.parts {
		p := &s.parts[i]
		list := t.found[p.name]
		if len(list) == 0 {
			all = false
			if p.want != "" {
				f.Reasons = append(f.Reasons, "not recorded or not found: "+p.want)
			}
			continue
		}
		f.Reasons = append(f.Reasons, p.says+": "+brief(list[0]))
		for _, x := range list {
			d.symptoms = append(d.symptoms, x.ID)
			f.Severity = max(f.Severity, x.Severity)
			f.Effect.Share, f.Effect.Lost = max(f.Effect.Share, x.Effect.Share), max(f.Effect.Lost, x.Effect.Lost)
		}
		for _, e := range list[0].Evidence[:min(len(list[0].Evidence), evidenceOfPart)] {
			if len(f.Evidence) < evidenceMax {
				f.Evidence = append(f.Evidence, e)
			}
		}
	}
	f.Advice = distinct(f.Advice)
	f.Confidence = finding.Medium
	if all {
		f.Confidence = finding.High
	}
}

// adviceMax bounds what a cause advises; the parts have more.
const adviceMax = 5

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
