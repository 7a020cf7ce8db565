package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nettrace/fixtures/shared"
)

// These are the cases of stack samples that people reported against other tools, judged by what the program prints. Each
// check quotes the line of the case's expected.md that it is for, and fails if that is no longer what the case asks.

type stackCase struct {
	*testing.T
	dir, expected string
}

func openCase(t *testing.T, name string) *stackCase {
	dir := filepath.Join(shared.Path(t, "cases"), name)
	return &stackCase{t, dir, strings.Join(strings.Fields(string(shared.Read(t, filepath.Join(dir, "expected.md")))), " ")}
}

// asks checks that the case's expected.md says so.
func (c *stackCase) asks(line string) {
	c.Helper()
	if !strings.Contains(c.expected, strings.Join(strings.Fields(line), " ")) {
		c.Errorf("expected.md does not say %q", line)
	}
}

// run runs nettrace with a file of the case as the last argument, and returns what it prints.
func (c *stackCase) run(want int, file string, args ...string) (stdout, stderr string) {
	c.Helper()
	code, stdout, stderr := command(c.T, nil, append(args, filepath.Join(c.dir, file))...)
	if code != want {
		c.Errorf("nettrace %s %s: exit code %d, want %d; %s", strings.Join(args, " "), file, code, want, stderr)
	}
	return stdout, stderr
}

func (c *stackCase) folded(file string, args ...string) string {
	c.Helper()
	stdout, _ := c.run(0, file, append([]string{"flame", "--format", "folded"}, args...)...)
	return stdout
}

type sampleRow struct {
	Comm   string   `json:"comm"`
	PID    *int     `json:"pid"`
	TID    *int     `json:"tid"`
	CPU    *int     `json:"cpu"`
	Time   int64    `json:"time_ns"`
	Event  string   `json:"event"`
	Period int64    `json:"period"`
	Stack  []string `json:"stack"`
}

// row prints a sample as the tables of the case do.
func (r *sampleRow) row() string {
	number := func(n *int) string {
		if n == nil {
			return "none"
		}
		b, _ := json.Marshal(*n)
		return string(b)
	}
	slices.Reverse(r.Stack)
	time := "none"
	if r.Time > 0 {
		time = regexp.MustCompile(`(\d{6})\d{3}$`).ReplaceAllString(string(must(json.Marshal(r.Time))), ".$1")
	}
	return strings.Join([]string{"`" + r.Comm + "`", number(r.PID), number(r.TID), number(r.CPU), time, string(must(json.Marshal(r.Period))), r.Event, "`" + strings.Join(r.Stack, ";") + "`"}, " | ")
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestCase01ThreadNames(t *testing.T) {
	c := openCase(t, "01-perf-comm-spaces-brackets")
	c.asks("No line is unrecognised. One row per sample:")
	c.asks("The event may be given with or without its modifier (`:pppH`), as long as it is the same everywhere.")
	expected := strings.NewReplacer(":pppH", "", "1 (no period given)", "1").Replace(c.expected)
	rows := 0
	for _, file := range []string{"bracket-comm", "three-words", "no-cpu-column", "no-time-no-period"} {
		stdout, stderr := c.run(0, file+".script", "records")
		if stderr != "" {
			t.Errorf("%s: %s", file, stderr)
		}
		for line := range strings.Lines(stdout) {
			var r sampleRow
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			rows++
			if row := file + " | " + r.row(); !strings.Contains(expected, "| "+row+" |") {
				t.Errorf("a row that the case does not have: %s", row)
			}
		}
	}
	if want := strings.Count(c.expected, "| bracket-comm |") + strings.Count(c.expected, "| three-words |") + strings.Count(c.expected, "| no-cpu-column |") + strings.Count(c.expected, "| no-time-no-period |"); rows != want {
		t.Errorf("%d rows, the case has %d", rows, want)
	}
}

func TestCase02Parentheses(t *testing.T) {
	c := openCase(t, "02-perf-parens-in-symbols")
	c.asks("5 samples, weight 250000 each.")
	want := []string{
		"app;main;(anonymous namespace)::run(int, char**);foo<(some_enum)0>::bar 250000",
		"app;main;main::{lambda(int)#1}::operator()(int) const;std::function<void (int)>::operator()(int) const;operator() 250000",
		"app;mlx5e_xmit;[libssl.so.3];[unknown] 250000",
		"app;runtime.goexit.abi0;net/http.(*conn).serve 250000",
		"app;syscall;java.lang.String.hashCode 250000",
	}
	if diff := cmp.Diff(want, strings.Split(strings.TrimSpace(c.folded("perf.script")), "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	stdout, _ := c.run(0, "perf.script", "flame", "--format", "json")
	var tree struct {
		Frames []struct {
			Name, Object, Kind string
			Inlined            bool
		}
	}
	if err := json.Unmarshal([]byte(stdout), &tree); err != nil {
		t.Fatal(err)
	}
	frame := func(name string) (object, kind string, inlined bool) {
		for _, f := range tree.Frames {
			if f.Name == name {
				return f.Object, f.Kind, f.Inlined
			}
		}
		t.Errorf("no frame %q", name)
		return
	}
	c.asks("Full object paths are kept somewhere")
	if object, _, _ := frame("net/http.(*conn).serve"); object != "/opt/my tools/srv (deleted)" {
		t.Errorf("the object is %q", object)
	}
	c.asks("Drop the frame with `[JIT app cache]`.")
	if object, _, _ := frame("java.lang.String.hashCode"); object != "[JIT app cache]" {
		t.Errorf("the object is %q", object)
	}
	c.asks("The object of sample 5's root is a kernel module: kernel side, not user side.")
	if _, kind, _ := frame("mlx5e_xmit"); kind != "module" {
		t.Errorf("mlx5e_xmit is %s", kind)
	}
	c.asks("The inlined frame of sample 4 counts as a frame and is marked as inlined")
	if _, _, inlined := frame("operator()"); !inlined {
		t.Error("operator() is not marked")
	}
}

func TestCase03LastEvent(t *testing.T) {
	c := openCase(t, "03-perf-last-event-crlf")
	c.asks("`one-event-no-blank-line.script`: 1 sample, `main;hot`, weight 250000.")
	if got := c.folded("one-event-no-blank-line.script"); got != "app;main;hot 250000\n" {
		t.Errorf("%q", got)
	}
	c.asks("2 samples each, `main;hot` and `main;cold`, weight 250000 each, equal results for both files.")
	a, _ := c.run(0, "no-newline-at-end.script", "records")
	b, _ := c.run(0, "crlf.script", "records")
	place := regexp.MustCompile(`,"pos":.*`)
	if a, b = place.ReplaceAllString(a, ""), place.ReplaceAllString(b, ""); a != b || strings.Count(a, `"period":250000`) != 2 {
		t.Errorf("%s\n%s", a, b)
	}
	c.asks("`app;main;hot` with 3 and `app;main;cold` with 1, total 4.")
	if got := c.folded("crlf.folded"); got != "app;main;cold 1\napp;main;hot 3\n" {
		t.Errorf("%q", got)
	}
	c.asks("0 samples and a clear message that the file holds no samples")
	if _, stderr := c.run(1, "header-only.script", "flame", "--format", "svg"); !strings.Contains(stderr, "the profile holds no samples") {
		t.Errorf("%q", stderr)
	}
	c.asks("No frame, object, event or count holds a carriage return, in JSON, SVG and HTML output too.")
	for _, form := range []string{"json", "svg", "html", "folded"} {
		stdout, _ := c.run(0, "crlf.script", "flame", "--format", form)
		if strings.Contains(stdout, "hot\r") || strings.Contains(stdout, `hot\r`) || strings.Contains(stdout, "cold\r") || strings.Contains(stdout, "\u240d") {
			t.Errorf("%s holds a carriage return", form)
		}
	}
	c.asks("Lose the last sample; report unrecognised lines for `\\r`.")
	if stdout, stderr := c.run(0, "crlf.script", "inspect"); strings.Contains(stdout+stderr, "unrecognised") || !strings.Contains(stdout, "2 samples") {
		t.Errorf("%s%s", stdout, stderr)
	}
}

func TestCase04Geometry(t *testing.T) {
	c := openCase(t, "04-flamegraph-self-width-deep")
	top := func(file string) string {
		stdout, _ := c.run(0, file, "flame", "--top", "1000", "--value", "samples")
		return stdout
	}
	c.asks("`child` 25% of the full width (not 100%)")
	if got := top("self.folded"); !regexp.MustCompile(`25 samples +25 % +25 samples +25 % +child\n`).MatchString(got) {
		t.Error(got)
	}
	c.asks("Own samples: main 10, a 20, b 30, c 0, d 40, idle 100.")
	got := top("nested-self.folded")
	for name, want := range map[string][2]string{"main": {"10", "100"}, "a": {"20", "50"}, "b": {"30", "30"}, "c": {"0", "40"}, "d": {"40", "40"}, "idle": {"100", "100"}} {
		if !regexp.MustCompile(`(?m)^\d+ +` + want[0] + ` samples +[\d.]+ % +` + want[1] + ` samples +[\d.]+ % +` + name + `$`).MatchString(got) {
			t.Errorf("%s is not %s of %s:\n%s", name, want[0], want[1], got)
		}
	}
	c.asks("Data export keeps all 2502 frames.")
	if got := c.folded("deep.folded"); strings.Count(got, ";") != 2501+1 {
		t.Errorf("%d frames", strings.Count(got, ";"))
	}
	c.asks("either the height is limited")
	svg, _ := c.run(0, "deep.folded", "flame", "--format", "svg")
	height := regexp.MustCompile(`<svg[^>]* height="(\d+)"`).FindStringSubmatch(svg)
	if height == nil || len(height[1]) > 5 || height[1] > "32767" && len(height[1]) == 5 {
		t.Errorf("height %v", height)
	}
	c.asks("the totals and `dispatch`'s 500 stay")
	if got := top("tiny.folded"); !strings.Contains(got, "1,000,500 samples") || !regexp.MustCompile(` 500 samples +0\.05 % +dispatch\n`).MatchString(got) {
		t.Error(got)
	}
}

func TestCase05Offsets(t *testing.T) {
	c := openCase(t, "05-dtrace-leaf-without-offset")
	c.asks("Total count 16. Offsets dropped (the default):")
	text := string(must(os.ReadFile(filepath.Join(c.dir, "expected.md"))))
	_, want, _ := strings.Cut(text, "```\n")
	want, _, _ = strings.Cut(want, "```")
	if got := c.folded("offsets.dtrace"); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	c.asks("is kept as an address in object `unix`")
	if got := c.folded("offsets.dtrace", "--focus", "0xfffffffffb8001d6"); !strings.Contains(got, "unix`0xfffffffffb8001d6;") {
		t.Error(got)
	}
}

func TestCase06TwoStacks(t *testing.T) {
	c := openCase(t, "06-bpftrace-offsets-two-stacks")
	c.asks("Total count 27 over five entries; folded, root first, thread name (where printed) as first element:")
	text := string(must(os.ReadFile(filepath.Join(c.dir, "expected.md"))))
	_, block, _ := strings.Cut(text, "```\n")
	block, _, _ = strings.Cut(block, "```")
	want := strings.Split(strings.TrimSpace(block), "\n")
	slices.Sort(want)
	if diff := cmp.Diff(want, strings.Split(strings.TrimSpace(c.folded("maps.bt.txt", "--demangle=false")), "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	c.asks("A demangled Rust name (`std::rt::lang_start::{{closure}}`) is right too.")
	if got := c.folded("maps.bt.txt"); !strings.Contains(got, ";std::rt::lang_start::{{closure}};") {
		t.Error(got)
	}
	c.asks("`Lost 12 events` is reported as a warning on completeness.")
	c.asks("`@bytes[iperf3]: 1048576` is no stack and adds nothing to the total.")
	stdout, _ := c.run(0, "maps.bt.txt", "inspect")
	if !regexp.MustCompile(`warning +recorder-loss at line 2, 12 times`).MatchString(stdout) || !strings.Contains(stdout, "27 samples, period sum 27") {
		t.Error(stdout)
	}
}

func TestCase26Escaping(t *testing.T) {
	c := openCase(t, "26-svg-escaping")
	c.asks("The SVG is well-formed XML (any XML parser reads it)")
	svg, _ := c.run(0, "names.folded", "flame", "--format", "svg")
	for d := xml.NewDecoder(bytes.NewReader([]byte(svg))); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
