package source

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// maxZipStream bounds a zip archive that does not come from a file: its directory is at its end, so it is held in memory.
const maxZipStream = 256 << 20

// Source is one named sequence of bytes: a file, standard input, or a member of an archive. Its Input is open only
// until the walk goes on.
type Source struct {
	Path     string    // as the user named it; a member's name follows its archive's: "incident.tar.gz/netperf.txt"
	Name     Name      // what the file's name tells of tag, host and time
	ModTime  time.Time // zero where unknown
	Bytes    int64     // size as stored, -1 where unknown
	Layers   []string  // compression and encoding taken off, outermost first
	Seekable bool      // a plain uncompressed file: it can be opened again and read from an offset
	Input    *Input

	stored counter
}

// Stored returns how many bytes of the source as it is stored (compressed, if it is) were read.
func (s *Source) Stored() int64 { return s.stored.n }

// counter counts what is read through it.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// Walk yields the sources behind paths, in order: directories are read recursively in the order of names, archives
// member by member, "-" is stdin. A path that cannot be read yields an error, and the walk goes on. What a directory
// holds beside readable files (hidden ones, devices, broken links) is entered into the ledger.
func Walk(paths []string, stdin io.Reader, ledger *Ledger) iter.Seq2[*Source, error] {
	return func(yield func(*Source, error) bool) {
		w := walker{yield: yield, ledger: ledger}
		for _, p := range paths {
			if !w.path(p, stdin) {
				return
			}
		}
	}
}

type walker struct {
	yield  func(*Source, error) bool
	ledger *Ledger
}

// The methods below report whether the walk goes on.

func (w *walker) path(p string, stdin io.Reader) bool {
	if p == "-" {
		return w.stream(&Source{Path: "-", Bytes: -1}, stdin, 0)
	}
	info, err := os.Stat(p)
	if err != nil {
		return w.yield(nil, readable(err))
	}
	if info.IsDir() {
		return w.dir(p)
	}
	return w.file(p, info)
}

func (w *walker) dir(root string) bool {
	files, errs := Files([]string{root}, w.ledger)
	for _, err := range errs {
		if !w.yield(nil, err) {
			return false
		}
	}
	for _, p := range files {
		if !w.path(p, nil) {
			return false
		}
	}
	return true
}

// Files returns the paths with each folder replaced by the regular files below it, in the order of their names. What is
// passed over is entered into the ledger; a folder that cannot be read is an error beside the rest.
func Files(paths []string, ledger *Ledger) (files []string, errs []error) {
	for _, root := range paths {
		if info, err := os.Stat(root); root == "-" || err != nil || !info.IsDir() {
			files = append(files, root)
			continue
		}
		note := func(name, text string) {
			ledger.Add(name, Note, Pos{Source: filepath.ToSlash(root)}, 1, text)
		}
		filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				errs = append(errs, readable(err))
				return nil
			case p != root && strings.HasPrefix(d.Name(), "."):
				note("hidden-file", d.Name()+" is hidden; name it on the command line to read it")
				if d.IsDir() {
					return fs.SkipDir
				}
				return nil
			case d.IsDir():
				return nil
			}
			if info, err := os.Stat(p); err != nil || !info.Mode().IsRegular() {
				note("not-a-file", d.Name()+" is not a regular file (a link to a folder or to nothing, a device, a socket); skipped")
				return nil
			}
			if p == "-" { // which by itself is standard input
				p = "./-"
			}
			files = append(files, p)
			return nil
		})
	}
	return files, errs
}

func (w *walker) file(p string, info fs.FileInfo) bool {
	f, err := os.Open(p)
	if err != nil {
		return w.yield(nil, readable(err))
	}
	defer f.Close()
	src := &Source{Path: filepath.ToSlash(p), ModTime: info.ModTime().UTC(), Bytes: info.Size(), Seekable: info.Mode().IsRegular()}
	if !info.Mode().IsRegular() {
		src.Bytes, src.ModTime = -1, time.Time{}
	}
	var magic [4]byte
	if n, _ := f.ReadAt(magic[:], 0); n == 4 && isZip(magic[:]) {
		return w.zip(src, f, info.Size(), 0)
	}
	return w.stream(src, f, 0)
}

// stream yields the content of r, or the members of the archive that it is.
func (w *walker) stream(src *Source, r io.Reader, depth int) bool {
	src.stored.r = r
	plain, layers, err := decompress(&src.stored)
	if err != nil {
		w.ledger.Add("compression-damaged", Warning, Pos{Source: src.Path}, 1, err.Error()+"; the content is read as it is stored")
	}
	src.Layers = layers
	src.Seekable = src.Seekable && len(layers) == 0
	src.Name = ParseName(src.Path)
	src.Input = NewInput(src.Path, plain)
	head := src.Input.Peek(512)
	switch {
	case depth < maxLayers && isTar(head):
		return w.tar(src, depth)
	case depth < maxLayers && isZip(head):
		content, err := io.ReadAll(io.LimitReader(src.Input, maxZipStream+1))
		if err == nil && len(content) > maxZipStream {
			err = fmt.Errorf("%s: a zip archive of more than %d MiB inside another input; unpack it first", src.Path, maxZipStream>>20)
		}
		if err != nil {
			return w.yield(nil, err)
		}
		return w.zip(src, bytes.NewReader(content), int64(len(content)), depth)
	}
	return w.yield(src, nil)
}

func isTar(head []byte) bool {
	return len(head) >= 512 && bytes.Equal(head[257:262], []byte("ustar"))
}
func isZip(head []byte) bool { return bytes.HasPrefix(head, []byte("PK\x03\x04")) }

func (w *walker) tar(src *Source, depth int) bool {
	archive := tar.NewReader(src.Input)
	for {
		h, err := archive.Next()
		if err == io.EOF {
			return true
		}
		if err != nil {
			w.ledger.Add("archive-damaged", Warning, src.Input.Pos(), 1, "tar: "+err.Error()+"; the members before are read")
			return true
		}
		if h.Typeflag != tar.TypeReg {
			continue // folders, links and devices have no content
		}
		member := &Source{Path: src.Path + "/" + h.Name, ModTime: h.ModTime.UTC(), Bytes: h.Size}
		if !w.stream(member, archive, depth+1) {
			return false
		}
	}
}

func (w *walker) zip(src *Source, r io.ReaderAt, size int64, depth int) bool {
	archive, err := zip.NewReader(r, size)
	if err != nil {
		w.ledger.Add("archive-damaged", Warning, Pos{Source: src.Path}, 1, err.Error())
		return w.yield(nil, fmt.Errorf("%s: %w; the archive's directory is damaged, unpack what can be saved first", src.Path, err))
	}
	members := slices.Clone(archive.File)
	slices.SortStableFunc(members, func(a, b *zip.File) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range members {
		if f.FileInfo().IsDir() {
			continue
		}
		content, err := f.Open()
		if err != nil {
			if !w.yield(nil, fmt.Errorf("%s/%s: %w", src.Path, f.Name, err)) {
				return false
			}
			continue
		}
		goOn := w.stream(&Source{Path: src.Path + "/" + f.Name, ModTime: f.Modified.UTC(), Bytes: -1}, guarded{content}, depth+1)
		content.Close()
		if !goOn {
			return false
		}
	}
	return true
}

// readable makes "open x: no such file or directory" read "x: no such file or directory".
func readable(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return fmt.Errorf("%s: %w", pe.Path, pe.Err)
	}
	return err
}
