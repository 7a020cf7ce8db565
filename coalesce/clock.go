package coalesce

import (
	"bytes"
	"time"
)

// Lines that tell the time in a log of commands, such as "while sleep 1; do date; cat /proc/interrupts; done" writes.

// clockLayouts are what date prints by default (coreutils, the C and C.UTF-8 locales, with 24 hours), with -R, -Is and in
// the ISO form that scripts use. Zones by name are taken as they stand: only differences count.
func clockLayouts() []string {
	return []string{"Mon Jan _2 15:04:05 MST 2006", "Mon Jan _2 15:04:05 2006", "Mon, 02 Jan 2006 15:04:05 -0700", "Mon Jan _2 03:04:05 PM MST 2006", "Mon _2 Jan 2006 03:04:05 PM MST", "Mon _2 Jan 15:04:05 MST 2006",
		"2006-01-02T15:04:05.999999999Z07:00", "2006-01-02T15:04:05,999999999-07:00", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999", "20060102T150405.999999999Z"}
}

// ClockLine reads the time of a line that holds nothing else but marks around it ("### 2026-11-30 16:38:15 ###",
// "zzz ***Mon Nov 30 16:38:15 UTC 2026").
func ClockLine(line []byte) (t time.Time, ok bool) {
	line = bytes.TrimPrefix(bytes.TrimSpace(line), []byte("zzz"))
	line = bytes.Trim(line, "#=*-+[](): \t")
	if len(line) < 15 || len(line) > 40 || bytes.IndexByte(line, ':') < 0 && bytes.IndexByte(line, 'T') < 0 {
		return t, false
	}
	if !digit(line[0]) && !weekday(line) {
		return t, false
	}
	for _, layout := range clockLayouts() {
		if t, err := time.Parse(layout, string(line)); err == nil && t.Year() > 1990 {
			return t.UTC(), true
		}
	}
	return t, false
}

func weekday(line []byte) bool {
	for _, day := range [...]string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"} {
		if bytes.HasPrefix(line, []byte(day)) {
			return true
		}
	}
	return false
}
