package perf

import "bytes"

// The fields of a tracepoint, as each event's print format in the kernel writes them (include/trace/events/*.h; cat
// /sys/kernel/tracing/events/SYSTEM/EVENT/format). There are four ways of writing a field, often mixed in one payload:
//
//	irq=36 name=virtio1-req.0                                          irq:irq_handler_entry
//	vec=3 [action=NET_RX]                                              irq:softirq_entry
//	skbaddr=0xffff8881 protocol=2048 location=0xffffffff81 reason: TCP_OVERWINDOW   skb:kfree_skb
//	napi poll on napi struct 0xffff8881 for device eth0 work 1 budget 64   napi:napi_poll
//	0xffff888627c2ba80 (flags=SPIN)                                    lock:contention_begin
//	prev_comm=tx 12/3 [x] prev_pid=1 prev_state=R ==> next_comm=y      sched:sched_switch

// Field returns the value of a payload's field: what follows "key=", "key: " or, where a payload has neither, the word
// behind the word key. A value goes on to the next field, since thread names and others may hold blanks.
func Field(payload []byte, key string) (value []byte, ok bool) {
	if i := fieldAt(payload, key, '='); i >= 0 {
		return valueOf(payload[i:]), true
	}
	if i := fieldAt(payload, key, ':'); i >= 0 {
		return valueOf(trimLeft(payload[i:])), true
	}
	if i := fieldAt(payload, key, ' '); i >= 0 {
		word, _ := cutToken(trimLeft(payload[i:]))
		return word, len(word) > 0
	}
	return nil, false
}

// NumberField returns the value of a field that is a number, decimal or after 0x; text behind it ("12 [ns]") is left out.
func NumberField(payload []byte, key string) (n int64, ok bool) {
	value, ok := Field(payload, key)
	if !ok {
		return 0, false
	}
	return Number(value)
}

// Number reads the number that a value begins with: decimal with or without a sign, or hexadecimal after 0x. Numbers
// above an int64's are its bits, as addresses and masks are.
func Number(value []byte) (n int64, ok bool) {
	if hex, isHex := bytes.CutPrefix(value, []byte("0x")); isHex {
		v, digits := cutHex(hex)
		return int64(v), digits > 0
	}
	digits, negative := bytes.CutPrefix(value, []byte("-"))
	end := 0
	for end < len(digits) && isDigit(digits[end]) {
		end++
	}
	if n, ok = number(digits[:end]); negative {
		n = -n
	}
	return n, ok
}

// fieldAt returns the place behind key and its separator, -1 if the payload has no such field.
func fieldAt(payload []byte, key string, separator byte) int {
	for at := 0; key != ""; {
		i := bytes.Index(payload[at:], []byte(key))
		if i < 0 {
			break
		}
		start, end := at+i, at+i+len(key)
		at = end
		if end >= len(payload) || payload[end] != separator || start > 0 && !opensField(payload[start-1]) {
			continue
		}
		if separator == ':' && (end+1 >= len(payload) || !isBlank(payload[end+1])) {
			continue
		}
		return end + 1
	}
	return -1
}

func opensField(c byte) bool { return isBlank(c) || c == '[' || c == '(' || c == ',' }

// valueOf returns the value that rest begins with: up to the next field, or the end of the bracket that the field stands in.
func valueOf(rest []byte) []byte {
	for i := range rest {
		if isBlank(rest[i]) && beginsField(rest[i:]) {
			rest = rest[:i]
			break
		}
	}
	return closeBracket(trimRight(rest))
}

// beginsField reports whether b, which begins with a blank, goes on with another field: "key=", "key: ", "[key=", "(key=",
// or the arrow between two groups of fields.
func beginsField(b []byte) bool {
	b = trimLeft(b)
	if bytes.HasPrefix(b, []byte("==>")) {
		return true
	}
	if len(b) > 0 && (b[0] == '[' || b[0] == '(') {
		b = b[1:]
	}
	n := 0
	for n < len(b) && isKeyByte(b[n], n) {
		n++
	}
	if n == 0 || n == len(b) {
		return false
	}
	return b[n] == '=' || b[n] == ':' && (n+1 == len(b) || isBlank(b[n+1]))
}

func isKeyByte(c byte, at int) bool {
	return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || at > 0 && isDigit(c)
}

// closeBracket takes a bracket off the end of value that was opened before it, and the comma between two fields.
func closeBracket(value []byte) []byte {
	n := len(value)
	if n == 0 {
		return value
	}
	switch value[n-1] {
	case ',':
		return value[:n-1]
	case ']':
		if bytes.IndexByte(value, '[') < 0 {
			return value[:n-1]
		}
	case ')':
		if bytes.IndexByte(value, '(') < 0 {
			return value[:n-1]
		}
	}
	return value
}
