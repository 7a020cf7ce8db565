package symbol

import (
	"debug/dwarf"
	"debug/elf"
)

// Bounds on the walk through a compilation unit.
const (
	inlineDepth = 64
	entriesMax  = 1 << 20 // of one lookup
)

// inlines finds the functions that the compiler inlined, from DWARF 2 to 5. Supplementary files (dwz) and split ones
// (.dwo) are not followed: what they hold has no names here.
type inlines struct {
	data *dwarf.Data
}

func newInlines(f *elf.File) *inlines {
	if f.Section(".debug_info") == nil && f.Section(".zdebug_info") == nil {
		return nil
	}
	data, err := f.DWARF()
	if err != nil {
		return nil
	}
	return &inlines{data}
}

// Inlines returns the functions inlined at a place in the file, innermost first, without the function itself that
// holds them. A return address is looked up one byte before, since it may belong to what follows the call.
func (o *Object) Inlines(offset uint64, isReturn bool) (names []string) {
	address, ok := o.address(offset)
	if !ok || o.lines == nil {
		return nil
	}
	if isReturn {
		address--
	}
	defer func() {
		if recover() != nil { // of the library, on damaged DWARF
			names = nil
		}
	}()
	return o.lines.at(address)
}

func (x *inlines) at(address uint64) []string {
	r := x.data.Reader()
	if _, err := r.SeekPC(address); err != nil {
		return nil
	}
	var outermost []string
	for depth, seen := 0, 0; seen < entriesMax; seen++ {
		e, err := r.Next()
		if err != nil || e == nil {
			break
		}
		if e.Tag == 0 {
			if depth--; depth < 0 {
				break
			}
			continue
		}
		if !x.holds(e, address) {
			if e.Children && (e.Tag == dwarf.TagSubprogram || e.Tag == dwarf.TagInlinedSubroutine) {
				r.SkipChildren()
			} else if e.Children {
				depth++
			}
			continue
		}
		if e.Tag == dwarf.TagInlinedSubroutine && len(outermost) < inlineDepth {
			outermost = append(outermost, x.name(e))
		}
		if e.Children {
			depth++
		}
	}
	for i, j := 0, len(outermost)-1; i < j; i, j = i+1, j-1 {
		outermost[i], outermost[j] = outermost[j], outermost[i]
	}
	return outermost
}

// holds reports whether a subprogram or an inlined call covers an address.
func (x *inlines) holds(e *dwarf.Entry, address uint64) bool {
	if e.Tag != dwarf.TagSubprogram && e.Tag != dwarf.TagInlinedSubroutine {
		return false
	}
	ranges, err := x.data.Ranges(e)
	if err != nil {
		return false
	}
	for _, r := range ranges {
		if r[0] <= address && address < r[1] {
			return true
		}
	}
	return false
}

// name returns the name of the function that an entry is an instance of.
func (x *inlines) name(e *dwarf.Entry) string {
	for range inlineDepth {
		if name, ok := e.Val(dwarf.AttrLinkageName).(string); ok {
			return demangled(name)
		}
		origin, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			origin, ok = e.Val(dwarf.AttrSpecification).(dwarf.Offset)
		}
		if !ok {
			break
		}
		r := x.data.Reader()
		r.Seek(origin)
		next, err := r.Next()
		if err != nil || next == nil {
			break
		}
		e = next
	}
	if name, ok := e.Val(dwarf.AttrName).(string); ok {
		return name
	}
	return "[inlined]"
}
