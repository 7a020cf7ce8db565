package analyze

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"net/netip"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nettrace/anonymize"
	"nettrace/finding"
	"nettrace/source"
)

// anonymized analyses what is in a folder and anonymizes the result.
func anonymized(t *testing.T, folder, key string) (before, after *Result) {
	t.Helper()
	for _, r := range []**Result{&before, &after} {
		var errs []error
		if *r, errs = Run(context.Background(), []string{folder}, Options{}); len(errs) > 0 {
			t.Log(errs)
		}
		if err := CollectSeries(context.Background(), []string{folder}, *r, SeriesOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	m, err := anonymize.New([]byte(key))
	if err != nil {
		t.Fatal(err)
	}
	Anonymize(after, m)
	return before, after
}

// everything returns all texts of a result: its JSON, and the stacks that are packed in it.
func everything(t *testing.T, r *Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Models.Profiles {
		b.WriteString(p.Pprof().String())
	}
	return b.String()
}

// spellings returns the ways in which tools write an address.
func spellings(a netip.Addr) []string {
	b := a.AsSlice()
	turned := slices.Clone(b)
	for i := 0; i < len(turned); i += 4 {
		slices.Reverse(turned[i : i+4])
	}
	list := []string{a.String(), a.StringExpanded(), strings.ToUpper(a.String()), hex.EncodeToString(b), hex.EncodeToString(turned),
		fmt.Sprintf("% x", b), fmt.Sprintf("%x", [][]byte{b}), strings.ReplaceAll(fmt.Sprintf("% x", b), " ", ":"), strings.ReplaceAll(fmt.Sprintf("% #x", b), " ", ", ")}
	if a.Is4() {
		list = append(list, fmt.Sprintf("%03d.%03d.%03d.%03d", b[0], b[1], b[2], b[3]), fmt.Sprintf("%d-%d-%d-%d", b[0], b[1], b[2], b[3]), fmt.Sprintf("%d %d %d %d", b[0], b[1], b[2], b[3]),
			fmt.Sprintf("[%d,%d,%d,%d]", b[0], b[1], b[2], b[3]))
	}
	return list
}

// met returns the addresses of hosts that a result tells of.
func met(r *Result) map[netip.Addr]bool {
	found := map[netip.Addr]bool{}
	var walk func(reflect.Value)
	walk = func(v reflect.Value) {
		switch a := v.Interface().(type) {
		case netip.Addr:
			found[a] = true
			return
		case netip.AddrPort:
			found[a.Addr()] = true
			return
		}
		switch v.Kind() {
		case reflect.String:
			for _, word := range regexp.MustCompile(`[0-9a-fA-F:.]{7,}`).FindAllString(v.String(), -1) {
				if a, err := netip.ParseAddr(strings.Trim(word, ".")); err == nil && strings.ContainsAny(word, "0123456789") {
					found[a] = true
				} else if a, err := netip.ParseAddrPort(word); err == nil {
					found[a.Addr()] = true
				}
			}
		case reflect.Pointer, reflect.Interface:
			if !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.Struct:
			for i := range v.NumField() {
				if v.Type().Field(i).IsExported() && v.Type().Field(i).Name != "Driver" {
					walk(v.Field(i))
				}
			}
		case reflect.Slice, reflect.Array:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		}
	}
	walk(reflect.ValueOf(r))
	for a := range found {
		if !a.IsValid() || a.IsLoopback() || a.IsUnspecified() || a.IsMulticast() || a.Is4() && (a.As4()[0] >= 224 || a.As4()[0] == 0) || a == netip.MustParseAddr("1.5.1.6") {
			delete(found, a)
		}
	}
	return found
}

// No address, however spelled, no name of a host and no folder of what was read is in an anonymized result; and what its
// findings say is the same otherwise.
func TestAnonymizedResultsNameNoHost(t *testing.T) {
	t.Chdir("..")
	addresses := 0
	for _, folder := range []string{"fixtures/bundles", "fixtures/pcap", "fixtures/counters", "fixtures/bench", "fixtures/stacks", "fixtures/recordings", "fixtures/locks"} {
		here, err := filepath.Abs(folder)
		if err != nil {
			t.Fatal(err)
		}
		before, after := anonymized(t, here, "test")
		text := everything(t, after)
		for a := range met(before) {
			addresses++
			for _, s := range spellings(a) {
				if around := word(text, s); around != "" {
					t.Errorf("%s: %v is met as %q: %q", folder, a, s, around)
					break
				}
			}
		}
		for _, name := range append(hostNames(before), filepath.Dir(here)+"/") {
			if around := word(strings.ToLower(text), strings.ToLower(name)); around != "" {
				t.Errorf("%s: the name %q is met: %q", folder, name, around)
			}
		}
		if diff := cmp.Diff(counted(before), counted(after)); diff != "" {
			t.Errorf("%s: findings change: %s", folder, diff)
		}
	}
	if addresses < 10 {
		t.Errorf("only %d addresses were met", addresses)
	}
}

// word returns what is around s in a text where no letter or digit is next to it, "" if it is not there.
func word(text, s string) string {
	inWord := func(c byte) bool {
		return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	for at := 0; ; at++ {
		i := strings.Index(text[at:], s)
		if i < 0 {
			return ""
		}
		at += i
		end := at + len(s)
		if (at == 0 || !inWord(text[at-1]) && text[at-1] != '.' || !inWord(s[0])) && (end == len(text) || !inWord(text[end])) {
			return text[max(at-60, 0):min(end+40, len(text))]
		}
	}
}

func hostNames(r *Result) (list []string) {
	for _, p := range r.Models.Profiles {
		list = append(list, p.Host)
	}
	for i := range r.Models.Runs {
		list = append(list, r.Models.Runs[i].Host)
	}
	list = slices.DeleteFunc(list, func(name string) bool {
		_, err := netip.ParseAddr(name)
		return len(name) < 2 || err == nil || name == "localhost"
	})
	return list
}

// counted says how many findings of each rule and severity there are, how many have a cause, and what they cost.
func counted(r *Result) map[string]int {
	n := map[string]int{}
	ids := map[string]bool{}
	for _, f := range r.Findings {
		n[fmt.Sprint(f.Rule, " ", f.Severity, " ", f.Effect, " ", len(f.Evidence), " ", f.CausedBy != "")]++
		ids[f.ID] = true
	}
	for _, f := range r.Findings {
		if f.CausedBy != "" && !ids[f.CausedBy] {
			n["causes that are not there"]++
		}
	}
	return n
}

// The same key gives the same result, another key another one; what is anonymized stays so when it is read again.
func TestAnonymizationFollowsTheKey(t *testing.T) {
	t.Chdir("..")
	const folder = "fixtures/bundles/rr-4345"
	_, one := anonymized(t, folder, "one")
	_, again := anonymized(t, folder, "one")
	_, two := anonymized(t, folder, "two")
	a, b, c := everything(t, one), everything(t, again), everything(t, two)
	if a != b {
		t.Error("the same key gives two results")
	}
	if a == c || !one.Anonymized {
		t.Error("the key does not matter")
	}
	var text bytes.Buffer
	if err := one.Write(&text); err != nil {
		t.Fatal(err)
	}
	read, err := ReadResult(&text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a, everything(t, read.finish())); diff != "" {
		t.Error(diff)
	}
}

// TestAnonymizingReachesAllKindsOfFields: a result holds its texts in kinds of fields that are rewritten. A map, or a value of
// any type, would keep what it holds.
func TestAnonymizingReachesAllKindsOfFields(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var walk func(where string, x reflect.Type)
	walk = func(where string, x reflect.Type) {
		if seen[x] {
			return
		}
		seen[x] = true
		switch x.Kind() {
		case reflect.Map, reflect.Interface:
			t.Errorf("%s is a %s, which is not rewritten", where, x)
		case reflect.Pointer, reflect.Slice, reflect.Array:
			walk(where, x.Elem())
		case reflect.Struct:
			for i := range x.NumField() {
				if f := x.Field(i); f.IsExported() {
					walk(where+"."+f.Name, f.Type)
				}
			}
		}
	}
	for _, x := range []reflect.Type{reflect.TypeFor[Source](), reflect.TypeFor[source.Entry](), reflect.TypeFor[Models](), reflect.TypeFor[finding.Finding]()} {
		walk(x.String(), x)
	}
}
