package symbol

import (
	"io"
	"os"
	"path/filepath"
	"strings"
)

// besideMax bounds how many files of a folder are looked at.
const besideMax = 1000

// Beside returns the files that lie beside a recording and give symbols for it: ELF objects and maps of run-time code,
// archives that begin with its name ("x.data.tar.bz2", as `perf archive` names them), and the kernel's symbols, if there
// is one file of them that begins with its name, or one at all: of several it could not be told which kernel ran.
func Beside(recording string) []string {
	folder, name := filepath.Split(recording)
	if folder == "" {
		folder = "."
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	stem := strings.TrimSuffix(strings.TrimSuffix(name, ".data"), ".perf")
	var paths, kernels, named []string
	for _, e := range entries[:min(len(entries), besideMax)] {
		p := filepath.Join(folder, e.Name())
		if !e.Type().IsRegular() || e.Name() == name {
			continue
		}
		own := strings.HasPrefix(e.Name(), stem)
		_, isMap := mapName(e.Name())
		switch head := headOf(p); {
		case isELF(head), isMap, own && strings.Contains(e.Name(), ".tar"):
			paths = append(paths, p)
		case SniffKallsyms(head) && own:
			named = append(named, p)
		case SniffKallsyms(head):
			kernels = append(kernels, p)
		}
	}
	switch {
	case len(named) == 1:
		paths = append(paths, named...)
	case len(named) == 0 && len(kernels) == 1:
		paths = append(paths, kernels...)
	}
	return paths
}

func headOf(p string) []byte {
	f, err := os.Open(p)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, _ := io.ReadFull(f, head)
	return head[:n]
}
