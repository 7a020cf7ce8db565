package datapath

import (
	"fmt"
	"strconv"
	"strings"
)

// figure says what of a machine is to be predicted: the fields of a published point's case, "key=value key=value".
type figure []struct{ key, value string }

func parseFigure(text string) (figure, error) {
	var f figure
	for _, field := range strings.Fields(text) {
		key, value, found := strings.Cut(field, "=")
		if !found {
			return nil, fmt.Errorf("%q in case %q is no key=value", field, text)
		}
		f = append(f, struct{ key, value string }{key, value})
	}
	return f, nil
}

// text returns the value of a key, "" where there is none.
func (f figure) text(key string) string {
	for _, field := range f {
		if field.key == key {
			return field.value
		}
	}
	return ""
}

// number returns the value of a key as a number, 0 where there is none.
func (f figure) number(key string) float64 {
	v, err := strconv.ParseFloat(f.text(key), 64)
	if err != nil {
		return 0
	}
	return v
}
