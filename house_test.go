// Package nettrace_test holds what is true of the whole tree rather than of one package.
package nettrace_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// groups is the import picture: a package may import only groups to its left, and packages of one group do not import
// each other. The two leaves that others of their group stand on are a group of their own.
var groups = [][]string{
	{"unit", "collect", "anonymize"},
	{"source", "kernel"},
	{"finding", "symbol"},
	{"perf", "pcap"},
	{"tcp", "lockstat", "flame", "coalesce", "bench"},
	{"datapath"},
	{"analyze"},
	{"diagnose"},
	{"report", "tui"},
	{"cmd/nettrace"},
}

// only lists who may import a library.
var only = map[string]string{
	"github.com/spf13/cobra":              "cmd/nettrace",
	"charm.land/bubbletea/v2":             "tui",
	"github.com/gopacket/gopacket/layers": "pcap",
}

func TestImportPicture(t *testing.T) {
	rank := map[string]int{}
	for i, group := range groups {
		for _, name := range group {
			rank["nettrace/"+name] = i
		}
	}
	for _, p := range packages(t) {
		if strings.HasPrefix(p.ImportPath, "nettrace/fixtures") || p.ImportPath == "nettrace" {
			continue // generators and tests of the whole tree stand outside
		}
		own, known := rank[p.ImportPath]
		if !known {
			t.Errorf("%s is in no group of the import picture", p.ImportPath)
		}
		for _, imported := range p.Imports {
			if other, ours := rank[imported]; ours && other >= own {
				t.Errorf("%s imports %s, which is not to its left", p.ImportPath, imported)
			}
			if owner, restricted := only[imported]; restricted && p.ImportPath != "nettrace/"+owner {
				t.Errorf("%s imports %s; only %s may", p.ImportPath, imported, owner)
			}
		}
	}
}

type listed struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var list []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	if len(list) < 10 {
		t.Fatalf("go list names %d packages; expected the whole tree", len(list))
	}
	return list
}
