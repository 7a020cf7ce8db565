package flame

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"nettrace/perf"
)

// Kind is what kind of code a frame is, by which boxes are coloured.
type Kind uint8

const (
	User   Kind = iota
	Kernel      // the kernel's own image, and BPF programs
	Module      // a loadable module of the kernel
	JIT         // made at run time: perf-PID.map, jitted objects, [JIT app cache]
	Thread      // no function: the name of the thread
	Marker      // no function: a separator that a tool put between stacks
	Rest        // no function: frames too small to draw
)

var kindNames = [...]string{"user", "kernel", "module", "jit", "thread", "marker", "rest"}

func (k Kind) String() string { return kindNames[min(int(k), len(kindNames)-1)] }

// MarshalText writes the kind's name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (k *Kind) UnmarshalText(text []byte) error {
	i := slices.Index(kindNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("no kind of code %q; it is one of %s", text, strings.Join(kindNames[:], ", "))
	}
	*k = Kind(i)
	return nil
}

// Objects that stand for what a text tells without naming an object: addresses of the kernel, and the marks that folded
// texts put behind names.
const (
	kernelObject = "[kernel]"
	jitObject    = "[jit]"
	wakerObject  = "[waker]"
)

// kindOf tells the kind of code that an object holds.
func kindOf(object string) Kind {
	if object == "" {
		return User
	}
	if object[0] == '[' {
		return kindOfBracketed(object)
	}
	base := path.Base(object)
	switch {
	case strings.HasPrefix(base, "vmlinux"), strings.HasPrefix(base, "bpf_prog_"), base == "kcore", base == "kernel":
		return Kernel
	case strings.HasSuffix(base, ".ko"), strings.Contains(base, ".ko."), strings.HasSuffix(base, ".ko.debug"):
		return Module
	case isPerfMap(object), strings.HasPrefix(base, "jitted-"):
		return JIT
	}
	return User
}

// kindOfBracketed knows the names that perf puts in brackets; any other one is a module.
func kindOfBracketed(object string) Kind {
	switch {
	case strings.HasPrefix(object, "[kernel"), strings.HasPrefix(object, "[guest.kernel"), strings.HasPrefix(object, "[bpf"):
		return Kernel
	case strings.HasPrefix(object, "[JIT"), object == jitObject:
		return JIT
	case object == perf.Unknown, object == "[vdso]", object == "[vdso32]", object == "[vdsox32]", object == "[vsyscall]", object == "[heap]", object == "[stack]",
		strings.HasPrefix(object, "[anon"), strings.HasPrefix(object, "[stack:"), object == wakerObject:
		return User
	}
	return Module
}

// isPerfMap reports whether an object is a map of symbols that a run-time compiler wrote for perf.
func isPerfMap(object string) bool {
	base := path.Base(object)
	return strings.HasPrefix(base, "perf-") && strings.HasSuffix(base, ".map")
}
