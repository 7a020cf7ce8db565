package symbol

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"nettrace/fixtures/shared"
)

const kallsyms = `ffffffff81000000 T _stext
ffffffff81000000 T _text
ffffffff81000100 T tcp_ack
ffffffff81000200 t tcp_ack.cold
ffffffff81000300 T memset
ffffffff81000300 W __memset
ffffffff81000300 T __pi_memset
ffffffff81000400 r a_table
ffffffff81000500 t $d
ffffffff81000600 T last
ffffffffc0000000 t nf_nat_init	[nf_nat]
ffffffffc0000020 t nf_nat_exit	[nf_nat]
`

func kernel(t *testing.T, text string) *Kernel {
	t.Helper()
	k, err := readKallsyms(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestKernel(t *testing.T) {
	k := kernel(t, kallsyms)
	const shift = 0x1c00000
	for _, test := range []struct {
		address   uint64
		reference string
		at        uint64
		want      string
	}{
		{0xffffffff81000150, "_text", 0xffffffff81000000, "tcp_ack+0x50"},
		{0xffffffff81000210, "_stext", 0xffffffff81000000, "tcp_ack.cold+0x10"},
		{0xffffffff81000303, "", 0, "__pi_memset+0x3"},
		{0xffffffff81000150 + shift, "_text", 0xffffffff81000000 + shift, "tcp_ack+0x50"}, // another boot
		{0xffffffff81000150 + shift, "_text", 0, "last+"},                                 // where it was is hidden: far behind the last
		{0xffffffff81000fff, "_text", 0xffffffff81000000, "last+0x9ff"},
		{0xffffffffc0000010, "_text", 0xffffffff81000000, "nf_nat_init+0x10 nf_nat"},
		{0xffffffff80ffffff, "_text", 0xffffffff81000000, ""},
		{0xffffffffc0004000, "_text", 0xffffffff81000000, ""},
	} {
		s, ok := k.Find(test.address, test.reference, test.at)
		got := ""
		if ok {
			got = strings.TrimSpace(s.Name + "+0x" + strconv.FormatUint(test.address-s.Start, 16) + " " + s.Module)
		}
		if test.want == "last+" {
			test.want = "" // the table ends a page behind its last symbol
		}
		if got != test.want {
			t.Errorf("%x with %s at %x is %q, expected %q", test.address, test.reference, test.at, got, test.want)
		}
	}
}

func TestHiddenAddresses(t *testing.T) {
	hidden := strings.NewReplacer("ffffffff81", "0000000000", "ffffffffc0", "0000000000").Replace("0000000000000000 T _text\n0000000000000000 T tcp_ack\n0000000000000000 T last\n")
	if _, err := readKallsyms(strings.NewReader(hidden)); err != errHidden {
		t.Errorf("error %v", err)
	}
	if !SniffKallsyms([]byte(hidden)) || SniffKallsyms([]byte("one two three\nfour\n")) || SniffKallsyms([]byte(strings.Repeat("ffff9b61adaff000 0   1    800405d5 0\n", 3))) { // /proc/net/netlink

		t.Error("not told apart")
	}
}

// TestPreferred chooses of several names of one address as perf does.
func TestPreferred(t *testing.T) {
	for _, test := range []struct {
		want    string
		entries []entry
	}{
		{"sized", []entry{{Symbol: Symbol{Name: "a_longer_name"}, global: true}, {Symbol: Symbol{Name: "sized"}, size: 8}}},
		{"strong", []entry{{Symbol: Symbol{Name: "weak_and_longer"}, size: 8, weak: true}, {Symbol: Symbol{Name: "strong"}, size: 8}}},
		{"shared", []entry{{Symbol: Symbol{Name: "local_longer"}, size: 8}, {Symbol: Symbol{Name: "shared"}, size: 8, global: true}}},
		{"plain", []entry{{Symbol: Symbol{Name: "__plain_longer"}, size: 8}, {Symbol: Symbol{Name: "plain"}, size: 8}}},
		{"longest", []entry{{Symbol: Symbol{Name: "long"}, size: 8}, {Symbol: Symbol{Name: "longest"}, size: 8}}},
		{"first", []entry{{Symbol: Symbol{Name: "first"}, size: 8, position: 1}, {Symbol: Symbol{Name: "other"}, size: 8, position: 2}}},
	} {
		if s, ok := newTable(test.entries).Find(0); !ok || s.Name != test.want {
			t.Errorf("chose %q, expected %q", s.Name, test.want)
		}
	}
}

func TestTableEnds(t *testing.T) {
	table := newTable([]entry{{Symbol: Symbol{Name: "a", Start: 0x1000}, size: 0x10}, {Symbol: Symbol{Name: "b", Start: 0x1100}}, {Symbol: Symbol{Name: "c", Start: 0x1200}}})
	for address, want := range map[uint64]string{0xfff: "", 0x1000: "a", 0x100f: "a", 0x1010: "", 0x11ff: "b", 0x2fff: "c", 0x3000: ""} {
		if s, _ := table.Find(address); s.Name != want {
			t.Errorf("%x is %q, expected %q", address, s.Name, want)
		}
	}
	if _, ok := (*Table)(nil).Find(0); ok {
		t.Error("the nil table finds something")
	}
}

// program opens the recorded program of the fixtures.
func program(t testing.TB) *Object {
	t.Helper()
	f, err := os.Open("../fixtures/recordings/hot")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	o, err := readObject("hot", f)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestObject(t *testing.T) {
	o := program(t)
	if hexID(o.Build)[:8] != "111eb0e6" {
		t.Errorf("build id %s", hexID(o.Build))
	}
	for offset, want := range map[uint64]string{0x1470: "checksum", 0x1501: "walk.constprop.0", 0x164b: "mainloop", 0x121f: "main"} {
		s, ok := o.AtOffset(offset)
		if base, _, _ := strings.Cut(s.Name, "."); !ok || base != strings.TrimSuffix(want, ".constprop.0") || offset < s.Start || offset >= s.End {
			t.Errorf("%x is %+v, expected %s", offset, s, want)
		}
	}
	if _, ok := o.AtOffset(1 << 40); ok {
		t.Error("a place behind the file has a function")
	}
}

// TestInlines compares with addr2line -i over every address of the recording.
func TestInlines(t *testing.T) {
	o := program(t)
	lines := 0
	for line := range strings.Lines(string(shared.Read(t, shared.Path(t, "data", "perf-data", "05-process-inline.inlines.tsv")))) {
		field := strings.Split(strings.TrimSpace(line), "\t")
		offset, err := strconv.ParseUint(field[0], 16, 64)
		if err != nil {
			continue
		}
		lines++
		var want []string
		calls := strings.Split(field[3], " <- ")
		for _, call := range calls[:len(calls)-1] {
			name, _, _ := strings.Cut(call, " ")
			want = append(want, name)
		}
		if got := o.Inlines(offset, field[1] == "caller"); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%x %s: %q, addr2line has %q", offset, field[1], got, want)
		}
	}
	if lines == 0 {
		t.Error("nothing was compared")
	}
}

// TestOpen finds objects by build id and by name, in files, archives and folders.
func TestOpen(t *testing.T) {
	build := program(t).Build
	dir := t.TempDir()
	content, err := os.ReadFile("../fixtures/recordings/hot")
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, content []byte) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("root/mnt/hot", content)
	write("cache/.build-id/"+hexID(build)[:2]+"/"+hexID(build)[2:]+"/elf", content)
	write("named/hot", content)
	write("x.map/perf-12.map", []byte("7f0000001000 20 Interpreter loop\n7f0000001000 20 made anew\n"))
	write("root/kallsyms", []byte(kallsyms))
	write("other/notes.txt", []byte("nothing of use\n"))
	for _, test := range []struct {
		path, build, name string
		found             bool
	}{
		{"root", build, "/mnt/hot", true},
		{"root", "another id", "/mnt/hot", false}, // the same name, another build
		{"root", "", "/mnt/hot", true},
		{"root", "", "/../../etc/hot", false},
		{"cache", build, "/gone/renamed", true},
		{"named/hot", build, "/gone/renamed", true},
		{"named/hot", "", "/opt/hot", true},
		{"named/hot", "", "/opt/cold", false},
	} {
		f, errs := Open([]string{filepath.Join(dir, test.path)})
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		o := f.Object(test.build, test.name)
		if (o != nil) != test.found {
			t.Errorf("%+v: found %v", test, o)
		}
		if test.found && len(f.Used()) != 1 {
			t.Errorf("%+v: used %v", test, f.Used())
		}
	}
	f, errs := Open([]string{filepath.Join(dir, "x.map"), filepath.Join(dir, "root"), filepath.Join(dir, "other/notes.txt"), filepath.Join(dir, "missing")})
	if len(errs) != 2 {
		t.Errorf("errors %v", errs)
	}
	if s, ok := f.JIT(12).Find(0x7f0000001010); !ok || s.Name != "made anew" {
		t.Errorf("run-time code is %+v", s)
	}
	if f.JIT(13) != nil {
		t.Error("another process has the same code")
	}
	if s, ok := f.Kernel().Find(0xffffffff81000150, "", 0); !ok || s.Name != "tcp_ack" {
		t.Errorf("the kernel's function is %+v", s)
	}
}

// TestArchive reads what perf archive wrote.
func TestArchive(t *testing.T) {
	f, errs := Open([]string{shared.Path(t, "data", "perf-data", "05-process-inline.archive-trimmed.tar.bz2")})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if f.Object(program(t).Build, "/mnt/hot") == nil || f.Object("", "[vdso]") == nil {
		t.Error("its objects are not found")
	}
}

func TestBeside(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	beside := func(name string) string {
		var names []string
		for _, p := range Beside(filepath.Join(dir, name)) {
			names = append(names, filepath.Base(p))
		}
		return strings.Join(names, " ")
	}
	write("a.data", "")
	write("b.data", "")
	write("one.kallsyms", kallsyms)
	write("notes.txt", "nothing")
	if got := beside("a.data"); got != "one.kallsyms" {
		t.Errorf("the only kernel is not taken: %s", got)
	}
	write("a.kallsyms", kallsyms)
	write("hot", "\x7fELF...")
	write("a.data.tar.bz2", "")
	if got := beside("a.data"); got != "a.data.tar.bz2 hot a.kallsyms" {
		t.Errorf("beside a.data are %s", got)
	}
	if got := beside("b.data"); got != "hot" {
		t.Errorf("of two kernels one was taken for b.data: %s", got)
	}
}

func FuzzKallsyms(f *testing.F) {
	f.Add([]byte(kallsyms))
	f.Fuzz(func(t *testing.T, content []byte) {
		if k, err := readKallsyms(bytes.NewReader(content)); err == nil {
			k.Find(0xffffffff81000150, "_text", 1)
		}
	})
}

func FuzzObject(f *testing.F) {
	content, err := os.ReadFile("../fixtures/recordings/hot")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content[:4096])
	f.Add(content)
	f.Fuzz(func(t *testing.T, content []byte) {
		o, err := readObject("x", bytes.NewReader(content))
		if err != nil {
			return
		}
		for _, offset := range []uint64{0x1470, 0x1486, 0x164b} {
			o.AtOffset(offset)
			o.Inlines(offset, true)
		}
	})
}

func FuzzMap(f *testing.F) {
	f.Add([]byte("7f0000001000 20 Interpreter loop\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		table, err := readMap(bytes.NewReader(content))
		if err == nil {
			table.Find(0x7f0000001000)
		}
	})
}
