package coalesce

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"nettrace/unit"
)

// Which outputs make a series, in which order they were taken, and how far apart.

// mtimeStep is the least distance at which modification times are believed: files of one checkout or copy are closer.
const mtimeStep = time.Second

// offsetName finds seconds in the name of a file: "interrupts-t60.txt" was taken 60 s after "interrupts-t0.txt".
func offsetName(name string) (stem string, seconds uint64, ok bool) {
	stem = strings.TrimSuffix(name, path.Ext(name))
	i := strings.LastIndexAny(stem, "-_.")
	if i < 0 || i+2 >= len(stem) || stem[i+1] != 't' {
		return "", 0, false
	}
	seconds, ok = parseUint([]byte(stem[i+2:]))
	return stem[:i], seconds, ok && seconds < 1<<31
}

// family returns what the names of one series have in common: the base name without time, phase, and the digits of a
// running number.
func family(o *Output) string {
	base := path.Base(o.Pos.Source)
	if stem, _, ok := offsetName(base); ok {
		return stem
	}
	if !o.Name.Time.IsZero() {
		before, after, _ := strings.Cut(base, o.Name.Time.Format("20060102T150405"))
		_, after, _ = strings.Cut(after, "Z")
		base = before + after
	}
	for _, phase := range []string{"before", "after"} {
		base = strings.Replace(base, phase, "@", 1)
	}
	var b strings.Builder
	for i, r := range base {
		if !unicode.IsDigit(r) {
			b.WriteRune(r)
		} else if i == 0 || !unicode.IsDigit(rune(base[i-1])) {
			b.WriteByte('#')
		}
	}
	return b.String()
}

// snapshotNamed reports whether a file is named <tag>.<tool>..., so that its tag's group tells sets apart. In
// "coalesce-before.txt" the group only says what the file is about.
func snapshotNamed(o *Output) bool {
	return !o.Name.Time.IsZero() || strings.ContainsAny(o.Name.Tool, "-_")
}

func phaseRank(o *Output) int {
	switch o.Name.Phase {
	case "before":
		return 0
	case "after":
		return 2
	}
	return 1
}

// member is an output, and for counters its part about one interface.
type member struct {
	*Output
	part *InterfaceOutput
}

// inOrder sorts outputs by the time at which they were taken, as far as anything tells: by the times in their text, in all
// their names, or by the seconds in all their names, else by phase, name (numbers as numbers) and place.
func inOrder(members []member) {
	from := timeFrom(members)
	slices.SortStableFunc(members, func(a, b member) int {
		if c := compareTime(from, a.Output, b.Output); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(phaseRank(a.Output), phaseRank(b.Output)), natural(a.Pos.Source, b.Pos.Source), cmp.Compare(a.Pos.Offset, b.Pos.Offset))
	})
}

func compareTime(from string, a, b *Output) int {
	switch from {
	case TimeFromContent:
		return a.At.Compare(b.At)
	case TimeFromName:
		return a.Name.Time.Compare(b.Name.Time)
	case TimeFromOffset:
		_, x, _ := offsetName(path.Base(a.Pos.Source))
		_, y, _ := offsetName(path.Base(b.Pos.Source))
		return cmp.Compare(x, y)
	}
	return 0
}

// timeFrom says what tells when outputs were taken, TimeUnknown if neither names nor text do. Names come first, unless
// one is that of several outputs whose text tells.
func timeFrom(members []member) string {
	named, told, offset := true, true, true
	for _, o := range members {
		named, told = named && !o.Name.Time.IsZero(), told && !o.At.IsZero()
		if offset {
			_, _, offset = offsetName(path.Base(o.Pos.Source))
		}
	}
	switch {
	case told && (!named || repeated(members)):
		return TimeFromContent
	case named:
		return TimeFromName
	case offset:
		return TimeFromOffset
	}
	return TimeUnknown
}

// repeated reports whether several of the outputs are of one file.
func repeated(members []member) bool {
	seen := map[string]bool{}
	for _, o := range members {
		if seen[o.Pos.Source] {
			return true
		}
		seen[o.Pos.Source] = true
	}
	return false
}

// natural compares names with the numbers in them by value: "series2" comes before "series10".
func natural(a, b string) int {
	for a != "" && b != "" {
		x, y := leading(a), leading(b)
		if unicode.IsDigit(rune(a[0])) && unicode.IsDigit(rune(b[0])) {
			p, q := strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
			if c := cmp.Or(cmp.Compare(len(p), len(q)), cmp.Compare(p, q)); c != 0 {
				return c
			}
		} else if c := cmp.Compare(x, y); c != 0 {
			return c
		}
		a, b = a[len(x):], b[len(y):]
	}
	return cmp.Compare(len(a), len(b))
}

// leading returns the longest beginning of s that is all digits or has none.
func leading(s string) string {
	isDigit := unicode.IsDigit(rune(s[0]))
	for i := 1; i < len(s); i++ {
		if unicode.IsDigit(rune(s[i])) != isDigit {
			return s[:i]
		}
	}
	return s
}

// stamp returns the snapshots of a series with their times, and where these come from.
func stamp(outputs []member, interval unit.Nanos) Series {
	s := Series{Tool: outputs[0].Tool, TimeFrom: TimeUnknown, Snapshots: make([]Snapshot, len(outputs))}
	for i, o := range outputs {
		s.Snapshots[i] = Snapshot{Pos: o.Pos, Phase: o.Name.Phase, Time: o.Name.Time}
	}
	from := timeFrom(outputs)
	if len(outputs) < 2 {
		if from == TimeFromName || from == TimeFromContent {
			s.TimeFrom = from
		}
		return s
	}
	at := make([]unit.Nanos, len(outputs))
	switch {
	case from == TimeFromContent:
		s.TimeFrom = TimeFromContent
		for i, o := range outputs {
			at[i] = unit.Nanos(o.At.Sub(outputs[0].At))
			s.Snapshots[i].Time = o.At
		}
	case from == TimeFromName && !repeated(outputs):
		s.TimeFrom = TimeFromName
		for i, o := range outputs {
			at[i] = unit.Nanos(o.Name.Time.Sub(outputs[0].Name.Time))
		}
	case from == TimeFromOffset && !repeated(outputs):
		s.TimeFrom = TimeFromOffset
		for i, o := range outputs {
			_, seconds, _ := offsetName(path.Base(o.Pos.Source))
			at[i] = unit.Nanos(seconds) * unit.Second
		}
	case interval > 0:
		s.TimeFrom = TimeFromInterval
		for i := range at {
			at[i] = unit.Nanos(i) * interval
		}
	case mtimesTell(outputs):
		s.TimeFrom = TimeFromMTime
		for i, o := range outputs {
			at[i] = unit.Nanos(o.ModTime.Sub(outputs[0].ModTime))
			s.Snapshots[i].Time = o.ModTime
		}
	}
	for i := range at {
		s.Snapshots[i].Offset = at[i] - at[0]
	}
	return s
}

func mtimesTell(outputs []member) bool {
	for i, o := range outputs {
		if o.ModTime.IsZero() || i > 0 && o.ModTime.Sub(outputs[i-1].ModTime) < mtimeStep {
			return false
		}
	}
	return true
}
