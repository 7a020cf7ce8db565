package flame

// The file format of speedscope, versions 0.1 to 1.25, which py-spy, rbspy, dotnet-trace and others write too:
//
//	{"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": [{"name": "a"}]},
//	 "profiles": [{"type": "sampled", "name": "main", "unit": "seconds", "startValue": 0, "endValue": 1,
//	               "samples": [[0]], "weights": [1]}]}
//
// Source: https://www.speedscope.app/file-format-schema.json (speedscope src/lib/file-format-spec.ts). Stacks are root
// first. In evented profiles O opens a frame and C closes it; the time to the next event is the weight. Weights in a unit
// of time become nanoseconds, bytes stay so; others may have six decimal places. Times of samples and colours are left
// out. Several profiles of one file are threads by their names; those that this package wrote are events.

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"

	"nettrace/source"
)

const (
	speedscopeSchema   = "https://www.speedscope.app/file-format-schema.json"
	speedscopeExporter = "nettrace"
)

// maxDepth bounds the open frames of evented profiles, which may never be closed.
const maxDepth = 1 << 16

// SniffSpeedscope recognises the object by its schema, or by what only this format begins with.
func SniffSpeedscope(head []byte) source.Match {
	h := bytes.TrimLeft(head, " \r\n\t")
	if len(h) == 0 || h[0] != '{' {
		return source.No
	}
	if bytes.Contains(h, []byte("speedscope.app/file-format-schema.json")) {
		return source.Strong
	}
	if key := bytes.TrimLeft(h[1:], " \r\n\t"); bytes.HasPrefix(key, []byte(`"shared"`)) && bytes.Contains(h, []byte(`"frames"`)) ||
		bytes.HasPrefix(key, []byte(`"profiles"`)) && bytes.Contains(h, []byte(`"weights"`)) {
		return source.Strong
	}
	return source.No
}

// ReadSpeedscope reads the object to the end of the input. What stands before damage is kept.
func ReadSpeedscope(in *source.Input, ledger *source.Ledger) (*Profile, error) {
	start := in.Pos()
	f := scopeReader{builder: newBuilder(start.Source, ledger), start: start, numbers: map[string]uint32{}}
	f.d = json.NewDecoder(in)
	f.d.UseNumber()
	if err := f.file(); err != nil {
		ledger.Add("cut-input", source.Warning, f.at(), 1, "the JSON is damaged or cut here; of what stands before, samples with weights and names of frames are read")
		if len(f.profiles) == 0 || len(f.frames) == 0 {
			return nil, &source.SyntaxError{Pos: f.at(), Msg: fmt.Sprintf("not a whole speedscope file (%v): no frame has both samples and a name; write it again, or look whether its copy was cut", err)}
		}
	}
	p := &Profile{Source: start.Source, Line: start.Line, Format: "speedscope"}
	f.fold()
	f.finish(p)
	if len(p.Events) == 0 {
		ledger.Add("no-samples", source.Warning, start, 1, "the file holds no samples")
	}
	return p, nil
}

// scopeReader reads profiles by the numbers of their frames, whose names may come last.
type scopeReader struct {
	*builder
	start    source.Pos
	d        *json.Decoder
	exporter string
	frames   []line
	profiles []*scopeProfile
	numbers  map[string]uint32 // of stacks, each four bytes a frame, root first
	texts    []string          // of stacks
}

// scopeProfile is one profile of the file.
type scopeProfile struct {
	at         source.Pos
	name, unit string
	stacks     []uint32       // of the samples, until their weights are known
	sums       map[uint32]int // place in list by stack
	list       []scopeStack   // in the order in which they were met
	open       []uint32       // frames of an evented profile
	last       scopeNumber    // when the event before was
	weighed    int            // samples with weights
}

type scopeStack struct {
	stack   uint32
	samples int64
	weight  scopeNumber
}

// at returns the place in the input.
func (f *scopeReader) at() source.Pos {
	return source.Pos{Source: f.source, Offset: f.d.InputOffset()}
}

// members calls take for each member of the object that follows.
func (f *scopeReader) members(take func(name string) error) error {
	if !delimiter(f.d, '{') {
		return fmt.Errorf("no object")
	}
	for f.d.More() {
		t, err := f.d.Token()
		if err != nil {
			return err
		}
		if err := take(t.(string)); err != nil {
			return err
		}
	}
	_, err := f.d.Token()
	return err
}

// items calls take before each item of the list that follows.
func (f *scopeReader) items(take func() error) error {
	if !delimiter(f.d, '[') {
		return fmt.Errorf("no list")
	}
	for f.d.More() {
		if err := take(); err != nil {
			return err
		}
	}
	_, err := f.d.Token()
	return err
}

func (f *scopeReader) skip() error {
	var v json.RawMessage
	return f.d.Decode(&v)
}

func (f *scopeReader) file() error {
	return f.members(func(name string) error {
		switch name {
		case "exporter":
			return f.d.Decode(&f.exporter)
		case "shared":
			return f.members(func(name string) error {
				if name != "frames" {
					return f.skip()
				}
				return f.items(f.frame)
			})
		case "profiles":
			return f.items(func() error { return f.profile() })
		}
		return f.skip()
	})
}

func (f *scopeReader) frame() error {
	var frame struct{ Name, File string }
	err := f.d.Decode(&frame)
	if err == nil {
		f.frames = append(f.frames, line{symbol: frame.Name, file: frame.File})
	}
	return err
}

func (f *scopeReader) profile() error {
	p := &scopeProfile{at: f.at(), sums: map[uint32]int{}}
	f.profiles = append(f.profiles, p)
	err := f.members(func(name string) error {
		switch name {
		case "name":
			return f.d.Decode(&p.name)
		case "unit":
			return f.d.Decode(&p.unit)
		case "samples":
			return f.items(func() error { return f.sample(p) })
		case "weights":
			return f.items(func() error { return f.weight(p) })
		case "events":
			return f.items(func() error { return f.scopeEvent(p) })
		}
		return f.skip()
	})
	if n := len(p.stacks) - p.weighed; n > 0 {
		f.ledger.Add("no-weight", source.Warning, p.at, int64(n), "samples without a weight, or with a negative one; left out")
	}
	p.stacks = nil
	return err
}

func (f *scopeReader) sample(p *scopeProfile) error {
	var stack []uint32
	err := f.d.Decode(&stack)
	if err == nil {
		p.stacks = append(p.stacks, f.number(stack))
	}
	return err
}

func (f *scopeReader) number(stack []uint32) uint32 {
	var key []byte
	for _, frame := range stack {
		key = binary.LittleEndian.AppendUint32(key, frame)
	}
	n, known := f.numbers[string(key)]
	if !known {
		n = uint32(len(f.texts))
		f.texts = append(f.texts, string(key))
		f.numbers[f.texts[n]] = n
	}
	return n
}

func (f *scopeReader) weight(p *scopeProfile) error {
	var weight json.Number
	if err := f.d.Decode(&weight); err != nil {
		return err
	}
	if p.weighed < len(p.stacks) && !strings.HasPrefix(string(weight), "-") {
		p.add(p.stacks[p.weighed], parseScope(weight))
		p.weighed++
	} else if len(p.stacks) > p.weighed { // keep in step
		p.stacks = append(p.stacks[:p.weighed], p.stacks[p.weighed+1:]...)
		f.ledger.Add("no-weight", source.Warning, p.at, 1, "samples without a weight, or with a negative one; left out")
	}
	return nil
}

func (p *scopeProfile) add(stack uint32, weight scopeNumber) {
	i, known := p.sums[stack]
	if !known {
		i = len(p.list)
		p.sums[stack] = i
		p.list = append(p.list, scopeStack{stack: stack})
	}
	p.list[i].samples++
	p.list[i].weight = p.list[i].weight.plus(weight)
}

// scopeEvent takes an event that opens or closes a frame.
func (f *scopeReader) scopeEvent(p *scopeProfile) error {
	var e struct {
		Type  string
		Frame uint32
		At    json.Number
	}
	if err := f.d.Decode(&e); err != nil {
		return err
	}
	at := parseScope(e.At)
	if d := at.minus(p.last); len(p.open) > 0 && d.positive() {
		p.add(f.number(p.open), d)
	}
	p.last = at
	top := len(p.open) - 1
	switch {
	case e.Type == "O" && len(p.open) < maxDepth:
		p.open = append(p.open, e.Frame)
	case e.Type == "C" && top >= 0 && p.open[top] == e.Frame:
		p.open = p.open[:top]
	default:
		f.ledger.Add("odd-event", source.Warning, f.at(), 1, "an event that neither opens a frame nor closes the innermost open one; ignored")
	}
	return nil
}
