package coalesce

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// State tells what a Value holds. Zero, not available and absent are three things: a device without a jumbo ring has
// no jumbo ring of size 0.
type State uint8

const (
	Absent       State = iota // not printed
	Number                    // Value.N
	Off                       // "off", false
	On                        // "on", true
	NotAvailable              // "n/a": the driver does not support it
	Unreadable                // printed, but not understood
)

// Value is a setting's value. The zero Value is absent. In JSON it is a number, true, false, "n/a", "unreadable" or null.
type Value struct {
	State State
	N     uint64
}

// Num returns a number.
func Num(n uint64) Value { return Value{Number, n} }

// Switch returns On or Off.
func Switch(on bool) Value {
	if on {
		return Value{State: On}
	}
	return Value{State: Off}
}

// Number returns the value's number, and whether it is one.
func (v Value) Number() (uint64, bool) { return v.N, v.State == Number }

// On reports whether the value is a switch that is on.
func (v Value) On() bool { return v.State == On }

func (v Value) String() string {
	switch v.State {
	case Number:
		return strconv.FormatUint(v.N, 10)
	case Off:
		return "off"
	case On:
		return "on"
	case NotAvailable:
		return "n/a"
	case Unreadable:
		return "unreadable"
	default:
		return "absent"
	}
}

// MarshalJSON implements json.Marshaler.
func (v Value) MarshalJSON() ([]byte, error) {
	switch v.State {
	case Number:
		return strconv.AppendUint(nil, v.N, 10), nil
	case Off, On:
		return strconv.AppendBool(nil, v.State == On), nil
	case NotAvailable, Unreadable:
		return strconv.AppendQuote(nil, v.String()), nil
	default:
		return []byte("null"), nil
	}
}

// UnmarshalJSON implements json.Unmarshaler.
func (v *Value) UnmarshalJSON(text []byte) error {
	switch s := string(text); s {
	case "null":
		*v = Value{}
	case "true", "false":
		*v = Switch(s == "true")
	case `"n/a"`:
		*v = Value{State: NotAvailable}
	case `"unreadable"`:
		*v = Value{State: Unreadable}
	default:
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return fmt.Errorf("%s is no value: a number, true, false, \"n/a\", \"unreadable\" or null is expected", s)
		}
		*v = Num(n)
	}
	return nil
}

var _ json.Unmarshaler = (*Value)(nil)

// parseValue reads a value as ethtool prints it.
func parseValue(word []byte) Value {
	switch word = bytes.TrimSpace(word); {
	case string(word) == "on", string(word) == "true":
		return Switch(true)
	case string(word) == "off", string(word) == "false":
		return Switch(false)
	case string(word) == "n/a":
		return Value{State: NotAvailable}
	}
	n, ok := parseUint(word)
	if !ok {
		return Value{State: Unreadable}
	}
	return Num(n)
}

// parseUint reads decimal digits and nothing else, without allocation.
func parseUint(digits []byte) (n uint64, ok bool) {
	if len(digits) == 0 || len(digits) > 20 {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		d := uint64(c - '0')
		if n > (1<<64-1-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	return n, true
}
