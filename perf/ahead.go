package perf

// A long text is decoded on several CPUs. It is cut into blocks at blank lines, each of which ends a sample; goroutines
// decode the blocks that come next, while the events of the one before are consumed. They come out in the order of the
// text, and are the same as if it were decoded at once, since a block with anything that needs a look beyond its end or
// that tells of the recording as a whole (damage, # lines, losses, another tool's output) is put back, with all behind it,
// and decoded in place. Nothing runs on when a reader is given up: each goroutine ends with its block.

import (
	"nettrace/source"
)

// blockSize is how much text is decoded at once: small enough to stay in a CPU's cache with what is made of it.
const blockSize = 256 << 10

// ahead holds the blocks that are being decoded.
type ahead struct {
	text   *decoder // of the text as a whole
	size   int      // of a block
	idle   []*decoder
	flight []*batch // in the order of the text
	spare  []*batch
	from   int64 // offset from where on blocks are tried
}

// batch is a block and its events.
type batch struct {
	buf     []byte
	text    []byte // of the block
	at      source.Pos
	by      *decoder
	decoded chan struct{}
	ledger  source.Ledger

	events  []Event
	ends    []batchEnd // of each event's frames and payload
	frames  []Frame
	payload []byte
	given   int // events given out
}

type batchEnd struct{ frames, payload int }

func newAhead(text *decoder, workers, size int) *ahead {
	a := &ahead{text: text, size: size, from: text.lines.Pos().Offset + int64(size)/4} // short texts are decoded in place
	for range workers {
		d := newDecoder(nil, nil, text.functions.names)
		d.block = true
		a.idle = append(a.idle, d)
	}
	return a
}

// nextAhead returns the next event of a block, nil if the next one is to be decoded in place.
func (r *ScriptReader) nextAhead() *Event {
	for {
		if r.batch != nil {
			if e := r.batch.next(); e != nil {
				return e
			}
			r.ahead.spare = append(r.ahead.spare, r.batch)
		}
		if r.batch = r.ahead.next(); r.batch == nil {
			return nil
		}
	}
}

// ready reports whether the text can be cut here: between samples of a known layout that blank lines end.
func (a *ahead) ready() bool {
	d := a.text
	return len(a.flight) > 0 || !d.done && !d.again && d.layout != noLayout && d.chains && d.lines.Pos().Offset >= a.from
}

// next returns the next block that was decoded, nil if there is none.
func (a *ahead) next() *batch {
	if !a.ready() {
		return nil
	}
	a.launch()
	if len(a.flight) == 0 {
		a.from = a.text.lines.Pos().Offset + int64(a.size) // no blank line so far
		return nil
	}
	b := a.land()
	if b.by.spoilt {
		a.returned(b)
		return nil
	}
	a.text.absorb(b)
	a.launch()
	return b
}

// launch has blocks decoded as long as there are idle decoders.
func (a *ahead) launch() {
	for len(a.idle) > 0 {
		b := a.newBatch()
		if b.text, b.at = a.text.lines.Block(b.buf); b.text == nil {
			a.spare = append(a.spare, b)
			return
		}
		b.by = a.idle[len(a.idle)-1]
		a.idle = a.idle[:len(a.idle)-1]
		a.flight = append(a.flight, b)
		b.by.begins(a.text)
		go b.decode()
	}
}

// land waits for the first block and returns it.
func (a *ahead) land() *batch {
	b := a.flight[0]
	<-b.decoded
	a.flight = append(a.flight[:0], a.flight[1:]...)
	a.idle = append(a.idle, b.by)
	return b
}

// returned puts a block and those behind it back into the text. Up to its end the text is decoded in place.
func (a *ahead) returned(b *batch) {
	text := append([]byte{}, b.text...)
	a.spare = append(a.spare, b)
	for len(a.flight) > 0 {
		next := a.land()
		text = append(text, next.text...)
		a.spare = append(a.spare, next)
	}
	a.text.lines.Return(text, b.at)
	a.from = b.at.Offset + int64(len(b.text))
}

func (a *ahead) newBatch() *batch {
	if n := len(a.spare); n > 0 {
		b := a.spare[n-1]
		a.spare = a.spare[:n-1]
		return b
	}
	return &batch{buf: make([]byte, a.size), decoded: make(chan struct{}, 1)}
}

// decode decodes the block.
func (b *batch) decode() {
	b.events, b.ends, b.frames, b.payload, b.given = b.events[:0], b.ends[:0], b.frames[:0], b.payload[:0], 0
	b.ledger = source.Ledger{}
	d := b.by
	d.ledger, d.lines = &b.ledger, source.BlockLines(b.text, b.at, &b.ledger)
	for e := d.next(); e != nil; e = d.next() {
		b.frames, b.payload = append(b.frames, e.Stack...), append(b.payload, e.Payload...)
		b.events, b.ends = append(b.events, *e), append(b.ends, batchEnd{len(b.frames), len(b.payload)})
	}
	b.decoded <- struct{}{}
}

// next returns the next event, nil at the end.
func (b *batch) next() *Event {
	if b.given == len(b.events) {
		return nil
	}
	start, end := batchEnd{}, b.ends[b.given]
	if b.given > 0 {
		start = b.ends[b.given-1]
	}
	e := &b.events[b.given]
	e.Stack, e.Payload = b.frames[start.frames:end.frames], b.payload[start.payload:end.payload]
	b.given++
	return e
}

// begins makes the decoder of a block know what was seen of the text so far.
func (d *decoder) begins(text *decoder) {
	d.done, d.again, d.spoilt, d.cut, d.side = false, false, false, false, 0
	d.layout, d.samples, d.events, d.chains, d.objects = text.layout, text.samples, text.events, text.chains, text.objects
}

// absorb takes over what a block showed of the text.
func (d *decoder) absorb(b *batch) {
	d.ledger.Merge(&b.ledger)
	d.samples, d.events, d.chains, d.objects = d.samples || b.by.samples, d.events || b.by.events, d.chains || b.by.chains, d.objects || b.by.objects
	if d.side == 0 {
		d.sideAt = b.by.sideAt
	}
	d.side += b.by.side
}
