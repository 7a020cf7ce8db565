package tui

import (
	"image/color"
	"math"
	"testing"

	"charm.land/lipgloss/v2"
)

// TestContrast holds texts to 4.5 to 1 (WCAG 2.1, 1.4.3) on the darkest and the lightest background of either kind that
// terminals have by default.
func TestContrast(t *testing.T) {
	for _, c := range []struct {
		dark        bool
		backgrounds []string
	}{{true, []string{"#000000", "#1e1e1e", "#2b2b2b"}}, {false, []string{"#ffffff", "#fafafa", "#f5f5f5"}}} {
		l := newLook(c.dark, false)
		texts := map[string]lipgloss.Style{"faint": l.faint, "title": l.title, "good": l.good, "bad": l.bad,
			"info": l.severity[0], "notice": l.severity[1], "warning": l.severity[2], "critical": l.severity[3]}
		for name, style := range texts {
			for _, background := range c.backgrounds {
				if ratio := contrast(style.GetForeground(), lipgloss.Color(background)); ratio < 4.5 {
					t.Errorf("%s on %s: %.2f to 1", name, background, ratio)
				}
			}
		}
		for kind, style := range l.kinds {
			if ratio := contrast(style.GetForeground(), style.GetBackground()); ratio < 4.5 {
				t.Errorf("text on %s boxes: %.2f to 1", kind, ratio)
			}
		}
	}
}

// contrast is the ratio of the relative luminances.
func contrast(a, b color.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(c color.Color) float64 {
	linear := func(v uint32) float64 {
		s := float64(v) / 0xffff
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	r, g, b, _ := c.RGBA()
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}
