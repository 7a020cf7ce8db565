package datapath

import (
	"strings"
	"testing"
)

// A constant without provenance is refused, and so is everything else that is not as it should be.
func TestConstantsRefused(t *testing.T) {
	line := "wake\t5.0\tus\tassumed\t2.5\tassumed: wake-up of a sleeping reader on another CPU"
	frozen := constantsFile(t, adaptiveRX)
	if !strings.Contains(frozen, line) {
		t.Fatal("the line that the cases change is not in the file")
	}
	for with, problem := range map[string]string{
		"wake\t5.0\tus\tassumed\t2.5\t":             "wake has no source: a constant without provenance is refused",
		"wake\t5.0\tus\tassumed\t2.5\t  ":           "no source",
		"wake\t5.0\tus\tassumed\t2.5":               "5 fields",
		"wake\t5.0\tus\t\t2.5\tmeasured":            `role ""`,
		"wake\t5.0\tus\tassumed\t\tmeasured":        `uncertainty ""`,
		"wake\t5.0\tus\tassumed\tNaN\tmeasured":     `uncertainty "NaN"`,
		"wake\t5.0\tms\tassumed\t2.5\tmeasured":     `wake is in "ms", expected us`,
		"wake\t-5\tus\tassumed\t2.5\tmeasured":      `wake is "-5"`,
		"wake\tNaN\tus\tassumed\t2.5\tmeasured":     `wake is "NaN"`,
		"wake\t0.5\tus\tassumed\t2.5\tmeasured":     "wake-jitter is more than wake",
		"sleep\t5.0\tus\tassumed\t2.5\tmeasured":    `constant "sleep" is not known`,
		"packet\t0.4\tus\tassumed\t0.2\tmeasured":   `constant "packet" is there twice`,
		"latency\t0.05\tus\tfitted\t0.2\tmeasured":  "is there twice",
		"# the constant is absent in this variant.": `constant "wake" is absent`,
	} {
		_, err := ParseConstants("x.tsv", strings.Replace(frozen, line, with, 1), adaptiveRX)
		if err == nil || !strings.Contains(err.Error(), problem) || !strings.HasPrefix(err.Error(), "x.tsv:") {
			t.Errorf("%q: %v, expected %q", with, err, problem)
		}
	}
}

// Free constants of the adaptive-rx table: five.
func TestConstantRoles(t *testing.T) {
	c, err := FrozenConstants(adaptiveRX)
	if err != nil {
		t.Fatal(err)
	}
	count := map[Role]int{}
	for _, k := range c.List() {
		count[k.Role]++
	}
	if count[Fitted] != 5 || count[Given] != 2 || count[Assumed] != len(c.List())-7 {
		t.Errorf("roles are %v", count)
	}
}

func FuzzParseConstants(f *testing.F) {
	for _, m := range machines() {
		f.Add(m.name, constantsFile(f, m.name))
	}
	f.Add(adaptiveRX, "wake\t5.0\tus\tassumed\t2.5\tx\n")
	f.Fuzz(func(t *testing.T, machine, text string) {
		c, err := ParseConstants("x", text, machine)
		if err != nil {
			return
		}
		for _, k := range c.List() {
			if k.Source == "" || k.Role == "" {
				t.Fatalf("%+v is taken", k)
			}
		}
	})
}

func constantsFile(t testing.TB, machine string) string {
	t.Helper()
	text, err := frozenConstants.ReadFile("constants/" + machine + ".tsv")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
