package perf

import (
	"bytes"
	"sync"
)

// maxCached bounds the cache of frame texts; it is emptied when it is full.
const maxCached = 1 << 16

// functions finds what frames name. A recording has far fewer distinct frame texts than frames, so a text is taken apart
// once and found again by its bytes.
type functions struct {
	cache   map[string]Frame // by the text behind the address
	strings map[string]string
	names   *nameTable
}

func newFunctions(n *nameTable) functions {
	return functions{cache: map[string]Frame{}, strings: map[string]string{}, names: n}
}

// intern returns b as a string that is allocated once.
func (f *functions) intern(b []byte) string {
	if s, ok := f.strings[string(b)]; ok {
		return s
	}
	s := string(b)
	f.strings[s] = s
	return s
}

// nameTable holds the functions of a whole text, which all that decode parts of it share.
type nameTable struct {
	mutex   sync.Mutex
	byName  map[Function]*Function
	strings map[string]string
}

func newNameTable() *nameTable {
	return &nameTable{byName: map[Function]*Function{}, strings: map[string]string{}}
}

// function returns the function of a symbol in an object, the same for the same names.
func (n *nameTable) function(symbol, object []byte) *Function {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	key := Function{Symbol: n.intern(symbol), Inlined: string(object) == "inlined"}
	if !key.Inlined {
		key.DSO = n.intern(object)
	}
	return n.locked(key)
}

// named returns the one function that is equal to key but for its ID.
func (n *nameTable) named(key Function) *Function {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	return n.locked(key)
}

func (n *nameTable) locked(key Function) *Function {
	f, known := n.byName[key]
	if !known {
		f = &Function{ID: len(n.byName), Symbol: key.Symbol, DSO: key.DSO, Inlined: key.Inlined}
		n.byName[key] = f
	}
	return f
}

func (n *nameTable) intern(b []byte) string {
	if s, ok := n.strings[string(b)]; ok {
		return s
	}
	s := string(b)
	n.strings[s] = s
	return s
}

// cutAddress splits a frame's line into address and text: blanks, up to 16 hexadecimal digits, a blank, the text.
func cutAddress(line []byte) (address uint64, text []byte, ok bool) {
	for len(line) > 0 && isBlank(line[0]) {
		line = line[1:]
	}
	address, n := cutHex(line)
	if n == 0 || n < len(line) && !isBlank(line[n]) {
		return 0, nil, false
	}
	if n < len(line) {
		n++
	}
	return address, line[n:], true
}

// frame makes a frame of its address and text.
func (f *functions) frame(address uint64, text []byte) Frame {
	frame, known := f.cache[string(text)]
	if !known {
		frame = f.parse(text)
		if len(f.cache) >= maxCached {
			clear(f.cache)
		}
		f.cache[string(text)] = frame
	}
	frame.Address = address
	return frame
}

func (f *functions) parse(text []byte) Frame {
	p := splitFrame(text)
	if len(p.symbol) == 0 {
		p.symbol = []byte(Unknown)
	}
	return Frame{Function: f.names.function(p.symbol, p.dso), Offset: p.offset, HasOffset: p.hasOffset, damaged: p.damaged}
}

// named returns the function of a symbol in an object.
func (f *functions) named(symbol, object string) *Function {
	return f.function(Function{Symbol: symbol, DSO: object})
}

// function returns the one function that is equal to key but for its ID.
func (f *functions) function(key Function) *Function { return f.names.named(key) }

// frameText is the text of a frame behind its address, taken apart.
type frameText struct {
	symbol, dso []byte
	offset      uint64
	hasOffset   bool
	damaged     bool
}

// splitFrame takes "symbol+0xoffset (object)" apart. Symbols and objects may hold blanks and parentheses. Branch records
// behind the object (-F +brstack) are left out.
func splitFrame(text []byte) frameText {
	text = trimRight(text)
	if i := bytes.Index(text, []byte(") 0x")); i >= 0 {
		text = text[:i+1]
	} else if i := bytes.Index(text, []byte(")  0x")); i >= 0 {
		text = text[:i+1]
	}
	text = cutObjectOffset(text)
	if p, ok := splitAtOffset(text); ok {
		return p
	}
	if at := objectAt(text); at >= 0 {
		return frameText{symbol: trimRight(text[:at]), dso: text[at+1 : len(text)-1]}
	}
	for _, open := range []string{" (/", " (["} { // an object that does not end, or goes on behind its end
		if at := bytes.LastIndex(text, []byte(open)); at > 0 {
			return frameText{symbol: trimRight(text[:at]), dso: text[at+2:], damaged: true}
		}
	}
	return frameText{symbol: text}
}

// cutObjectOffset takes the place in the object that -F +dsoff prints, "(libc.so.6+0x2d3a0)", out of it.
func cutObjectOffset(text []byte) []byte {
	i := bytes.LastIndex(text, []byte("+0x"))
	if i <= 0 || bytes.LastIndex(text[:i], []byte(" (")) < 0 || text[len(text)-1] != ')' {
		return text
	}
	if _, n := cutHex(text[i+3 : len(text)-1]); n == 0 || i+3+n != len(text)-1 {
		return text
	}
	return append(text[:i:i], ')')
}

// splitAtOffset takes a text with an offset apart: only "+0x", digits, and then the object or the end is an offset.
func splitAtOffset(text []byte) (frameText, bool) {
	i := bytes.LastIndex(text, []byte("+0x"))
	if i <= 0 {
		return frameText{}, false
	}
	offset, n := cutHex(text[i+3:])
	rest := text[i+3+n:]
	p := frameText{symbol: text[:i], offset: offset, hasOffset: true}
	switch {
	case n == 0:
		return frameText{}, false
	case len(rest) == 0:
		return p, true
	case len(rest) > 3 && rest[0] == ' ' && rest[1] == '(':
		p.dso, p.damaged = rest[2:], rest[len(rest)-1] != ')'
		if !p.damaged {
			p.dso = rest[2 : len(rest)-1]
		}
		return p, true
	}
	return frameText{}, false
}

// objectAt returns the place of the parenthesis that opens the object at the end of text, -1 if there is none: the one
// that closes the last one, behind a blank; or the whole text.
func objectAt(text []byte) int {
	if len(text) < 2 || text[len(text)-1] != ')' {
		return -1
	}
	matches := 0 // how often the parentheses were balanced
	for i, depth := len(text)-1, 0; i >= 0; i-- {
		switch text[i] {
		case ')':
			depth++
		case '(':
			if depth > 0 {
				depth--
			}
			if depth > 0 {
				continue
			}
			if matches++; i > 0 && isBlank(text[i-1]) || i == 0 && matches == 1 {
				return i
			}
		}
	}
	return -1
}
