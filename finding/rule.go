package finding

// Rule describes a judgement. Its Name is public and never changes.
type Rule struct {
	Name           string  // "tcp/stretch-ack"
	Title          string  // what it finds, in one line
	Method         string  // how it decides, in plain sentences
	Params         []Param // its thresholds
	FalsePositives string  // what may fire it wrongly, what it cannot see, and where it differs from other tools
	References     []string
}

// Param is one threshold of a rule, set with --param RULE.NAME=VALUE.
type Param struct {
	Name    string // kebab-case
	Default float64
	Unit    string
	Doc     string // what it means and where the default comes from
}

// Params are a rule's thresholds as they are in force, by name.
type Params map[string]float64

// Resolve returns the rule's thresholds with those of set, whose keys are "rule.name", in place of the defaults.
func (r Rule) Resolve(set map[string]float64) Params {
	p := Params{}
	for _, d := range r.Params {
		p[d.Name] = d.Default
		if v, ok := set[r.Name+"."+d.Name]; ok {
			p[d.Name] = v
		}
	}
	return p
}

// On is a rule together with its judgement over a model of type M: a pure function from the model and the thresholds
// to findings. Rule and Finding.ID are filled in by whoever runs it.
type On[M any] struct {
	Rule
	Judge func(M, Params) []Finding
}

// Run judges m and signs the findings with the rule's name.
func (o On[M]) Run(m M, set map[string]float64) []Finding {
	findings := o.Judge(m, o.Resolve(set))
	for i := range findings {
		findings[i].Rule = o.Name
	}
	return findings
}
