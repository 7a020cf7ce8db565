package flame

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"nettrace/fixtures/shared"
)

func re(text string) *regexp.Regexp { return regexp.MustCompile(text) }

func TestSelect(t *testing.T) {
	const text = "main;f;f;g_[k] 1\nmain;f;h 2\nmain;x;_ZN4core3fmt5write17h0123456789abcdefE 4\nidle_[k] 8\nmain 16\n"
	for _, c := range []struct {
		name string
		s    Selection
		want string
	}{
		{"nothing", Selection{}, "idle 8\nmain 16\nmain;f;f;g 1\nmain;f;h 2\nmain;x;_ZN4core3fmt5write17h0123456789abcdefE 4\n"},
		{"focus", Selection{Focus: re("^f$")}, "main;f;f;g 1\nmain;f;h 2\n"},
		{"focus by object", Selection{Focus: re("kernel")}, "idle 8\nmain;f;f;g 1\n"},
		{"ignore", Selection{Ignore: re("^(f|x)$")}, "idle 8\nmain 16\n"},
		{"hide", Selection{Hide: re("^(f|main)$")}, "g 1\nh 2\nidle 8\nx;_ZN4core3fmt5write17h0123456789abcdefE 4\n"},
		{"kernel", Selection{Kinds: []Kind{Kernel}}, "g 1\nidle 8\n"},
		{"user", Selection{Kinds: []Kind{User}, Focus: re("f")}, "main;f;f 1\nmain;f;h 2\nmain;x;_ZN4core3fmt5write17h0123456789abcdefE 4\n"},
		{"recursion", Selection{MergeRecursion: true, Focus: re("^f$")}, "main;f;g 1\nmain;f;h 2\n"},
		{"recursion behind what is hidden", Selection{MergeRecursion: true, Hide: re("^g$"), Focus: re("^f$")}, "main;f 1\nmain;f;h 2\n"},
		{"demangle", Selection{Demangle: true, Focus: re("^core::fmt")}, "main;x;core::fmt::write 4\n"},
		{"nothing is left", Selection{Focus: re("absent")}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, _ := readFolded(t, []byte(text))
			part := p.Select(c.s)
			if diff := cmp.Diff(c.want, folded(t, part, Column{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if err := part.Pprof().CheckValid(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSelectTells(t *testing.T) {
	p, _ := readPerf(t, shared.Read(t, fixture("default.perf.txt")))
	part := p.Select(Selection{Focus: re("tcp_"), Where: map[Label]*regexp.Regexp{Comm: re("iperf3"), CPU: re("^0$")}})
	whole, left := p.Events[0].Samples, part.Events[0].Samples
	if left == 0 || left >= whole {
		t.Fatalf("%d of %d samples", left, whole)
	}
	if got := strings.Join(part.Selected, "; "); !strings.Contains(got, "stacks with tcp_; comm iperf3; cpu ^0$; ") || !strings.HasSuffix(got, "samples") {
		t.Errorf("selected: %q", got)
	}
	for _, s := range part.Pprof().Sample {
		if thread(s) != "iperf3" || CPU.value(s) != "0" {
			t.Fatalf("a sample of %s on CPU %s", thread(s), CPU.value(s))
		}
	}
	again := part.Select(Selection{Hide: re("x")})
	if len(again.Selected) <= len(part.Selected) {
		t.Errorf("a part of a part: %q", again.Selected)
	}
}

// TestSelectSplits: what a pattern focuses on and what it ignores are the whole, value by value.
func TestSelectSplits(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.StringMatching(`[a-d](;[a-d]){0,4} [1-9]`), 1, 12).Draw(t, "stacks")
		p, _ := readFolded(outer, []byte(strings.Join(lines, "\n")+"\n"))
		pattern := re("^" + rapid.StringMatching("[a-d]").Draw(t, "pattern") + "$")
		with, without := p.Select(Selection{Focus: pattern}), p.Select(Selection{Ignore: pattern})
		if a, b, all := with.Events[0].PeriodSum, without.Events[0].PeriodSum, p.Events[0].PeriodSum; a+b != all {
			t.Fatalf("%d with and %d without of %d", a, b, all)
		}
		got := folded(outer, with, Column{}) + folded(outer, without, Column{})
		if strings.Count(got, "\n") != strings.Count(folded(outer, p, Column{}), "\n") {
			t.Fatal("a stack is in both or in none")
		}
	})
}

func TestBy(t *testing.T) {
	p, _ := readPerf(t, shared.Read(t, fixture("multi-event.perf.txt")))
	e := p.ByEvent()
	samples := int64(0)
	for _, x := range p.Events {
		samples += x.Samples
	}
	if len(e.Events) != 1 || e.Events[0].Samples != samples || e.Events[0].PeriodSum != samples {
		t.Fatalf("%+v, want %d samples", e.Events, samples)
	}
	roots := map[string]bool{}
	for line := range strings.Lines(folded(t, e.By("event", Comm), Column{})) {
		frames := strings.SplitN(line, ";", 3)
		roots[frames[0]+"/"+frames[1]] = true
	}
	for _, x := range p.Events {
		if !roots[x.Name+"/goload"] {
			t.Errorf("no root for %s: %v", x.Name, roots)
		}
	}
	for line := range strings.Lines(folded(t, p.By(TID), Column{})) {
		if !strings.HasPrefix(line, "tid ") {
			t.Fatalf("%q does not begin with a thread", line)
		}
	}
	if got := folded(t, p.By(), Column{}); strings.HasPrefix(got, "goload;") {
		t.Error("threads are still told apart")
	}
}

func TestDemangle(t *testing.T) {
	for name, want := range map[string]string{
		"_ZN2ns5Adder4plusEii":                                                   "ns::Adder::plus(int, int)",
		"_ZN4core3fmt5write17h0123456789abcdefE":                                 "core::fmt::write",
		"core::fmt::write::h0123456789abcdef":                                    "core::fmt::write",
		"core::fmt::write::h0123456789abcdeg":                                    "core::fmt::write::h0123456789abcdeg",
		"std::rt::lang_start::_$u7b$$u7b$closure$u7d$$u7d$::h2fb226322c254680":   "std::rt::lang_start::{{closure}}",
		"<alloc..vec..Vec$LT$T$GT$ as core..ops..Drop>::drop::h2fb226322c254680": "<alloc::vec::Vec<T> as core::ops::Drop>::drop",
		"a$u7b$b":                        "a$u7b$b",
		"_RNvC6_123foo3bar":              "123foo::bar",
		"main":                           "main",
		"_Zebra":                         "_Zebra",
		"::h0123456789abcdef":            "::h0123456789abcdef",
		"":                               "",
		"_Z" + strings.Repeat("N", 5000): "_Z" + strings.Repeat("N", 5000),
		"operator+":                      "operator+",
		"_ZZN6Client3runEvENKUliE_clEi":  "Client::run()::{lambda(int)#1}::operator()(int) const",
	} {
		if got := Demangle(name); got != want {
			t.Errorf("Demangle(%.40q) = %q, want %q", name, got, want)
		}
	}
}
