package flame

import (
	"bytes"
	"encoding/json"
	"strings"

	"nettrace/source"
)

// isBpftraceJSON reports whether a line is one of bpftrace -f json.
func isBpftraceJSON(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte(`{"type": "`))
	if !ok {
		return false
	}
	kind, rest, _ := bytes.Cut(rest, []byte(`"`))
	switch string(kind) {
	case "attached_probes", "lost_events", "map", "stats", "hist", "lhist", "printf", "time", "syscall", "value", "cat", "join":
		return bytes.HasPrefix(rest, []byte(`, "`))
	}
	return false
}

// json takes one line of bpftrace -f json.
func (f *bpfFolder) json(line []byte) {
	var record struct {
		Type string          `json:"type"`
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(line, &record); err != nil {
		f.damagedJSON()
		return
	}
	switch record.Type {
	case "lost_events":
		var lost struct {
			Events json.Number `json:"events"`
		}
		if json.Unmarshal(record.Data, &lost) == nil {
			f.loss([]byte(lost.Events))
		}
	case "map", "stats", "hist", "lhist":
		f.maps(record.Data)
	}
}

func (f *bpfFolder) damagedJSON() {
	f.ledger.Add("damaged-json", source.Warning, f.lines.Pos(), 1, "the line is no whole JSON; what follows the damage is left out")
}

// maps reads {"@name": {"key": value}} in its order.
func (f *bpfFolder) maps(data []byte) {
	f.at = f.lines.Pos()
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if !delimiter(d, '{') {
		f.damagedJSON()
		return
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			break
		}
		f.name = strings.TrimPrefix(name.(string), "@")
		if !delimiter(d, '{') { // a map without a key
			f.noStack()
			return
		}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				break
			}
			var value json.RawMessage
			if d.Decode(&value) != nil {
				break
			}
			f.jsonKey(key.(string))
			f.jsonValue(value)
		}
		d.Token()
	}
	if _, err := d.Token(); err != nil {
		f.damagedJSON()
	}
}

func delimiter(d *json.Decoder, want json.Delim) bool {
	t, err := d.Token()
	return err == nil && t == want
}

// jsonKey takes a key apart, which is one text with the frames on lines of their own.
func (f *bpfFolder) jsonKey(key string) {
	f.key = f.key[:0]
	f.nextKey()
	for i, line := range strings.Split(key, "\n") {
		if i > 0 && indent([]byte(line)) > 0 {
			last := &f.key[len(f.key)-1]
			last.frames = append(append(last.frames, strings.TrimSpace(line)...), '\n')
			continue
		}
		f.keys(line, ",")
	}
}

func (f *bpfFolder) jsonValue(value json.RawMessage) {
	switch {
	case len(value) > 0 && value[0] == '[': // rows of a histogram
		var rows []struct {
			Count int64 `json:"count"`
		}
		if json.Unmarshal(value, &rows) != nil {
			f.damagedJSON()
			return
		}
		n := int64(0)
		for _, r := range rows {
			n = sum(n, max(r.Count, 0))
		}
		f.entry(n, n)
	case len(value) > 0 && value[0] == '{': // stats()
		var s struct {
			Count int64 `json:"count"`
			Total int64 `json:"total"`
		}
		if json.Unmarshal(value, &s) != nil || s.Count < 0 || s.Total < 0 {
			f.damagedJSON()
			return
		}
		f.entry(s.Count, s.Total)
	default:
		f.value(value)
	}
}
