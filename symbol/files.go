package symbol

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nettrace/source"
)

// Bounds on what is read of archives.
const (
	memberMax = 512 << 20
)

// Files are the symbols that a user gave. The nil and the zero value have none.
type Files struct {
	kernel  *Kernel
	objects []*Object          // given by name, in the order in which they were
	folders []string           // roots, build-id caches
	jit     map[int]*Table     // by process
	found   map[wanted]*Object // what was looked for, nil if it was not found
	used    []string           // the files that answered
}

type wanted struct{ build, path string }

// Open reads the files behind paths: kallsyms or System.map, vmlinux, ELF objects, archives of `perf archive`, maps
// named perf-PID.map. Of folders (the root of a copied file system, a build-id cache) what a recording needs is opened
// when it does. A path that gives no symbols is an error; the others are used.
func Open(paths []string) (*Files, []error) {
	f := &Files{jit: map[int]*Table{}, found: map[wanted]*Object{}}
	var errs []error
	for _, p := range paths {
		info, err := os.Stat(p)
		switch {
		case err != nil:
			errs = append(errs, plain(err))
		case info.IsDir():
			f.folders = append(f.folders, p)
		default:
			if err := f.file(p); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return f, errs
}

func plain(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return fmt.Errorf("%s: %w", pe.Path, pe.Err)
	}
	return err
}

// file takes one file by its content.
func (f *Files) file(p string) error {
	file, err := os.Open(p)
	if err != nil {
		return plain(err)
	}
	defer file.Close()
	head := make([]byte, 512)
	n, _ := io.ReadFull(file, head)
	if isELF(head[:n]) {
		return f.elf(filepath.ToSlash(p), file)
	}
	var ledger source.Ledger
	read := false
	for src, err := range source.Walk([]string{p}, nil, &ledger) {
		if err != nil {
			return err
		}
		err := f.member(src)
		if err == nil {
			read = true
		} else if src.Path == filepath.ToSlash(p) {
			return err
		}
	}
	if !read {
		return fmt.Errorf("%s: no symbols in it; expected kallsyms, System.map, ELF objects, an archive of them, or perf-PID.map", p)
	}
	return nil
}

func isELF(head []byte) bool { return bytes.HasPrefix(head, []byte("\x7fELF")) }

// member takes one file that is read as a stream: compressed, or of an archive.
func (f *Files) member(src *source.Source) error {
	head := src.Input.Peek(4096)
	switch pid, isMap := mapName(src.Path); {
	case isELF(head):
		content, err := io.ReadAll(io.LimitReader(src.Input, memberMax+1))
		if err != nil || len(content) > memberMax {
			return fmt.Errorf("%s: an object of more than %d MiB inside an archive; unpack it first", src.Path, memberMax>>20)
		}
		return f.elf(src.Path, bytes.NewReader(content))
	case SniffKallsyms(head):
		return f.kallsyms(src.Path, src.Input)
	case isMap:
		t, err := readMap(src.Input)
		if err != nil {
			return fmt.Errorf("%s: %w", src.Path, err)
		}
		f.jit[pid] = t
		return nil
	}
	return fmt.Errorf("%s: no symbols in it; expected kallsyms, System.map, ELF objects, an archive of them, or perf-PID.map", src.Path)
}

func (f *Files) kallsyms(name string, r io.Reader) error {
	k, err := readKallsyms(r)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	f.setKernel(k, name)
	return nil
}

// setKernel takes the first kernel that is given.
func (f *Files) setKernel(k *Kernel, name string) {
	if f.kernel == nil {
		f.kernel = k
		f.use(name)
	}
}

func (f *Files) elf(name string, r io.ReaderAt) error {
	o, err := readObject(name, r)
	if err != nil {
		return err
	}
	if k := o.kernel(); k != nil {
		f.setKernel(k, name)
		return nil
	}
	f.objects = append(f.objects, o)
	return nil
}

// kernel returns the symbols of an object that is a kernel, told by the marks of its text.
func (o *Object) kernel() *Kernel {
	text, ok := o.table.named("_stext")
	if !ok {
		return nil
	}
	if _, ok := o.table.named("start_kernel"); !ok {
		return nil
	}
	k := &Kernel{text: map[string]uint64{"_stext": text}, modules: &Table{}}
	if at, ok := o.table.named("_text"); ok {
		k.text["_text"] = at
	} else {
		k.text["_text"] = text // the same address, of which one name was chosen
	}
	for i, s := range o.table.symbols {
		k.symbols = append(k.symbols, entry{Symbol: s, size: s.End - s.Start, position: i})
	}
	return k
}

// Kernel returns the kernel's symbols, nil if none were given.
func (f *Files) Kernel() *Kernel {
	if f == nil {
		return nil
	}
	if f.kernel == nil {
		for _, folder := range f.folders {
			for _, name := range []string{"kallsyms", "proc/kallsyms", "System.map", "boot/System.map"} {
				if file, err := os.Open(filepath.Join(folder, name)); err == nil {
					f.kallsyms(name, bufio.NewReader(file)) // an error leaves the kernel without symbols, which is counted
					file.Close()
				}
				if f.kernel != nil {
					return f.kernel
				}
			}
		}
	}
	return f.kernel
}

// Object returns the object of a mapping, nil if it was not given. With a build id only an object of the same id is
// taken; without one its path, or at least its name, has to be the same.
func (f *Files) Object(build, name string) *Object {
	if f == nil || len(f.objects)+len(f.folders) == 0 {
		return nil
	}
	key := wanted{build, name}
	if o, known := f.found[key]; known {
		return o
	}
	o := f.given(build, name)
	for i := 0; o == nil && i < len(f.folders); i++ {
		o = f.inFolder(f.folders[i], build, name)
	}
	if f.found[key] = o; o != nil {
		f.use(o.Path)
	}
	return o
}

// Used returns the files in which something was looked up, in the order in which they were first.
func (f *Files) Used() []string { return f.used }

func (f *Files) use(path string) {
	if !slices.Contains(f.used, path) {
		f.used = append(f.used, path)
	}
}

func (f *Files) given(build, name string) *Object {
	for _, o := range f.objects {
		if build != "" && o.Build == build {
			return o
		}
	}
	for _, o := range f.objects {
		if (build == "" || o.Build == "") && sameName(path.Base(o.Path), path.Base(name)) {
			return o
		}
	}
	return nil
}

// sameName reports whether a file can be the object of a mapping by its name. The kernel's shared object has no file of
// its own; perf keeps its copies as vdso, others as linux-vdso.so.1.
func sameName(file, mapped string) bool {
	if mapped == "[vdso]" {
		return strings.HasPrefix(strings.TrimPrefix(file, "linux-"), "vdso")
	}
	return file == mapped
}

// inFolder looks an object up in a build-id cache or under a root, as `perf report --symfs` does.
func (f *Files) inFolder(folder, build, name string) *Object {
	var candidates []string
	if build != "" {
		id := hexID(build)
		for _, base := range []string{".build-id", ".debug/.build-id", "usr/lib/debug/.build-id"} {
			link := path.Join(base, id[:2], id[2:])
			candidates = append(candidates, path.Join(link, "elf"), path.Join(link, "vdso"), path.Join(link, "debug"), link, link+".debug")
		}
	}
	clean := path.Clean("/" + strings.TrimSuffix(name, " (deleted)"))
	candidates = append(candidates, path.Join("usr/lib/debug", clean+".debug"), clean, path.Base(clean))
	for _, c := range candidates {
		if o := openObject(filepath.Join(folder, filepath.FromSlash(c))); o != nil && (build == "" || o.Build == "" || o.Build == build) {
			return o
		}
	}
	return nil
}

func openObject(p string) *Object {
	file, err := os.Open(p)
	if err != nil {
		return nil
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	o, err := readObject(filepath.ToSlash(p), file)
	if err != nil {
		return nil
	}
	return o
}

// JIT returns the functions that a process' run-time made, nil if its map was not given.
func (f *Files) JIT(pid int) *Table {
	if f == nil {
		return nil
	}
	if t, known := f.jit[pid]; known {
		return t
	}
	for _, folder := range f.folders {
		for _, name := range []string{"tmp/perf-%d.map", "perf-%d.map"} {
			file, err := os.Open(filepath.Join(folder, fmt.Sprintf(name, pid)))
			if err != nil {
				continue
			}
			t, err := readMap(bufio.NewReader(file))
			file.Close()
			if err == nil {
				f.jit[pid] = t
				return t
			}
		}
	}
	return nil
}

// mapName tells the process from the name of a map: perf-1234.map.
func mapName(name string) (pid int, ok bool) {
	digits, found := strings.CutPrefix(path.Base(name), "perf-")
	digits, isMap := strings.CutSuffix(digits, ".map")
	pid, err := strconv.Atoi(digits)
	return pid, found && isMap && err == nil
}

// readMap reads what run-times write for perf: start and size in hexadecimal, and the name, which may hold blanks
// (tools/perf/Documentation/jit-interface.txt, Linux 6.1).
func readMap(r io.Reader) (*Table, error) {
	var entries []entry
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4096), lineMax)
	for lines.Scan() && len(entries) < symbolsMax {
		start, rest, _ := strings.Cut(lines.Text(), " ")
		size, name, ok := strings.Cut(rest, " ")
		a, err := strconv.ParseUint(strings.TrimPrefix(start, "0x"), 16, 64)
		n, err2 := strconv.ParseUint(strings.TrimPrefix(size, "0x"), 16, 64)
		if !ok || err != nil || err2 != nil || name == "" {
			continue
		}
		entries = append(entries, entry{Symbol: Symbol{Name: name, Start: a}, size: n, position: len(entries)})
	}
	if len(entries) == 0 {
		return nil, errors.New("no line of a map of run-time code; expected lines such as \"7f2c4000 1a0 Interpreter\"")
	}
	return newLastTable(entries), lines.Err() // code is made anew at the same place
}
