package analyze

import (
	"crypto/sha256"
	"io"
	"net/netip"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"nettrace/anonymize"
	"nettrace/finding"
	"nettrace/flame"
	"nettrace/source"
)

// AnonymizedFolder stands for the folder that all sources of an anonymized result are in.
const AnonymizedFolder = "recordings"

// Anonymize replaces, everywhere in a result, what names hosts: addresses, hardware addresses but for their makers, names
// of hosts that recordings tell, the folders above the sources, and users in names of folders. What findings say stays
// consistent, and their identifiers follow from what they are about now. Ports, names of processes, functions, interfaces
// and of the files themselves stay.
func Anonymize(r *Result, m *anonymize.Mapping) {
	w := newRewriting(r, m)
	w.value(reflect.ValueOf(&r.Sources))
	w.value(reflect.ValueOf(&r.Ledger))
	w.value(reflect.ValueOf(&r.Models))
	r.Findings = finding.Rename(r.Findings, func(f *finding.Finding) { w.value(reflect.ValueOf(f)) })
	r.Anonymized = true
}

// rewriting is the anonymization of one result.
type rewriting struct {
	mapping *anonymize.Mapping
	paths   *strings.Replacer
	texts   map[string]string // what was rewritten already
}

func newRewriting(r *Result, m *anonymize.Mapping) *rewriting {
	w := &rewriting{mapping: m, texts: map[string]string{}}
	w.learn(r)
	return w
}

// learn takes from a result what cannot be told from the form of a text.
func (w *rewriting) learn(r *Result) {
	host := w.mapping.Host
	for _, s := range r.Sources {
		host(s.Host)
		for _, f := range s.Facts {
			if f.Name == "host" {
				host(f.Value)
			}
		}
	}
	for _, p := range r.Models.Profiles {
		host(p.Host)
		w.mapping.Keep(p.Release)
	}
	for i := range r.Models.Runs {
		host(r.Models.Runs[i].Host)
	}
	for _, h := range r.Models.Hosts {
		for _, i := range h.Interfaces {
			if i.Driver != nil {
				w.mapping.Keep(i.Driver.Version)
				w.mapping.Keep(i.Driver.Firmware)
			}
		}
	}
	for _, c := range r.Models.Captures {
		for i := range c.Connections {
			w.mapping.Know(c.Connections[i].Client.Addr())
			w.mapping.Know(c.Connections[i].Server.Addr())
		}
	}
	w.paths = replacedPaths(r, w.mapping)
}

// replacedPaths replaces the paths of sources, and of the folders that they are in.
func replacedPaths(r *Result, m *anonymize.Mapping) *strings.Replacer {
	folders := map[string]bool{}
	common := ""
	for i, s := range r.Sources {
		if s.Path == "-" {
			continue
		}
		if i == 0 || common == "" {
			common = path.Dir(s.Path)
		}
		for !source.Within(s.Path, common) {
			common = path.Dir(common)
		}
		folders[s.Path] = true
		for dir := path.Dir(s.Path); dir != "." && dir != "/"; dir = path.Dir(dir) {
			folders[dir] = true
		}
	}
	for _, h := range r.Models.Hosts {
		if strings.Contains(h.Name, "/") {
			folders[h.Name] = true
		}
	}
	var list []string
	for p := range folders {
		if source.Within(p, common) && strings.Contains(p, "/") {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b string) int { // longer ones first, since they hold the others
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	var pairs []string
	for _, p := range list {
		pairs = append(pairs, p, strings.TrimSuffix(path.Join(AnonymizedFolder, m.Text(strings.TrimPrefix(p, common))), "/"))
	}
	return strings.NewReplacer(pairs...)
}

func (w *rewriting) text(s string) string {
	replaced, known := w.texts[s]
	if !known {
		replaced = w.mapping.Text(w.paths.Replace(s))
		w.texts[s] = replaced
	}
	return replaced
}

// fixed are fields that hold words of this program.
var fixed = map[string]bool{"Rule": true, "ID": true, "CausedBy": true, "Format": true, "Mark": true, "Unit": true, "Tool": true}

// value rewrites what a value holds.
func (w *rewriting) value(v reflect.Value) {
	switch at := v.Addr; {
	case !v.CanAddr():
	case v.Type() == reflect.TypeFor[netip.Addr]():
		a := at().Interface().(*netip.Addr)
		*a = w.mapping.Addr(*a)
		return
	case v.Type() == reflect.TypeFor[netip.AddrPort]():
		a := at().Interface().(*netip.AddrPort)
		*a = netip.AddrPortFrom(w.mapping.Addr(a.Addr()), a.Port())
		return
	}
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() && v.Type() == reflect.TypeFor[string]() { // others are of closed sets
			v.SetString(w.text(v.String()))
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			w.value(v.Elem())
		}
		if p, ok := v.Interface().(*flame.Profile); ok {
			p.Rewrite(w.text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !fixed[f.Name] {
				w.value(v.Field(i))
			}
		}
	case reflect.Slice, reflect.Array:
		if k := v.Type().Elem().Kind(); k < reflect.Bool || k > reflect.Complex128 {
			for i := range v.Len() {
				w.value(v.Index(i))
			}
		}
	}
}

// InputDigest returns a hash of the bytes of all files behind paths, as they are stored. From it the key of an anonymization
// can be made that is the same whenever the same is read, and that nobody can tell who does not have it all.
func InputDigest(paths []string) ([]byte, error) {
	var ledger source.Ledger
	files, errs := source.Files(paths, &ledger)
	if len(errs) > 0 && len(files) == 0 {
		return nil, errs[0]
	}
	h := sha256.New()
	for _, p := range files {
		if p == "-" {
			continue
		}
		f, err := os.Open(filepath.FromSlash(p))
		if err != nil {
			return nil, err
		}
		_, err = io.Copy(h, f)
		f.Close()
		if err != nil {
			return nil, err
		}
	}
	return h.Sum(nil), nil
}
