package tui

import (
	"slices"
	"strconv"
	"strings"

	"nettrace/datapath"
)

// knob is a setting that can be moved.
type knob struct {
	key, doc    string
	values      []string
	at, initial int
}

func (k *knob) value() string { return k.values[k.at] }
func (k *knob) moved() bool   { return k.at != k.initial }

type knobs []knob

func (k knobs) of(key string) string {
	for i := range k {
		if k[i].key == key {
			return k[i].value()
		}
	}
	return ""
}

// changes are the settings that were moved, as the program takes them; those that except names are no settings.
func (k knobs) changes(except ...string) string {
	var list []string
	for i := range k {
		if k[i].moved() && !slices.Contains(except, k[i].key) {
			list = append(list, k[i].key+"="+k[i].value())
		}
	}
	return strings.Join(list, ",")
}

// newKnob makes a knob of a setting: its choices, or, of a number, powers of two within its range. The initial value is always
// among them.
func newKnob(s datapath.Setting, initial string) knob {
	k := knob{key: s.Key, doc: s.Doc + " (" + s.Values + ")", values: steps(s.Values)}
	if i := slices.Index(k.values, initial); i >= 0 {
		k.at, k.initial = i, i
		return k
	}
	k.insert(initial)
	k.initial = k.at
	return k
}

// insert goes to a value, which takes its place among the others.
func (k *knob) insert(value string) {
	at := slices.Index(k.values, value)
	if at < 0 {
		v, err := strconv.ParseFloat(value, 64)
		at = 0
		for at < len(k.values) && err == nil {
			if w, werr := strconv.ParseFloat(k.values[at], 64); werr == nil && w > v {
				break
			}
			at++
		}
		k.values = slices.Insert(slices.Clone(k.values), at, value)
		if at <= k.initial && k.at != at {
			k.initial++
		}
	}
	k.at = at
}

// steps returns the values of a setting: "on, off" as they are, "0 to 4096 us" as 0, 1, 2, 4 and so on.
func steps(values string) (list []string) {
	low, rest, number := strings.Cut(values, " to ")
	if !number {
		return strings.Split(values, ", ")
	}
	high, _, _ := strings.Cut(rest, " ")
	from, err1 := strconv.ParseFloat(low, 64)
	to, err2 := strconv.ParseFloat(high, 64)
	if err1 != nil || err2 != nil {
		return []string{low}
	}
	if from == 0 {
		list = append(list, "0")
	}
	for v := max(from, 1); v <= to; v *= 2 {
		list = append(list, strconv.FormatFloat(v, 'f', -1, 64))
	}
	return list
}
