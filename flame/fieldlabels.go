package flame

import (
	"strings"

	"github.com/google/pprof/profile"

	"nettrace/perf"
)

// Fields of tracepoints become labels of their samples, so that stacks can be told apart by device, softirq or reason of a drop.
// Only those are kept that have few values: addresses, lengths and times would make each sample a stack of its own. The
// names are those of the kernel's print formats (include/trace/events of Linux 6.1).

// tracepointFields are the fields that are kept, by the beginning of the event's name.
func tracepointFields() []struct {
	event string
	keys  []string
} {
	return []struct {
		event string
		keys  []string
	}{
		{"irq:irq_handler", []string{"irq", "name", "ret"}},
		{"irq:softirq", []string{"action"}},
		{"napi:napi_poll", []string{"device", "budget"}},
		{"net:", []string{"dev", "rc"}},
		{"skb:kfree_skb", []string{"protocol", "reason"}},
		{"qdisc:", []string{"dev"}},
		{"sched:sched_switch", []string{"prev_state"}},
		{"lock:contention", []string{"flags", "ret"}},
	}
}

// FieldLabels returns the names of all labels that are fields of tracepoints, in the order in which a sample has them.
func FieldLabels() []Label {
	var labels []Label
	seen := map[string]bool{}
	for _, t := range tracepointFields() {
		for _, key := range t.keys {
			if !seen[key] {
				seen[key] = true
				labels = append(labels, Label(key))
			}
		}
	}
	return labels
}

// fieldsOf returns the keys kept of an event's fields.
func fieldsOf(event string) []string {
	for _, t := range tracepointFields() {
		if strings.HasPrefix(event, t.event) {
			return t.keys
		}
	}
	return nil
}

// fieldEnd stands behind each field of labels.fields.
const fieldEnd = "\x1f"

// appendFields appends the kept fields of a payload: "dev=eth0", each with its end.
func appendFields(to []byte, payload []byte, keys []string) []byte {
	for _, key := range keys {
		if value, ok := perf.Field(payload, key); ok && len(value) > 0 && strings.IndexByte(string(value), fieldEnd[0]) < 0 {
			to = append(append(append(append(to, key...), '='), value...), fieldEnd...)
		}
	}
	return to
}

// fieldLabels puts the fields into a sample's labels.
func (l labels) fieldLabels(m map[string][]string) {
	for field := range strings.SplitSeq(l.fields, fieldEnd) {
		if key, value, ok := strings.Cut(field, "="); ok {
			m[key] = []string{value}
		}
	}
}

// fieldsIn reads the fields back from a sample's labels.
func fieldsIn(s *profile.Sample, known []Label) string {
	var fields []byte
	for _, label := range known {
		if value := label.value(s); value != "" && !strings.Contains(value, fieldEnd) {
			fields = append(append(append(append(fields, label...), '='), value...), fieldEnd...)
		}
	}
	return string(fields)
}
