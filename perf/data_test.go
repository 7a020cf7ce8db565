package perf

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"nettrace/source"
)

const (
	basicFields = fieldIP | fieldTID | fieldTime
	userText    = 0x400000
)

// sampleBody writes a sample of any fields: what comes before and behind the ones that are checked must be gone over
// exactly.
func (r *recorder) sampleBody(a *recordedAttr, id, time uint64, chain []uint64, raw []byte) []byte {
	var b []byte
	add := func(f sampleField, words ...uint64) {
		if a.fields&f != 0 {
			b = append(b, r.words(words...)...)
		}
	}
	add(fieldIdentifier, id)
	add(fieldIP, userText+8)
	if a.fields&fieldTID != 0 {
		b = append(b, r.pair(7, 8)...)
	}
	add(fieldTime, time)
	add(fieldAddr, 0xdead)
	add(fieldID, id)
	add(fieldStreamID, 99)
	if a.fields&fieldCPU != 0 {
		b = append(b, r.pair(3, 0)...)
	}
	add(fieldPeriod, 1234)
	if a.fields&fieldRead != 0 {
		b = append(b, r.readFormat(a.readFormat)...)
	}
	add(fieldCallchain, append([]uint64{uint64(len(chain))}, chain...)...)
	if a.fields&fieldRaw != 0 {
		b = append(r.AppendUint32(b, uint32(len(raw))), raw...)
	}
	if a.fields&fieldBranchStack != 0 {
		words := []uint64{2}
		if a.branches>>17&1 != 0 {
			words = append(words, 0)
		}
		words = append(words, 1, 2, 3, 4, 5, 6)
		if a.branches>>19&1 != 0 {
			words = append(words, 7, 8)
		}
		b = append(b, r.words(words...)...)
	}
	add(fieldRegsUser, 2, 11, 12, 13)
	if a.fields&fieldStackUser != 0 {
		b = append(b, r.words(8, 0x5555, 8)...)
	}
	add(fieldWeight, 1)
	add(fieldDataSource, 2)
	add(fieldTransaction, 3)
	add(fieldRegsIntr, 2, 14)
	for bit := range 4 {
		add([]sampleField{1 << 19, 1 << 21, 1 << 22, 1 << 23}[bit], 5)
	}
	add(fieldAux, 8, 0x6666)
	return b
}

func (r *recorder) readFormat(format uint64) []byte {
	var extra []uint64
	if format&readID != 0 {
		extra = append(extra, 50)
	}
	if format&readLost != 0 {
		extra = append(extra, 0)
	}
	var times []uint64
	for _, bit := range []uint64{readEnabled, readRunning} {
		if format&bit != 0 {
			times = append(times, 1000)
		}
	}
	if format&readGroup == 0 {
		return r.words(slices.Concat([]uint64{7}, times, extra)...)
	}
	return r.words(slices.Concat([]uint64{1}, times, []uint64{7}, extra)...)
}

// TestEveryField reads samples that have each field alone, and all of them, in both byte orders.
func TestEveryField(t *testing.T) {
	all := basicFields
	var sets []sampleField
	for bit := range 25 {
		f := sampleField(1) << bit
		sets = append(sets, basicFields|f)
		all |= f
	}
	sets = append(sets, all, all&^fieldIdentifier, basicFields|fieldBranchStack|fieldRegsIntr|fieldAux)
	for _, order := range []byteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, fields := range sets {
			for _, branches := range []uint64{0, 1 << 17, 1<<17 | 1<<19} {
				r := newRecorder()
				r.byteOrder = order
				a := recordedAttr{kind: typeSoftware, fields: fields, period: 77, branches: branches, user: 7, intr: 1, ids: []uint64{50}}
				r.attrs = []recordedAttr{a}
				r.record(recordSample, uint16(modeUser), r.sampleBody(&a, 50, 4000, []uint64{contextUser, userText + 8, userText + 16}, []byte{1, 2, 3, 4}))
				events, _, ledger := read(t, r.bytes())
				if len(events) != 1 {
					t.Fatalf("%b: %d events, %v", fields, len(events), ledger)
				}
				e := events[0]
				wantPeriod, wantStack := int64(77), 1
				if fields&fieldPeriod != 0 {
					wantPeriod = 1234
				}
				if fields&fieldCallchain != 0 {
					wantStack = 2
				}
				if e.Time != 4000 || e.PID != 7 || e.TID != 8 || e.Period != wantPeriod || len(e.Stack) != wantStack || e.HasCPU != (fields&fieldCPU != 0) {
					t.Errorf("%b: %+v", fields, e)
				}
				for _, entry := range ledger {
					if entry.Name == "damaged-sample" {
						t.Errorf("%b: not read to its end: %v", fields, entry)
					}
				}
			}
		}
	}
}

func TestReadFormats(t *testing.T) {
	for format := range uint64(32) {
		r := newRecorder()
		a := recordedAttr{kind: typeHardware, fields: basicFields | fieldRead | fieldID | fieldCallchain, readFormat: format, ids: []uint64{50}}
		r.attrs = []recordedAttr{a}
		r.record(recordSample, uint16(modeUser), r.sampleBody(&a, 50, 4000, []uint64{contextUser, userText}, nil))
		events, _, ledger := read(t, r.bytes())
		if len(events) != 1 || events[0].Name != "cycles" {
			t.Fatalf("format %d: %v, %v", format, events, ledger)
		}
		if group := format&readGroup != 0 && format&readID != 0; group && events[0].Period != 7 {
			t.Errorf("format %d: a member's period is %d, it counted 7", format, events[0].Period)
		}
	}
}

// TestEventsByID tells samples of two events with different fields apart.
func TestEventsByID(t *testing.T) {
	r := newRecorder()
	clock := recordedAttr{kind: typeSoftware, config: 0, fields: fieldIdentifier | basicFields, ids: []uint64{50, 51}}
	fault := recordedAttr{kind: typeSoftware, config: 2, fields: fieldIdentifier | basicFields | fieldAddr | fieldCPU, ids: []uint64{60}}
	r.attrs = []recordedAttr{clock, fault}
	for i, id := range []uint64{51, 60, 50, 0, 99} {
		a := &clock
		if id == 60 {
			a = &fault
		}
		r.record(recordSample, uint16(modeUser), r.sampleBody(a, id, uint64(1000+i), nil, nil))
	}
	events, _, ledger := read(t, r.bytes())
	var names []string
	for _, e := range events {
		names = append(names, e.Name)
	}
	if got := strings.Join(names, " "); got != "cpu-clock page-faults cpu-clock cpu-clock" {
		t.Errorf("events %s", got)
	}
	if !slices.ContainsFunc(ledger, func(e source.Entry) bool { return e.Name == "unknown-event" && e.Count == 1 }) {
		t.Errorf("the sample of an unknown event is not in the ledger: %v", ledger)
	}
}

// TestProcesses follows names and maps through fork, exec and overlap.
func TestProcesses(t *testing.T) {
	r := newRecorder()
	a := recordedAttr{kind: typeSoftware, fields: basicFields, flags: flagSampleIDAll}
	r.attrs = []recordedAttr{a}
	time := uint64(100)
	trailer := func() []byte { time++; return slices.Concat(r.pair(0, 0), r.words(time)) }
	mmap := func(pid uint32, start, length, pgoff uint64, object string) {
		r.record(recordMmap, uint16(modeUser), r.pair(pid, pid), r.words(start, length, pgoff), name(object), trailer())
	}
	comm := func(pid, tid uint32, misc uint16, text string) {
		r.record(recordComm, misc, r.pair(pid, tid), name(text), trailer())
	}
	sample := func(pid, tid uint32, ip uint64) {
		time++
		r.record(recordSample, uint16(modeUser), r.words(ip), r.pair(pid, tid), r.words(time))
	}
	fork := func(pid, ppid, tid, ptid uint32, misc uint16) {
		r.record(recordFork, misc, r.pair(pid, ppid), r.pair(tid, ptid), r.words(time+1), trailer())
	}
	comm(7, 7, 0, "rx queue: 1")
	mmap(7, 0x1000, 0x3000, 0, "/bin/a")
	sample(7, 7, 0x1800)
	mmap(7, 0x2000, 0x1000, 0x500, "/bin/b") // in the middle of a: a is split
	sample(7, 7, 0x1800)
	sample(7, 7, 0x2010)
	sample(7, 7, 0x3010)
	fork(8, 7, 8, 7, 0) // copies the maps
	sample(8, 8, 0x2010)
	comm(8, 8, miscCommExec, "child") // and forgets them
	sample(8, 8, 0x2010)
	sample(7, 7, 0x2010)
	fork(7, 7, 9, 7, 0) // a thread
	sample(7, 9, 0x2010)
	sample(6, 6, 0x2010) // nothing is known of it
	want := []string{
		"rx queue: 1 800 /bin/a", "rx queue: 1 800 /bin/a", "rx queue: 1 510 /bin/b", "rx queue: 1 2010 /bin/a",
		"rx queue: 1 510 /bin/b", "child 2010 [unknown]", "rx queue: 1 510 /bin/b", "rx queue: 1 510 /bin/b", ":6 2010 [unknown]",
	}
	events, _, ledger := read(t, r.bytes())
	var got []string
	for _, e := range events {
		got = append(got, fmt.Sprintf("%s %x %s", e.Comm, e.Stack[0].Address, e.Stack[0].DSO))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nexpected %q\n%v", got, want, ledger)
	}
}

// TestOrder hands records on by their times as far as rounds tell that nothing earlier comes.
func TestOrder(t *testing.T) {
	r := newRecorder()
	a := recordedAttr{kind: typeSoftware, fields: basicFields}
	r.attrs = []recordedAttr{a}
	sample := func(time uint64) {
		r.record(recordSample, uint16(modeUser), r.words(userText), r.pair(7, 7), r.words(time))
	}
	for _, times := range [][]uint64{{10, 30, 20}, {15, 40}, {35, 25, 50}, {5}} {
		for _, at := range times {
			sample(at)
		}
		r.record(recordFinishedRound, 0)
	}
	events, _, ledger := read(t, r.bytes())
	var got []int64
	for _, e := range events {
		got = append(got, int64(e.Time))
	}
	// 25 and 5 come a round too late, after 30 and 40 were handed on.
	if want := []int64{10, 15, 20, 30, 25, 35, 40, 5, 50}; !slices.Equal(got, want) {
		t.Errorf("got %v, expected %v", got, want)
	}
	if !slices.ContainsFunc(ledger, func(e source.Entry) bool { return e.Name == "out-of-order" && e.Count == 2 }) {
		t.Errorf("what came too late is not in the ledger: %v", ledger)
	}
}

// TestLossIsCountedOnce: the kernel and perf both tell of the same loss.
func TestLossIsCountedOnce(t *testing.T) {
	r := newRecorder()
	r.attrs = []recordedAttr{{kind: typeSoftware, fields: basicFields}}
	r.record(recordLost, 0, r.words(1, 50))
	r.record(recordLost, 0, r.words(1, 42))
	if _, reader, _ := read(t, r.bytes()); reader.Lost().Events != 92 {
		t.Errorf("lost %d of 92", reader.Lost().Events)
	}
	r.record(recordLostSamples, 0, r.words(42))
	r.record(recordLostSamples, 0, r.words(50))
	r.record(recordLostSamples, miscLostByBPF, r.words(1000)) // dropped by a filter
	r.record(recordThrottle, 0, r.words(5, 1, 1))
	_, reader, ledger := read(t, r.bytes())
	if reader.Lost().Events != 92 {
		t.Errorf("lost %d of 92", reader.Lost().Events)
	}
	names := map[string]int64{}
	for _, e := range ledger {
		names[e.Name] = e.Count
	}
	if names["recorder-loss"] != 92 || names["throttled"] != 1 {
		t.Errorf("ledger %v", ledger)
	}
}

// TestCompressed reads records out of zstd pieces that end within records, of both forms.
func TestCompressed(t *testing.T) {
	for _, kind := range []recordType{recordCompressed, recordCompressed2} {
		inner := newRecorder()
		for i := range uint64(500) {
			inner.record(recordSample, uint16(modeUser), inner.words(userText+i), inner.pair(7, 7), inner.words(1000+i))
		}
		r := newRecorder()
		r.attrs = []recordedAttr{{kind: typeSoftware, fields: basicFields}}
		var out strings.Builder
		encoder, err := zstd.NewWriter(&out)
		if err != nil {
			t.Fatal(err)
		}
		content := inner.data.Bytes()
		for done := 0; len(content) > 0; {
			n := min(333, len(content)) // never a whole number of records
			if _, err := encoder.Write(content[:n]); err != nil {
				t.Fatal(err)
			}
			if err := encoder.Flush(); err != nil {
				t.Fatal(err)
			}
			content = content[n:]
			piece := []byte(out.String()[done:])
			done = out.Len()
			if kind == recordCompressed2 {
				padded := append(piece, make([]byte, -len(piece)&7)...)
				r.record(kind, 0, r.words(uint64(len(piece))), padded)
			} else {
				r.record(kind, 0, piece)
			}
		}
		events, _, ledger := read(t, r.bytes())
		if len(events) != 500 || events[499].Time != 1499 {
			t.Errorf("type %d: %d of 500 samples, %v", kind, len(events), ledger)
		}
	}
}

// TestKernelSymbols: functions loaded at run time hide the module that their memory belongs to, until they go.
func TestKernelSymbols(t *testing.T) {
	r := newRecorder()
	r.attrs = []recordedAttr{{kind: typeSoftware, fields: basicFields}}
	const module, program = 0xffffffffc0000000, 0xffffffffc0001000
	sample := func(ip, time uint64) {
		r.record(recordSample, uint16(modeKernel), r.words(ip), r.pair(7, 7), r.words(time))
	}
	r.record(recordMmap, uint16(modeKernel), r.pair(1<<32-1, 0), r.words(module, 0x10000, 0), name("/lib/modules/6.1/kernel/net/nf-nat.ko.xz"))
	r.record(recordKsymbol, 0, r.words(program), r.AppendUint32(nil, 0x100), []byte{1, 0, 0, 0}, name("bpf_prog_1_filter"))
	sample(program+0x10, 1)
	r.record(recordFinishedRound, 0)
	r.record(recordFinishedRound, 0)
	r.record(recordKsymbol, 0, r.words(program), r.AppendUint32(nil, 0x100), []byte{1, 0, 1, 0}, name("bpf_prog_1_filter"))
	sample(program+0x10, 2)
	events, _, _ := read(t, r.bytes())
	if len(events) != 2 || events[0].Stack[0].Symbol != "bpf_prog_1_filter" || events[0].Stack[0].Offset != 0x10 || events[1].Stack[0].DSO != "[nf_nat]" {
		t.Errorf("%+v", events)
	}
}

// TestUnfinished reads what a killed recorder left: a size of 0, and no features.
func TestUnfinished(t *testing.T) {
	r := newRecorder()
	r.attrs = []recordedAttr{{kind: typeSoftware, fields: basicFields}}
	for i := range uint64(3) {
		r.record(recordSample, uint16(modeUser), r.words(userText), r.pair(7, 7), r.words(i+1))
	}
	r.dataSize = new(uint64)
	content := r.bytes()
	events, _, ledger := read(t, content[:len(content)-5])
	if len(events) != 2 {
		t.Errorf("%d samples before the cut, expected 2", len(events))
	}
	if !slices.ContainsFunc(ledger, func(e source.Entry) bool { return e.Name == "cut-input" && e.Severity == source.Warning }) {
		t.Errorf("ledger %v", ledger)
	}
}
