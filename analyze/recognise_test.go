package analyze

import (
	"fmt"
	"strings"
	"testing"

	"nettrace/source"
)

// TestTablesOfManyCPUsAreRecognised holds for heads that are longer than what formats are commonly recognised by.
func TestTablesOfManyCPUsAreRecognised(t *testing.T) {
	for _, cpus := range []int{8, 256, 384, 1152, 4096} {
		var names, counts strings.Builder
		for k := range cpus {
			fmt.Fprintf(&names, "CPU%-8d", k)
			fmt.Fprintf(&counts, " %10d", k)
		}
		for want, text := range map[string]string{
			"proc-interrupts": "           " + names.String() + "\n   0:" + counts.String() + "  IO-APIC    2-edge      timer\n",
			"proc-softirqs":   "                    " + names.String() + "\n          HI:" + counts.String() + "\n",
		} {
			in := source.NewInput("t", strings.NewReader(text))
			if f := recognise(Formats(), headOf(in.Peek), true); f == nil || f.Name != want {
				t.Errorf("%s of %d CPUs is recognised as %v", want, cpus, f)
			}
		}
	}
}
