package flame

// firstDiff is the class of same; those of the other verdicts follow.
const firstDiff = firstRule + maxPaletteRules

// diffPaint is how a verdict is shown: from blue for less to orange for more, which all eyes tell apart (Okabe and Ito,
// Color Universal Design, 2008), strongest where only one side has something.
type diffPaint struct {
	light, onLight string // of the box and of its text
	dark, onDark   string
	title          string
}

func diffPaints() [verdicts]diffPaint {
	return [verdicts]diffPaint{
		same:      {"#d6d8da", "#111", "#464b50", "#eee", "same, or by chance"},
		less1:     {"#cfe2f3", "#111", "#27435c", "#eee", "less"},
		less2:     {"#94c1e6", "#111", "#2a5a86", "#eee", "less by a fifth"},
		less3:     {"#569bd2", "#111", "#2769a8", "#eee", "less than half"},
		more1:     {"#fbe0c4", "#111", "#54402a", "#eee", "more"},
		more2:     {"#f7bd7e", "#111", "#7a5320", "#eee", "more by a fifth"},
		more3:     {"#ee9336", "#111", "#965b12", "#eee", "more than twice"},
		onlyOther: {"#a84300", "#fff", "#ffae5c", "#111", "new"},
		onlyBase:  {"#1c5a94", "#fff", "#8cc8ff", "#111", "vanished"},
	}
}
