package perf

import "testing"

func TestSplitFrame(t *testing.T) {
	for _, c := range []struct {
		text, symbol, dso string
		offset            uint64
		hasOffset         bool
	}{
		{"_copy_to_iter+0x80 ([kernel.kallsyms])", "_copy_to_iter", "[kernel.kallsyms]", 0x80, true},
		{"foo<(some_enum)0>::bar+0x30 (/home/u/bench/app)", "foo<(some_enum)0>::bar", "/home/u/bench/app", 0x30, true},
		{"(anonymous namespace)::run(int, char**)+0x21 (/a)", "(anonymous namespace)::run(int, char**)", "/a", 0x21, true},
		{"(anonymous namespace)::run(int, char**) (/a)", "(anonymous namespace)::run(int, char**)", "/a", 0, false},
		{"(anonymous namespace)::run(int)", "(anonymous namespace)::run(int)", "", 0, false},
		{"java.lang.String.hashCode ([JIT app cache])", "java.lang.String.hashCode", "[JIT app cache]", 0, false},
		{"net/http.(*conn).serve+0x5c0 (/opt/my tools/srv (deleted))", "net/http.(*conn).serve", "/opt/my tools/srv (deleted)", 0x5c0, true},
		{"net/http.(*conn).serve (/opt/my tools/srv (deleted))", "net/http.(*conn).serve", "/opt/my tools/srv (deleted)", 0, false},
		{"std::function<void (int)>::operator()(int) const+0x10 (/a)", "std::function<void (int)>::operator()(int) const", "/a", 0x10, true},
		{"std::function<void (int)>::operator()(int) const (/a)", "std::function<void (int)>::operator()(int) const", "/a", 0, false},
		{"operator()+0x0 (inlined)", "operator()", "inlined", 0, true},
		{"operator+++0x1a0 (/a)", "operator++", "/a", 0x1a0, true},
		{"operator+ (/a)", "operator+", "/a", 0, false},
		{"[unknown] ([unknown])", "[unknown]", "[unknown]", 0, false},
		{`RegExp:[&<>\"\'] (/tmp/perf-7539.map)`, `RegExp:[&<>\"\']`, "/tmp/perf-7539.map", 0, false},
		{"f+0x1 (/a)  0x401a10/0x401a20/P/-/-/3  0x1/0x2/M/-/-/0", "f", "/a", 1, true},
		{"foo+0x30 (/home/u/bench/app+0x36e)", "foo", "/home/u/bench/app", 0x30, true}, // -F +dsoff, since perf 6.4
		{"[unknown] (/a (deleted)+0x2d3a1)", "[unknown]", "/a (deleted)", 0, false},
		{"f ([mlx5_core]+0xc3d1)", "f", "[mlx5_core]", 0, false},
		{"f", "f", "", 0, false},
		{"f+0x12", "f", "", 0x12, true},
		{"([kernel.kallsyms])", "", "[kernel.kallsyms]", 0, false},
		{"f (/tmp/a(b)", "f", "/tmp/a(b", 0, false},
		{"f+0xzz (/a)", "f+0xzz", "/a", 0, false},
		{"start_thread (/lib/x86_64-linux-gnu", "start_thread", "/lib/x86_64-linux-gnu", 0, false},
		{"start_secondary ([kernel.kallsyms])/libpthread-2.19.so)", "start_secondary", "[kernel.kallsyms])/libpthread-2.19.so)", 0, false},
		{"f+0x1 (/lib/x86", "f", "/lib/x86", 1, true},
		{"", "", "", 0, false},
	} {
		p := splitFrame([]byte(c.text))
		if string(p.symbol) != c.symbol || string(p.dso) != c.dso || p.offset != c.offset || p.hasOffset != c.hasOffset {
			t.Errorf("%q: got symbol %q, object %q, offset %#x %v", c.text, p.symbol, p.dso, p.offset, p.hasOffset)
		}
	}
}

func TestCutAddress(t *testing.T) {
	for _, c := range []struct {
		line    string
		address uint64
		text    string
		ok      bool
	}{
		{"\tffffffff81b6ccb0 f (x)", 0xffffffff81b6ccb0, "f (x)", true},
		{"\t           f82ad read (x)", 0xf82ad, "read (x)", true},
		{"        b3cea6c4\tLock::unlock() (x)", 0xb3cea6c4, "Lock::unlock() (x)", true},
		{"\tffffffff81b6ccb0", 0xffffffff81b6ccb0, "", true},
		{"  file.c:12", 0, "", false},
		{"\tffffffff81b6ccb0f f", 0, "", false}, // 17 digits
		{"\t0x12 f", 0, "", false},
		{"", 0, "", false},
	} {
		address, text, ok := cutAddress([]byte(c.line))
		if ok != c.ok || ok && (address != c.address || string(text) != c.text) {
			t.Errorf("cutAddress(%q) = %#x, %q, %v", c.line, address, text, ok)
		}
	}
}
