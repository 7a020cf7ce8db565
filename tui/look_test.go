package tui

import (
	"image/color"
	"math"
	"testing"

	"charm.land/lipgloss/v2"
)

// TestContrast holds texts to 4.5 to 1 (WCAG 2.1, 1.4.3), and with high contrast to 7 to 1 (1.4.6), on the darkest and the
// lightest background of either kind that terminals have by default.
func TestContrast(t *testing.T) {
	dark, light := []string{"#000000", "#1e1e1e", "#2b2b2b"}, []string{"#ffffff", "#fafafa", "#f5f5f5"}
	for _, c := range []struct {
		theme       theme
		backgrounds []string
		least       float64
	}{{theme{dark: true}, dark, 4.5}, {theme{}, light, 4.5}, {theme{dark: true, contrast: true}, dark, 7}, {theme{contrast: true}, light, 7}} {
		l := newLook(c.theme)
		texts := map[string]lipgloss.Style{"faint": l.faint, "title": l.title, "good": l.good, "bad": l.bad,
			"info": l.severity[0], "notice": l.severity[1], "warning": l.severity[2], "critical": l.severity[3]}
		for name, style := range texts {
			for _, background := range c.backgrounds {
				if ratio := contrast(style.GetForeground(), lipgloss.Color(background)); ratio < c.least {
					t.Errorf("%+v: %s on %s: %.2f to 1", c.theme, name, background, ratio)
				}
			}
		}
		boxes := map[string]lipgloss.Style{"grown": l.grew, "shrunk": l.shrank}
		for kind, style := range l.kinds {
			boxes[kind.String()] = style
		}
		for name, style := range boxes {
			if ratio := contrast(style.GetForeground(), style.GetBackground()); ratio < c.least {
				t.Errorf("%+v: text on %s boxes: %.2f to 1", c.theme, name, ratio)
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
