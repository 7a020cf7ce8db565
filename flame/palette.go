package flame

import (
	"fmt"
	"hash/fnv"
	"math"
)

// shades is how many colours a kind of code has; the name decides which, so that a function looks the same everywhere.
const shades = 6

// Colours of one kind of code: a hue and a saturation. The hues differ in lightness order as well as for eyes that see no
// red or no green.
type colours struct {
	name            string // as the legend says it
	hue, saturation float64
}

// coloursOf returns the colours of a box. Inlined functions have the hue of their kind, paler.
func coloursOf(k Kind) colours {
	switch k {
	case Kernel:
		return colours{"kernel", 24, 0.85}
	case Module:
		return colours{"kernel module", 46, 0.85}
	case JIT:
		return colours{"compiled at run time", 160, 0.50}
	case Thread:
		return colours{"thread", 265, 0.35}
	case Marker, Rest:
		return colours{"no function", 0, 0}
	default:
		return colours{"user", 208, 0.65}
	}
}

// shadeOf returns which of its kind's colours a name has.
func shadeOf(name string) int {
	h := fnv.New32a()
	h.Write([]byte(name))
	return int(h.Sum32() % shades)
}

// fill returns a colour as #rrggbb, for a light or a dark page. Text on it is black or white.
func (c colours) fill(shade int, inlined, dark bool) string {
	lightness := 0.66 + 0.025*float64(shade)
	saturation := c.saturation
	if inlined {
		lightness, saturation = lightness+0.07, saturation*0.6
	}
	if dark {
		lightness = 0.94 - lightness
	}
	return hex(c.hue+float64(shade-shades/2)*2, saturation, lightness)
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
