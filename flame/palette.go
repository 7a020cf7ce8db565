package flame

import (
	"fmt"
	"hash/fnv"
	"math"
)

// Colouring is what colours tell.
type Colouring string

const (
	ByKind   Colouring = "kind"   // the default: kernel, kernel module, user, compiled at run time
	ByModule Colouring = "module" // the object that a function is in
	ByName   Colouring = "name"   // the function itself
)

// Colourings returns all of them.
func Colourings() []Colouring { return []Colouring{ByKind, ByModule, ByName} }

// Colours choose the colours of boxes. The zero value colours by kind.
type Colours struct {
	By      Colouring
	Palette *Palette // nil for none
}

// class is a colour of boxes by its number, which is the same in all pictures: a function looks the same everywhere.
// From firstRule on they are those of a palette's rules.
type class int

const (
	shades      = 6 // colours of a kind or an object; the name decides which
	hues        = 18
	firstModule = class(int(Rest+1) * 2 * shades)
	firstName   = firstModule + hues*shades
	firstRule   = firstName + hues*shades
)

// of returns the class of a frame.
func (c Colours) of(f Frame) class {
	if rule, found := c.Palette.find(f); found {
		return firstRule + class(rule)
	}
	shade := class(hashed(f.Name) % shades)
	switch {
	case f.Kind == Thread, f.Kind == Marker, f.Kind == Rest:
	case c.By == ByModule && f.Object != "":
		return firstModule + class(hashed(f.Object)%hues)*shades + shade
	case c.By == ByName:
		return firstName + class(hashed(f.Name)/shades%hues)*shades + shade
	}
	k := class(f.Kind) * 2
	if f.Inlined {
		k++
	}
	return k*shades + shade
}

// hashed spreads names evenly, the same ones always alike.
func hashed(name string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(name))
	return h.Sum32()
}

// hue is a colour without its lightness. The hues of kinds differ in lightness order as well as for eyes that see no red
// or no green.
type hue struct{ degrees, saturation float64 }

func hueOf(k Kind) hue {
	switch k {
	case Kernel:
		return hue{24, 0.85}
	case Module:
		return hue{46, 0.85}
	case JIT:
		return hue{160, 0.50}
	case Thread:
		return hue{265, 0.35}
	case Marker, Rest:
		return hue{0, 0}
	default:
		return hue{208, 0.65}
	}
}

// kindTitle is how a legend calls a kind.
func kindTitle(k Kind) string {
	switch k {
	case Kernel, Thread, User:
		return k.String()
	case Module:
		return "kernel module"
	case JIT:
		return "compiled at run time"
	default:
		return "no function"
	}
}

// fill returns the colour of a class as #rrggbb, for a light or a dark page.
func (c Colours) fill(of class, dark bool) string {
	switch {
	case of >= firstDiff && dark:
		return diffPaints()[of-firstDiff].dark
	case of >= firstDiff:
		return diffPaints()[of-firstDiff].light
	case of >= firstRule:
		return c.Palette.rules[of-firstRule].colour
	case of >= firstModule:
		n := (of - firstModule) / shades % hues
		return hue{float64(n) * 360 / hues, 0.5}.fill(int(of%shades), false, dark)
	default:
		return hueOf(Kind(of/shades/2)).fill(int(of%shades), of/shades%2 == 1, dark)
	}
}

// text returns the colour of text on a class.
func (c Colours) text(of class, dark bool) string {
	switch {
	case of >= firstDiff && dark:
		return diffPaints()[of-firstDiff].onDark
	case of >= firstDiff:
		return diffPaints()[of-firstDiff].onLight
	case of >= firstRule && luminance(c.fill(of, dark)) < 0.179: // where black and white have the same contrast
		return "#fff"
	case of >= firstRule:
		return "#000"
	case dark:
		return "#eee"
	}
	return "#111"
}

// fill returns one of the shades. Inlined functions are paler.
func (h hue) fill(shade int, inlined, dark bool) string {
	lightness := 0.66 + 0.025*float64(shade)
	saturation := h.saturation
	if inlined {
		lightness, saturation = lightness+0.07, saturation*0.6
	}
	if dark {
		lightness = 0.94 - lightness
	}
	return hex(h.degrees+float64(shade-shades/2)*2, saturation, lightness)
}

// hex converts a colour of the HSL model (CSS Color 4, section 7).
func hex(hue, saturation, lightness float64) string {
	channel := func(n float64) int {
		k := math.Mod(n+hue/30+12, 12)
		v := lightness - saturation*min(lightness, 1-lightness)*max(-1, min(k-3, 9-k, 1))
		return int(math.Round(v * 255))
	}
	return fmt.Sprintf("#%02x%02x%02x", channel(0), channel(8), channel(4))
}

// luminance is the relative luminance of a colour as WCAG 2.2 defines it.
func luminance(hex string) float64 {
	var rgb [3]int
	fmt.Sscanf(hex, "#%02x%02x%02x", &rgb[0], &rgb[1], &rgb[2])
	linear := func(c int) float64 {
		v := float64(c) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(rgb[0]) + 0.7152*linear(rgb[1]) + 0.0722*linear(rgb[2])
}
