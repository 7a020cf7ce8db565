package collect

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestScripts holds every script to what a shell reads, and to its promise: the head names each step.
func TestScripts(t *testing.T) {
	for _, system := range Systems() {
		for _, question := range Questions() {
			for _, peer := range []bool{false, true} {
				script, err := Script(Options{Question: question, System: system, Interface: "it's; rm -rf /", Peer: peer})
				if err != nil {
					t.Fatal(err)
				}
				head, body, _ := strings.Cut(script, "LC_ALL=C")
				for _, m := range regexp.MustCompile(`(?m)^step (\S+) (\S+) `).FindAllStringSubmatch(body, -1) {
					if !strings.Contains(head, "#   "+m[2]) {
						t.Errorf("%s %s: the head does not name %s", system, question, m[2])
					}
				}
				if peer != strings.Contains(body, "$1-peer.$2.") {
					t.Errorf("%s %s: files of the other host are named like those of this one", system, question)
				}
				if !strings.Contains(body, `IF='it'\''s; rm -rf /'`) {
					t.Errorf("the interface's name is not quoted: %s", body[:200])
				}
				if sh, err := exec.LookPath("sh"); err == nil {
					cmd := exec.Command(sh, "-n")
					cmd.Stdin = strings.NewReader(script)
					if out, err := cmd.CombinedOutput(); err != nil {
						t.Errorf("%s %s: %v: %s", system, question, err, out)
					}
				}
			}
		}
	}
}

// TestQuestionsDiffer: each question records something that another does not.
func TestQuestionsDiffer(t *testing.T) {
	seen := map[string]Question{}
	for _, q := range Questions() {
		script, err := Script(Options{Question: q, System: "linux"})
		if err != nil {
			t.Fatal(err)
		}
		_, body, _ := strings.Cut(script, "LC_ALL=C")
		if other, dup := seen[body]; dup {
			t.Errorf("%s and %s record the same", q, other)
		}
		seen[body] = q
	}
}

func TestRefused(t *testing.T) {
	for _, o := range []Options{{Question: "speed", System: "linux"}, {Question: CPU, System: "plan9"}, {Question: CPU, System: "linux", Seconds: -1}, {Question: CPU, System: "linux", Seconds: 1e6}} {
		if _, err := Script(o); err == nil || !strings.Contains(err.Error(), "expected") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// TestRun runs the script for this machine: what is there is recorded under names that tell tag, tool and time, and what is
// missing is in the log.
func TestRun(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if _, proc := os.Stat("/proc/net/dev"); err != nil || proc != nil {
		t.Skip("a shell and Linux' /proc are needed")
	}
	dir := filepath.Join(t.TempDir(), "a bundle")
	script, err := Script(Options{Question: Drops, System: "linux", Interface: "lo", Seconds: 1, Folder: dir})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(sh, "-s")
	cmd.Stdin = strings.NewReader(script)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`^(before|during|after)\.[a-zA-Z_-]+\.\d{8}T\d{6}\.\d{3}Z\.(txt|pcap|data|kallsyms)$`)
	counted := map[string]int{}
	for _, f := range files {
		if f.Name() != "collect.log" && !name.MatchString(f.Name()) {
			t.Errorf("a file named %s", f.Name())
		}
		for _, tool := range []string{"proc-net-dev", "proc-stat"} {
			if strings.Contains(f.Name(), "."+tool+".") {
				counted[tool]++
			}
		}
	}
	if counted["proc-net-dev"] != 2 || counted["proc-stat"] != 2 {
		t.Errorf("counters before and after are not both there: %v", files)
	}
}
