package coalesce

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"nettrace/source"
)

// ethtool --json -a, -c, -g, -k: a list with an object for each interface, fields in the order of the text output.
//
//	[ {
//	        "ifname": "eth0",
//	        "rx-usecs": 16,
//
// Written by ethtool since 5.10 (-k), 6.2 (-c) and later (-g); fields that the device does not support are absent. Until
// 6.8 ethtool -c keyed both the adaptive modes and the CQE modes "rx" and "tx", twice in one object: they are told apart
// by their place, the adaptive ones before the first number. Source: ethtool netlink/{features,coalesce,rings}.c.

// maxJSON bounds how much text one list may have; the largest real one, of features, is 10 KB an interface.
const maxJSON = 8 << 20

// SniffJSON recognises ethtool's JSON: the object's first key is "ifname", and one that only ethtool prints follows.
func SniffJSON(head []byte) source.Match {
	if len(head) == 0 || head[0] != '[' {
		return source.No
	}
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(head[1:], " \t\r\n"), []byte("{"))
	if !ok || !bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(`"ifname"`)) {
		return source.No
	}
	for _, key := range []string{`-usecs"`, `-frames"`, `"adaptive-`, `"rx-max"`, `"tx-max"`, `"tx-push"`, `"requested"`, `"cqe-mode`, `"rx": true`, `"rx": false`, `"autonegotiate"`} {
		if bytes.Contains(rest, []byte(key)) {
			return source.Strong
		}
	}
	return source.No
}

// ReadJSON reads ethtool's JSON.
func ReadJSON(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	text, places, whole := jsonLines(l)
	out := &Output{Tool: "ethtool", Pos: places.at(0)}
	if !whole {
		cut(ledger, places.at(int64(len(text))), "the input ends inside ethtool's JSON; the settings that are missing count as absent")
	}
	r := jsonReader{decoder: json.NewDecoder(bytes.NewReader(text)), places: places}
	r.decoder.UseNumber()
	err := r.list()
	out.Interfaces = r.interfaces
	for _, i := range r.interfaces {
		if tool := jsonTool(i.Settings); tool != "" {
			out.Tool = tool
		}
	}
	switch {
	case !whole:
	case len(r.interfaces) == 0 || out.Tool == "ethtool":
		return nil, &source.SyntaxError{Pos: out.Pos, Msg: "no settings in this JSON list that ethtool -a, -c, -g or -k would print"}
	case err != nil && !errors.Is(err, io.EOF):
		ledger.Add("unreadable-line", source.Warning, places.at(r.decoder.InputOffset()), 1, "the JSON is damaged: "+err.Error()+"; what came before is used")
	}
	if out.Tool == "ethtool-c" {
		for k := range out.Interfaces {
			resolveTwins(out.Interfaces[k].Settings)
		}
	}
	return out, nil
}

// places maps offsets in the text of several lines to positions.
type places struct {
	starts []int64
	pos    []source.Pos
}

func (p places) at(offset int64) source.Pos {
	i, found := slices.BinarySearch(p.starts, offset)
	if !found {
		i--
	}
	if i < 0 {
		return source.Pos{}
	}
	pos := p.pos[i]
	pos.Offset += offset - p.starts[i]
	return pos
}

// jsonLines takes the lines up to the end of the list, and reports whether it was found.
func jsonLines(l *source.Lines) (text []byte, p places, whole bool) {
	depth, inString, escaped := 0, false, false
	for len(text) < maxJSON && l.Next() {
		p.starts, p.pos = append(p.starts, int64(len(text))), append(p.pos, l.Pos())
		for i, c := range l.Bytes() {
			switch {
			case escaped:
				escaped = false
			case inString:
				escaped, inString = c == '\\', c != '"'
			case c == '"':
				inString = true
			case c == '[' || c == '{':
				depth++
			case c == ']' || c == '}':
				if depth--; depth <= 0 {
					return append(text, l.Bytes()[:i+1]...), p, true
				}
			}
		}
		inString = false // a string does not go over the end of a line
		text = append(append(text, l.Bytes()...), '\n')
	}
	return text, p, false
}

type jsonReader struct {
	decoder    *json.Decoder
	places     places
	interfaces []InterfaceOutput
}

func (r *jsonReader) list() error {
	if err := r.expect('['); err != nil {
		return err
	}
	for r.decoder.More() && len(r.interfaces) < maxItems {
		r.interfaces = append(r.interfaces, InterfaceOutput{})
		if err := r.object(&r.interfaces[len(r.interfaces)-1]); err != nil {
			return err
		}
	}
	return nil
}

func (r *jsonReader) expect(delim json.Delim) error {
	t, err := r.decoder.Token()
	if err != nil {
		return err
	}
	if t != delim {
		return fmt.Errorf("%v where %v was expected", t, delim)
	}
	return nil
}

func (r *jsonReader) object(i *InterfaceOutput) error {
	if err := r.expect('{'); err != nil {
		return err
	}
	for r.decoder.More() {
		key, err := r.decoder.Token()
		if err != nil {
			return err
		}
		name, _ := key.(string)
		pos := r.places.at(r.decoder.InputOffset() - 1)
		var raw json.RawMessage
		if err := r.decoder.Decode(&raw); err != nil {
			return err
		}
		if name == "ifname" {
			i.Name = strings.Trim(string(raw), `"`)
			continue
		}
		if len(i.Settings) < maxItems {
			i.Settings = append(i.Settings, jsonSetting(name, raw, pos))
		}
	}
	_, err := r.decoder.Token()
	return err
}

// jsonSetting reads a number, a switch, or a feature's object of three.
func jsonSetting(name string, raw json.RawMessage, pos source.Pos) Setting {
	s := Setting{Name: canonicalCoalesce(name), Value: parseValue(raw), Queue: -1, Pos: pos}
	var feature struct{ Active, Fixed, Requested *bool }
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &feature) != nil || feature.Active == nil {
		return s
	}
	s.Value = Switch(*feature.Active)
	s.Fixed = feature.Fixed != nil && *feature.Fixed
	if feature.Requested != nil && *feature.Requested != *feature.Active && !s.Fixed {
		s.Requested = Switch(*feature.Requested)
	}
	return s
}

// jsonTool tells which subcommand prints the settings.
func jsonTool(settings []Setting) string {
	for _, s := range settings {
		switch {
		case s.Name == "rx-checksumming" || s.Name == "tx-checksumming" || s.Name == "scatter-gather" || s.Name == "highdma":
			return "ethtool-k"
		case strings.HasSuffix(s.Name, "-usecs") || strings.HasSuffix(s.Name, "-frames") || strings.HasPrefix(s.Name, "adaptive-") || strings.HasPrefix(s.Name, "cqe-mode-"):
			return "ethtool-c"
		case s.Name == "autonegotiate":
			return "ethtool-a"
		case s.Name == "rx-max" || s.Name == "tx-max" || s.Name == "tx-push":
			return "ethtool-g"
		}
	}
	return ""
}

// resolveTwins gives the settings named "rx" and "tx" their full names.
func resolveTwins(settings []Setting) {
	group := "adaptive-"
	seen := 0
	for k := range settings {
		s := &settings[k]
		switch {
		case s.Name != "rx" && s.Name != "tx":
			group = "cqe-mode-"
		default:
			if seen++; seen > 2 {
				group = "cqe-mode-"
			}
			s.Name = group + s.Name
		}
	}
}
