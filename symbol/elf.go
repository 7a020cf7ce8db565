package symbol

import (
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// symbolsMax bounds the symbols that are taken of one object.
const symbolsMax = 8 << 20

// Object is an ELF file whose functions are found by their place in the file, as mappings have it.
type Object struct {
	Path  string // as it was given
	Build string // id, in its bytes

	// Base is the address that the object is linked to begin at, 0 for one that may be anywhere. Its code lies between
	// TextStart and TextEnd of the same addresses.
	Base, TextStart, TextEnd uint64
	Interpreter              string // that loads it, "" for one that is no program
	Entry                    uint64 // where it begins to run

	table *Table
	loads []load
	lines *inlines // nil without DWARF
}

// load is a segment with code.
type load struct{ offset, size, address uint64 }

// readObject reads the symbols of an ELF file. The library's panics on hostile files end here.
func readObject(name string, r io.ReaderAt) (o *Object, err error) {
	defer func() {
		if p := recover(); p != nil {
			o, err = nil, fmt.Errorf("%s: a damaged ELF file: %v", name, p)
		}
	}()
	f, err := elf.NewFile(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	o = &Object{Path: name, Build: buildID(f)}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			o.loads = append(o.loads, load{p.Off, p.Filesz, p.Vaddr})
		}
	}
	o.image(f)
	symbols, _ := f.Symbols()
	if len(functions(f, symbols)) == 0 {
		symbols, _ = f.DynamicSymbols()
	}
	entries := functions(f, symbols)
	entries = append(entries, linkageSlots(f, len(entries))...)
	o.table = newTable(entries)
	o.lines = newInlines(f)
	return o, nil
}

// image reads where the object lies in memory.
func (o *Object) image(f *elf.File) {
	o.Entry = f.Entry
	for _, p := range f.Progs {
		switch {
		case p.Type == elf.PT_INTERP && p.Filesz < 1<<12:
			path := make([]byte, p.Filesz)
			if _, err := p.ReadAt(path, 0); err == nil {
				o.Interpreter = strings.TrimRight(string(path), "\x00")
			}
		case f.Type == elf.ET_EXEC && p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && p.Off < max(p.Align, 1):
			o.Base = p.Vaddr &^ (max(p.Align, 1) - 1)
		}
	}
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_EXECINSTR == 0 || s.Size == 0 {
			continue
		}
		if o.TextEnd == 0 || s.Addr < o.TextStart {
			o.TextStart = s.Addr
		}
		o.TextEnd = max(o.TextEnd, s.Addr+s.Size)
	}
}

// ObjectEnd returns where the table of sections of an ELF file ends, of which head is the header: 0 if it has none.
func ObjectEnd(head []byte) uint64 {
	if len(head) < 64 {
		return 64
	}
	var order binary.ByteOrder = binary.LittleEndian
	if head[elf.EI_DATA] == byte(elf.ELFDATA2MSB) {
		order = binary.BigEndian
	}
	offset, size, n := order.Uint64(head[40:]), order.Uint16(head[58:]), order.Uint16(head[60:])
	if elf.Class(head[elf.EI_CLASS]) == elf.ELFCLASS32 {
		offset, size, n = uint64(order.Uint32(head[32:])), order.Uint16(head[46:]), order.Uint16(head[48:])
	}
	if offset == 0 || offset > 1<<62 {
		return 0
	}
	return offset + uint64(size)*uint64(n)
}

// functions picks the functions out of a symbol table, as perf does (elf_sym__filter, tools/perf/util/symbol-elf.c).
func functions(f *elf.File, symbols []elf.Symbol) []entry {
	var list []entry
	for i, s := range symbols {
		if len(list) >= symbolsMax {
			break
		}
		kind := elf.ST_TYPE(s.Info)
		if s.Section == elf.SHN_UNDEF || s.Section >= elf.SHN_LORESERVE || int(s.Section) >= len(f.Sections) || s.Name == "" {
			continue
		}
		section := f.Sections[s.Section]
		label := kind == elf.STT_NOTYPE && section.Flags&elf.SHF_EXECINSTR != 0
		if kind != elf.STT_FUNC && kind != elf.STT_GNU_IFUNC && kind != elf.STT_OBJECT && !label || section.Flags&elf.SHF_ALLOC == 0 {
			continue
		}
		if s.Name[0] == '$' && (f.Machine == elf.EM_ARM || f.Machine == elf.EM_AARCH64 || f.Machine == elf.EM_RISCV) {
			continue // marks of the instruction set
		}
		value := s.Value
		if f.Machine == elf.EM_ARM && kind == elf.STT_FUNC {
			value &^= 1 // Thumb
		}
		bind := elf.ST_BIND(s.Info)
		list = append(list, entry{Symbol: Symbol{Name: demangled(s.Name), Start: value}, size: s.Size, weak: bind == elf.STB_WEAK, global: bind == elf.STB_GLOBAL, position: i})
	}
	return list
}

// demangled is the name that the programmer wrote, without parameters' types being dropped.
func demangled(name string) string { return demangle.Filter(name) }

// linkageSlots names the slots of the procedure linkage table: each calls the function of one relocation. The places of
// the slots are known for x86-64 and AArch64; on other machines, and in the second table of x86-64 (.plt.sec), a slot has no
// name, and its frames count as unresolved.
func linkageSlots(f *elf.File, position int) []entry {
	var relocations, plt *elf.Section
	for _, s := range f.Sections {
		switch s.Name {
		case ".rela.plt":
			relocations = s
		case ".plt":
			plt = s
		}
	}
	header, slot := uint64(16), uint64(16)
	switch f.Machine {
	case elf.EM_X86_64:
	case elf.EM_AARCH64:
		header = 32
	default:
		return nil
	}
	if relocations == nil || plt == nil || relocations.Type != elf.SHT_RELA {
		return nil
	}
	dynamic, err := f.DynamicSymbols()
	if err != nil {
		return nil
	}
	data, err := relocations.Data()
	if err != nil {
		return nil
	}
	var list []entry
	for i := 0; len(data) >= 24; i, data = i+1, data[24:] {
		start := plt.Addr + header + uint64(i)*slot
		if start+slot > plt.Addr+plt.Size {
			break
		}
		n := f.ByteOrder.Uint64(data[8:]) >> 32
		if n == 0 || n > uint64(len(dynamic)) {
			continue
		}
		list = append(list, entry{Symbol: Symbol{Name: demangled(dynamic[n-1].Name) + "@plt", Start: start}, size: slot, position: position + i})
	}
	return list
}

// buildID returns the build id of a file, "" if it has none: a note of the name GNU and type 3.
func buildID(f *elf.File) string {
	for _, s := range f.Sections {
		if s.Type != elf.SHT_NOTE || s.Size > 1<<16 {
			continue
		}
		data, err := s.Data()
		if err != nil {
			continue
		}
		if id := noteID(f, data); id != "" {
			return id
		}
	}
	for _, p := range f.Progs {
		if p.Type != elf.PT_NOTE || p.Filesz > 1<<16 {
			continue
		}
		data := make([]byte, p.Filesz)
		if _, err := p.ReadAt(data, 0); err != nil {
			continue
		}
		if id := noteID(f, data); id != "" {
			return id
		}
	}
	return ""
}

func noteID(f *elf.File, data []byte) string {
	for len(data) >= 12 {
		name, size, kind := uint64(f.ByteOrder.Uint32(data)), uint64(f.ByteOrder.Uint32(data[4:])), f.ByteOrder.Uint32(data[8:])
		data = data[12:]
		padded, whole := (name+3)&^3, (size+3)&^3
		if padded > uint64(len(data)) || size > uint64(len(data))-padded {
			return ""
		}
		if kind == 3 && strings.HasPrefix(string(data[:name]), "GNU") && size >= 8 && size <= 20 {
			return string(data[padded : padded+size])
		}
		data = data[min(padded+whole, uint64(len(data))):]
	}
	return ""
}

// AtAddress returns the function at an address as the object was linked.
func (o *Object) AtAddress(address uint64) (Symbol, bool) { return o.table.Find(address) }

// AtOffset returns the function that a place in the file belongs to; its start is a place in the file too.
func (o *Object) AtOffset(offset uint64) (Symbol, bool) {
	address, ok := o.address(offset)
	if !ok {
		return Symbol{}, false
	}
	s, ok := o.table.Find(address)
	if !ok {
		return Symbol{}, false
	}
	length := s.End - s.Start
	s.Start = offset - (address - s.Start)
	s.End = s.Start + length
	return s, true
}

// address returns the address that the linker gave a place in the file.
func (o *Object) address(offset uint64) (uint64, bool) {
	for _, l := range o.loads {
		if offset >= l.offset && offset-l.offset < l.size {
			return offset - l.offset + l.address, true
		}
	}
	return 0, false
}

// hexID is a build id as paths and tools print it.
func hexID(id string) string { return hex.EncodeToString([]byte(id)) }
