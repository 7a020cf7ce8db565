package tui

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The tests below drive the built program in tmux and read its screen, as a user does.

// patience is how long a screen may take: other programs share the machine.
const patience = 20 * time.Second

var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "nettrace-explore-")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "nettrace")
	if out, err := exec.Command("go", "build", "-o", binary, "nettrace/cmd/nettrace").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %v\n%s", err, out)
	}
	return binary, nil
})

// terminal is a shell in tmux, in the checkout.
type terminal struct {
	t      *testing.T
	socket string
	binary string
}

func newTerminal(t *testing.T, width, height int) *terminal {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed: the explorer is not driven end to end")
	}
	binary, err := build()
	if err != nil {
		t.Fatal(err)
	}
	checkout, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	x := &terminal{t: t, socket: filepath.Join(t.TempDir(), "tmux"), binary: binary}
	x.tmux("-f", "/dev/null", "new-session", "-d", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height), "-c", checkout, "env -u NO_COLOR PS1='$ ' TERM=screen-256color sh")
	t.Cleanup(func() { exec.Command("tmux", "-S", x.socket, "kill-server").Run() })
	x.wait("$")
	return x
}

func (x *terminal) tmux(args ...string) string {
	x.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", x.socket}, args...)...).CombinedOutput()
	if err != nil {
		x.t.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// explore starts the explorer; environment and arguments are as in a shell.
func (x *terminal) explore(environment, arguments string) {
	x.t.Helper()
	x.shell(environment + " " + x.binary + " explore " + arguments)
}

// shell types a command line. The screen is cleared, so that what is waited for is not the command itself.
func (x *terminal) shell(line string) {
	x.t.Helper()
	x.tmux("send-keys", "-l", "clear; "+line)
	x.tmux("send-keys", "Enter")
}

func (x *terminal) press(keys ...string) {
	x.t.Helper()
	x.tmux(append([]string{"send-keys"}, keys...)...)
}

func (x *terminal) screen() string { x.t.Helper(); return x.tmux("capture-pane", "-p") }

// wait waits until all texts are on the screen and returns it.
func (x *terminal) wait(texts ...string) string {
	x.t.Helper()
	screen := ""
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		screen = x.screen()
		found := true
		for _, text := range texts {
			found = found && strings.Contains(screen, text)
		}
		if found {
			return screen
		}
	}
	x.t.Fatalf("%q did not come; the screen is\n%s", texts, screen)
	return ""
}

// restored checks that the terminal is as before: the normal screen with a cursor, no mouse, and what is typed is seen.
func (x *terminal) restored() {
	x.t.Helper()
	x.wait("$")
	if got := strings.TrimSpace(x.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{keypad_cursor_flag}")); got != "0 1 0 0" {
		x.t.Errorf("alternate screen, cursor, mouse, cursor keys: %s, want 0 1 0 0", got)
	}
	x.tmux("send-keys", "-l", "echo it is $((40+2))")
	x.wait("echo it is $((40+2))") // the echo of the terminal
	x.press("Enter")
	x.wait("it is 42")
}

func TestTmuxProofInFiveKeys(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}, {60, 16}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			x := newTerminal(t, size[0], size[1])
			x.explore("", bundle)
			x.wait("C critical", "cross/adaptive-rx")
			x.press("p")
			x.wait("gso3-receiver.pcap #1", "▸")
			x.press("n")
			x.wait("the rest of a message of 4345 bytes")
			x.press("Enter")
			x.wait("packet 6", "tail-visible")
			x.press("q")
			x.wait("nettrace: to see this again: nettrace explore fixtures/bundl") // 60 columns
			x.restored()
		})
	}
}

func TestTmuxKeysWhileDataComesFromAPipe(t *testing.T) {
	x := newTerminal(t, 80, 24)
	x.shell("cat fixtures/pcap/rr-4345-wire.pcap | " + x.binary + " explore -")
	x.wait("tcp/tso-split")
	x.press("p", "Enter")
	x.wait("packet 7", "Ethernet")
	x.press("q")
	x.restored()
}

func TestTmuxResizeStorm(t *testing.T) {
	x := newTerminal(t, 100, 30)
	x.explore("", bundle)
	x.wait("cross/adaptive-rx")
	x.press("7", "G")
	x.wait("▸ rr-4345-wire.pcap")
	for i := range 30 {
		x.tmux("resize-window", "-x", strconv.Itoa(40+i*29%160), "-y", strconv.Itoa(8+i*7%50))
	}
	x.tmux("resize-window", "-x", "80", "-y", "24")
	x.wait("▸ rr-4345-wire.pcap", "7 Sources]")
	x.press("q")
	x.restored()
}

// sgr finds the parameters of styles; those of colours are 30 to 37, 38, 40 to 47, 48 and 90 to 107.
var sgr = regexp.MustCompile("\x1b\\[([0-9;:]*)m")

func colours(screen string) (found []string) {
	for _, m := range sgr.FindAllStringSubmatch(screen, -1) {
		for _, p := range strings.FieldsFunc(m[1], func(r rune) bool { return r == ';' || r == ':' }) {
			if n, _ := strconv.Atoi(p); n >= 30 && n <= 38 || n >= 40 && n <= 48 || n >= 90 && n <= 107 {
				found = append(found, m[0])
				break
			}
		}
	}
	return found
}

func TestTmuxNoColor(t *testing.T) {
	x := newTerminal(t, 80, 24)
	x.explore("NO_COLOR=yes", bundle)
	for _, key := range []string{"1", "3", "5", "6", "7", "?"} {
		x.wait("nettrace  rr-4345")
		x.press(key)
		time.Sleep(200 * time.Millisecond)
		if c := colours(x.tmux("capture-pane", "-p", "-e")); len(c) > 0 {
			t.Errorf("NO_COLOR=yes, after %s: colours %q", key, c)
		}
	}
	x.press("Escape")
	x.wait("▸") // the list below the dialog
	x.press("q")
	x.restored()
	x.explore("", bundle)
	x.wait("nettrace  rr-4345")
	if c := colours(x.tmux("capture-pane", "-p", "-e")); len(c) == 0 {
		t.Error("without NO_COLOR there is no colour")
	}
}

func TestTmuxConsoleWithoutUnicode(t *testing.T) {
	x := newTerminal(t, 80, 24)
	x.explore("TERM=linux", bundle)
	for _, key := range []string{"1", "4", "5", "6"} {
		x.press(key)
		for _, r := range x.wait("nettrace  rr-4345") {
			if r > 0x7e {
				t.Fatalf("TERM=linux: %q on the screen", r)
			}
		}
	}
	x.press("q")
	x.restored()
}

func TestTmuxCopy(t *testing.T) {
	x := newTerminal(t, 80, 24)
	x.tmux("set-option", "-s", "set-clipboard", "on")
	x.explore("", bundle)
	x.wait("cross/adaptive-rx")
	x.press("y")
	x.wait("the command that prints this")
	x.press("y")
	x.wait("copied the finding as Markdown")
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		out, _ := exec.Command("tmux", "-S", x.socket, "show-buffer").CombinedOutput()
		if strings.Contains(string(out), "## CRITICAL: adaptive interrupt moderation") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("tmux's buffer is %q", out)
		}
	}
}

// TestTmuxReplayAndPlot moves a setting, and draws a connection, in the three sizes.
func TestTmuxReplayAndPlot(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}, {60, 16}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			x := newTerminal(t, size[0], size[1])
			x.explore("", bundle)
			x.wait("C critical", "cross/adaptive-rx")
			x.press(":")
			x.tmux("send-keys", "-l", "replay stream")
			x.press("Enter")
			x.wait("Replay › stream", "throughput", "per-fragment")
			x.press("Right")
			x.wait("< per-page >", "+212 %")
			x.press("2", "t")
			x.wait("connection 1 over time", "stretch ACK", "⡇")
			x.press("[", "[")
			x.wait("Replay › stream")
			x.press("q")
			x.restored()
		})
	}
}

// TestTmuxPlotInASCII draws it without other characters.
func TestTmuxPlotInASCII(t *testing.T) {
	x := newTerminal(t, 80, 24)
	x.explore("TERM=linux", "fixtures/pcap/loss-queue-sender.pcap")
	x.wait("tcp/retransmission")
	x.press("2", "t")
	for _, r := range x.wait("connection 1 over time", "R sent again") {
		if r > 0x7e {
			t.Fatalf("TERM=linux: %q on the screen", r)
		}
	}
}

// TestTmuxThemes takes the colours that are asked for, or those for the background that the terminal answers with. tmux shows
// the nearest of 256 colours: that of the titles tells the theme.
func TestTmuxThemes(t *testing.T) {
	for _, c := range []struct{ background, theme, title string }{
		{"#ffffff", "", "38;5;25"}, {"#000000", "", "38;5;117"}, {"#000000", "--theme light", "38;5;25"}, {"#ffffff", "--theme dark", "38;5;117"}, {"#000000", "--theme high-contrast", "38;5;123"},
	} {
		x := newTerminal(t, 80, 24)
		x.tmux("set-option", "-w", "window-style", "bg="+c.background)
		x.explore("", c.theme+" "+bundle)
		x.wait("cross/adaptive-rx")
		for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
			found := strings.Join(colours(x.tmux("capture-pane", "-p", "-e")), " ")
			if strings.Contains(found, c.title+"m") {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("background %s, %q: colours %q, want %s among them", c.background, c.theme, found, c.title)
			}
		}
		x.press("q")
		x.restored()
	}
}

// TestTmuxPanic ends in a panic: the terminal is restored, and what happened is told.
func TestTmuxPanic(t *testing.T) {
	x := newTerminal(t, 80, 24)
	test, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	x.shell(panicking + "=yes " + test)
	x.wait("[1 Findings]", "findings (")
	x.press("o")
	x.wait("file: ")
	x.press("C-u")
	x.tmux("send-keys", "-l", filepath.Join(t.TempDir(), "report.html"))
	x.press("Enter")
	x.wait("it ended: ")
	x.restored()
}

func TestTmuxTerminated(t *testing.T) {
	x := newTerminal(t, 80, 24)
	x.explore("", bundle)
	x.wait("cross/adaptive-rx")
	shell := strings.TrimSpace(x.tmux("display-message", "-p", "#{pane_pid}"))
	out, err := exec.Command("ps", "-o", "pid=", "--ppid", shell).Output()
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	x.restored()
}

func TestTmuxNotATerminalPrintsText(t *testing.T) {
	x := newTerminal(t, 200, 24)
	x.shell(x.binary + " explore " + bundle + " | head -n 4")
	x.wait("nothing lost", "CRITICAL", "what")
	x.restored()
}

// TestTmuxFirstRowsOfALargeCapture opens a capture of 1 GB, most of which is a hole in the file.
func TestTmuxFirstRowsOfALargeCapture(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.pcap")
	largeCapture(t, path, 1_000_000_000)
	x := newTerminal(t, 80, 24)
	x.wait("$")
	x.tmux("send-keys", "-l", "clear; "+x.binary+" explore "+path)
	start := time.Now()
	x.press("Enter")
	x.wait("192.0.2.1:1000")
	took := time.Since(start)
	t.Logf("first rows of 1 GB after %d ms", took.Milliseconds())
	if took > 2*time.Second {
		t.Errorf("first rows after %v", took)
	}
	x.press("3", "G")
	x.wait("▸") // the last packet, when the index is there
	x.press("q")
	x.restored()
}

// largeCapture writes a capture whose packets have 256 KB of payload that is never written.
func largeCapture(t *testing.T, path string, size int64) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const payload = 256_000
	u32 := binary.LittleEndian.AppendUint32
	head := append([]byte("\xd4\xc3\xb2\xa1\x02\x00\x04\x00"), make([]byte, 8)...)
	if _, err := f.Write(u32(u32(head, 262144), 1)); err != nil {
		t.Fatal(err)
	}
	for n, at := uint32(1), int64(24); at < size; n++ {
		frame := append(make([]byte, 12), 0x08, 0x00, 0x45, 0, 0, 0, 0, 0, 0, 0, 64, 6, 0, 0, 192, 0, 2, 1, 198, 51, 100, 2, 1000>>8, 1000&0xff, 0, 80)
		frame = binary.BigEndian.AppendUint32(frame, n*payload)
		frame = append(frame, 0, 0, 0, 1, 0x50, 0x10, 1, 0, 0, 0, 0, 0)
		length := uint32(len(frame) + payload)
		record := append(u32(u32(u32(u32(nil, 1000+n/1000), n%1000*1000), length), length), frame...)
		if _, err := f.WriteAt(record, at); err != nil {
			t.Fatal(err)
		}
		at += 16 + int64(length)
		if err := f.Truncate(at); err != nil {
			t.Fatal(err)
		}
	}
}
