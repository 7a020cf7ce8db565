// Package finding holds what nettrace says: a Finding with its measures, evidence, advice and caveats, and the Rule that
// made it. It knows nothing of the models that rules judge.
package finding

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"nettrace/source"
	"nettrace/unit"
)

// Severity grades a finding by what it costs the user.
type Severity uint8

const (
	Info     Severity = iota // true and worth knowing, costs nothing here
	Notice                   // costs little, or could cost much under another load
	Warning                  // costs throughput, latency or CPU
	Critical                 // the main cost of what was recorded
)

var severityNames = [...]string{"info", "notice", "warning", "critical"}

func (s Severity) String() string               { return severityNames[min(int(s), len(severityNames)-1)] }
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a severity's name.
func (s *Severity) UnmarshalText(text []byte) error { return parse(text, severityNames[:], s) }

// Level grades how sure a finding is.
type Level uint8

const (
	Low Level = iota
	Medium
	High
)

var levelNames = [...]string{"low", "medium", "high"}

func (l Level) String() string               { return levelNames[min(int(l), len(levelNames)-1)] }
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads a level's name.
func (l *Level) UnmarshalText(text []byte) error { return parse(text, levelNames[:], l) }

func parse[T ~uint8](text []byte, names []string, to *T) error {
	i := slices.Index(names, string(text))
	if i < 0 {
		return fmt.Errorf("%q is none of %q", text, names)
	}
	*to = T(i)
	return nil
}

// Finding is one judgement about what was recorded.
type Finding struct {
	ID         string     `json:"id"`   // stable across runs: a hash of rule, subject and ordinal
	Rule       string     `json:"rule"` // "tcp/stretch-ack": public, never renamed
	Severity   Severity   `json:"severity"`
	Confidence Level      `json:"confidence"`
	Reasons    []string   `json:"confidence_reasons"` // why the confidence is what it is
	Effect     Effect     `json:"effect"`
	Subject    Subject    `json:"subject"`
	Source     string     `json:"source"`   // the source it was found in, "" if it rests on several
	Start      unit.Nanos `json:"start_ns"` // since the source's epoch; 0 where the source has no clock
	End        unit.Nanos `json:"end_ns"`
	Summary    string     `json:"summary"` // one sentence with numbers and units
	Measures   []Measure  `json:"measures"`
	Evidence   []Evidence `json:"evidence"` // a handful, representative, in the order of reading
	Advice     []Advice   `json:"advice"`
	Caveats    []string   `json:"caveats"`             // why this may be wrong
	CausedBy   string     `json:"caused_by,omitempty"` // the identifier of the finding that explains this one
}

// Subject is what a finding is about. Key is stable across runs of the same set-up (a server's endpoint, a lock class,
// a queue), so that findings of two results can be matched; Name is for people.
type Subject struct {
	Kind string `json:"kind"` // connection, server, capture, lock, function, interface, interrupt, benchmark
	Key  string `json:"key"`
	Name string `json:"name"`
}

// Effect is what the subject costs; findings of one severity are ranked by it, share first.
type Effect struct {
	Lost  unit.Nanos `json:"lost_ns"` // time lost in the recording
	Share float64    `json:"share"`   // of throughput, transaction rate, time or CPU, 0 to 1
}

// Measure is one number of a finding.
type Measure struct {
	Name      string   `json:"name"` // snake_case
	Value     float64  `json:"value"`
	Unit      string   `json:"unit"` // as unit.Format takes it
	Expected  *float64 `json:"expected,omitempty"`
	Threshold *float64 `json:"threshold,omitempty"`
}

// Evidence is a place in an input that proves a finding.
type Evidence struct {
	source.Pos
	Text string `json:"text"`
}

// Advice is something to change or to look at next.
type Advice struct {
	Text      string      `json:"text"`
	Reference string      `json:"reference"`
	Predicted *Prediction `json:"predicted"`

	NotPredicted string `json:"not_predicted,omitempty"` // why there is no prediction, where one could be expected
}

// Prediction is what an advice is expected to bring.
type Prediction struct {
	Value       float64  `json:"value"`
	Low         float64  `json:"low"`
	High        float64  `json:"high"`
	Unit        string   `json:"unit"`
	Assumptions []string `json:"assumptions"`
}

// At makes evidence of a place.
func At(pos source.Pos, format string, args ...any) Evidence {
	return Evidence{Pos: pos, Text: fmt.Sprintf(format, args...)}
}

// Threshold returns a pointer for Measure.Threshold and Measure.Expected.
func Threshold(v float64) *float64 { return &v }

// Measure returns the value of the measure of that name, and whether the finding has it.
func (f *Finding) Measure(name string) (float64, bool) {
	for _, m := range f.Measures {
		if m.Name == name {
			return m.Value, true
		}
	}
	return 0, false
}

// Rank puts findings in the order in which they are shown (severity; causes before what they explain; effect, confidence,
// rule, subject), gives them their identifiers and makes every list non-nil.
func Rank(findings []Finding) []Finding {
	order(findings)
	identify(findings)
	return present(findings)
}

// Rename has change say otherwise what findings are about. Their order and identifiers follow from that, and their causes
// stay.
func Rename(findings []Finding, change func(*Finding)) []Finding {
	for i := range findings {
		change(&findings[i])
	}
	order(findings)
	before := make([]string, len(findings))
	for i := range findings {
		before[i] = findings[i].ID
	}
	identify(findings)
	now := map[string]string{}
	for i := range findings {
		now[before[i]] = findings[i].ID
	}
	for i := range findings {
		findings[i].CausedBy = now[findings[i].CausedBy]
	}
	return findings
}

func order(findings []Finding) {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(-cmp.Compare(a.Severity, b.Severity), explained(a, b), -cmp.Compare(a.Effect.Share, b.Effect.Share), -cmp.Compare(a.Effect.Lost, b.Effect.Lost),
			-cmp.Compare(a.Confidence, b.Confidence), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Subject.Key, b.Subject.Key), cmp.Compare(a.Source, b.Source))
	})
}

func identify(findings []Finding) {
	seen := map[string]int{}
	for i := range findings {
		f := &findings[i]
		subject := f.Rule + "\x00" + f.Subject.Kind + "\x00" + f.Subject.Key
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", subject, seen[subject]))
		seen[subject]++
		f.ID = hex.EncodeToString(sum[:8])
		f.Reasons, f.Measures, f.Evidence, f.Advice, f.Caveats = present(f.Reasons), present(f.Measures), present(f.Evidence), present(f.Advice), present(f.Caveats)
		for j := range f.Advice {
			if p := f.Advice[j].Predicted; p != nil {
				p.Assumptions = present(p.Assumptions)
			}
		}
	}
}

func explained(a, b Finding) int {
	switch aIs, bIs := a.CausedBy != "", b.CausedBy != ""; {
	case aIs == bIs:
		return 0
	case aIs:
		return 1
	default:
		return -1
	}
}

func present[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
