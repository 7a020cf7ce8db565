package flame

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func palette(t testing.TB, text string) *Palette {
	t.Helper()
	p, err := ReadPalette("x.palette", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPalette(t *testing.T) {
	c := Colours{Palette: palette(t, "# the driver\n\n ^mlx5_ = #7A3DB8\nmodule:mlx=#0b7\ncopy_(to|from)_user=#ffd166\na=b=#123\n")}
	for frame, want := range map[Frame]string{
		{Name: "mlx5_poll", Object: "[mlx5_core]"}: "#7a3db8", // the first that fits
		{Name: "poll", Object: "[mlx5_core]"}:      "#00bb77",
		{Name: "__copy_to_user"}:                   "#ffd166",
		{Name: "a=b"}:                              "#112233",
		{Name: "other"}:                            Colours{}.fill(Colours{}.of(Frame{Name: "other"}), false),
	} {
		if got := c.fill(c.of(frame), false); got != want {
			t.Errorf("%+v: %s, want %s", frame, got, want)
		}
	}
	for text, want := range map[string]string{
		"a\n":          `x.palette:1: "a" has no =; expected a pattern and a colour, such as ^tcp_=#7a3db8`,
		"\na=red\n":    `x.palette:2: "red" is no colour; expected #rgb or #rrggbb`,
		"a=#12345\n":   `x.palette:1: "#12345" is no colour; expected #rgb or #rrggbb`,
		"=#123\n":      `x.palette:1: no pattern before "=#123"; . fits everything`,
		"module:=#123": `x.palette:1: no pattern before "=#123"; . fits everything`,
		"(=#123\n":     "x.palette:1: error parsing regexp: missing closing ): `(`",
	} {
		if _, err := ReadPalette("x.palette", strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := ReadPalette("x", strings.NewReader(strings.Repeat("a=#123\n", maxPaletteRules+1))); err == nil {
		t.Error("any number of rules")
	}
}

// TestColoursTell: what a colour tells is the same for all functions of a kind, of an object, of a name.
func TestColoursTell(t *testing.T) {
	hueOf := func(c Colours, f Frame) class { return c.of(f) / shades }
	kernel, other, user := Frame{Name: "a", Object: "[kernel.kallsyms]", Kind: Kernel}, Frame{Name: "tcp_sendmsg", Object: "[kernel.kallsyms]", Kind: Kernel}, Frame{Name: "a", Object: "/bin/x"}
	for by, want := range map[Colouring][2]bool{ByKind: {true, false}, ByModule: {true, false}, ByName: {false, true}} {
		c := Colours{By: by}
		if got := [2]bool{hueOf(c, kernel) == hueOf(c, other), hueOf(c, kernel) == hueOf(c, user)}; got != want {
			t.Errorf("by %s: the object's functions alike %v, the name's %v", by, got[0], got[1])
		}
	}
}

func TestLegendOfModules(t *testing.T) {
	p, _ := readPerf(t, []byte("x 1 [000] 1.0: cpu-clock:\n\tffffffff81 f ([kernel.kallsyms])\n\nx 1 [000] 1.1: cpu-clock:\n\t81 g (/bin/gzip)\n\n"))
	s := newSVG(nil, layout(t, p, LayoutOptions{}), Colours{By: ByModule, Palette: palette(t, "^g$=#123456")})
	var names []string
	for _, e := range s.entries() {
		names = append(names, e.Name)
	}
	if diff := cmp.Diff([]string{"thread", "[kernel.kallsyms]", "^g$"}, names); diff != "" {
		t.Error(diff)
	}
}

func FuzzPalette(f *testing.F) {
	for _, s := range []string{"a=#123", "module:x=#123456", "# x\n\n(a|b)=#fff", "=", "a=#", "\xff=#123", "a=#12\r\n"} {
		f.Add(s, "name")
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		p, err := ReadPalette("x", strings.NewReader(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "x:") {
				t.Errorf("an error without a place: %v", err)
			}
			return
		}
		c := Colours{Palette: p}
		fill := c.fill(c.of(Frame{Name: name}), false)
		var r, g, b int
		if n, err := fmt.Sscanf(fill, "#%02x%02x%02x", &r, &g, &b); n != 3 || len(fill) != 7 {
			t.Errorf("colour %q: %v", fill, err)
		}
	})
}
