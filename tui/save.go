package tui

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	tea "charm.land/bubbletea/v2"

	"nettrace/unit"
)

// savedMsg tells of a file that was written, or why it was not.
type savedMsg struct {
	name, what string
	bytes      int64
	err        error
	opened     bool
}

// askFile asks for the name of a file and writes it in the background. A file that exists is left alone.
func (m *Model) askFile(what, name string, write func(io.Writer) error) {
	m.askFileThen(what, name, write, func(string) bool { return false })
}

func (m *Model) askFileThen(what, name string, write func(io.Writer) error, then func(name string) bool) {
	m.prompt = &prompt{
		sign: "file: ", edit: edit{name, len(name)},
		hint:     func() string { return "Enter writes " + what },
		complete: completePath,
		entered: func(text string) act {
			name := strings.TrimSpace(text)
			if name == "" {
				return say("no name, no file")
			}
			return act{say: "writing " + clean(name), cmd: func() tea.Msg {
				n, err := save(name, write)
				msg := savedMsg{name: name, what: what, bytes: n, err: err}
				msg.opened = err == nil && then(name)
				return msg
			}}
		},
	}
}

// save writes a new file. It does not stay if it cannot be written whole.
func save(name string, write func(io.Writer) error) (int64, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return 0, fmt.Errorf("%s exists already: expected a new name", name)
	}
	if err != nil {
		return 0, err
	}
	b := bufio.NewWriterSize(f, 64<<10)
	err = write(b)
	if err == nil {
		err = b.Flush()
	}
	info, serr := f.Stat()
	if err = errors.Join(err, serr, f.Close()); err != nil {
		os.Remove(name)
		return 0, err
	}
	return info.Size(), nil
}

func (m *Model) saved(msg savedMsg) {
	if msg.err != nil {
		m.said = "not written: " + clean(msg.err.Error())
		return
	}
	m.written = append(m.written, msg.name)
	m.said = clean(msg.name) + " written: " + msg.what + ", " + unit.Bytes(msg.bytes)
	if msg.opened {
		m.said += "; opened"
	}
}

// fileName makes a name of the incident's that is free, in the current folder: "rr-4345-flows.txt".
func (m *Model) fileName(what, ending string) string {
	base := strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == ' ' || r < ' ' {
			return '-'
		}
		return r
	}, strings.Trim(filepath.Base(m.incident()), ". "))
	if base == "" || base == "-" || len(base) > 80 {
		base = "nettrace"
	}
	if what != "" {
		base += "-" + what
	}
	name := base + ending
	for n := 2; n < 100; n++ {
		if _, err := os.Lstat(name); err != nil {
			break
		}
		name = fmt.Sprintf("%s-%d%s", base, n, ending)
	}
	return name
}

// completePath returns the paths that a text may become.
func completePath(text string) (found []string) {
	dir, begun := filepath.Split(text)
	entries, err := os.ReadDir(filepath.Clean("./" + dir))
	if filepath.IsAbs(text) {
		entries, err = os.ReadDir(dir)
	}
	if err != nil {
		return nil
	}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, begun) || strings.HasPrefix(name, ".") && begun == "" {
			continue
		}
		if e.IsDir() {
			name += "/"
		}
		found = append(found, dir+name)
	}
	return found
}

// openOutside shows a file in the browser, where there is a desktop to do so.
func openOutside(env []string) func(name string) bool {
	return func(name string) bool {
		opener := "xdg-open"
		switch {
		case runtime.GOOS == "darwin":
			opener = "open"
		case variable(env, "DISPLAY") == "" && variable(env, "WAYLAND_DISPLAY") == "":
			return false
		}
		path, err := exec.LookPath(opener)
		if err != nil {
			return false
		}
		absolute, err := filepath.Abs(name)
		if err != nil {
			return false
		}
		c := exec.Command(path, absolute)
		if c.Start() != nil {
			return false
		}
		go c.Wait()
		return true
	}
}
