package diagnose

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSeveralInterfacesInOneFile: an output of settings twice in one file, of two interfaces, is that of both.
func TestSeveralInterfacesInOneFile(t *testing.T) {
	for file, name := range map[string]string{
		"rr-4345/before.ethtool-c.txt":                              "eth2",
		"rx-ring-overrun/before.ethtool-g.20261130T170944.000Z.txt": "eth0",
		"stretch-ack/before.ethtool-k.20240305T101454.000Z.txt":     "eth0",
		"clean-busy/before.ethtool-l.20261201T033129.571Z.txt":      "s0",
		"clean-busy/before.ethtool.20261201T033129.513Z.txt":        "s0",
	} {
		data, err := os.ReadFile(filepath.Join("../fixtures/bundles", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, between := range []string{"", "\n"} {
			path := filepath.Join(t.TempDir(), "settings.txt")
			text := strings.TrimRight(string(data), "\n") + "\n" + between + strings.Replace(string(data), name, "ens7f1", 1)
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			r := diagnosed(t, path)
			settings := map[string]int{}
			for _, h := range r.Models.Hosts {
				for _, nic := range h.Interfaces {
					for _, d := range nic.Dumps {
						settings[nic.Name] += len(d.Settings)
					}
				}
			}
			if settings[name] == 0 || settings[name] != settings["ens7f1"] || len(r.Ledger) > 0 {
				t.Errorf("%s: settings of %v; %v", file, settings, r.Ledger)
			}
		}
	}
}
