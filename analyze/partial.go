package analyze

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"

	"nettrace/coalesce"
	"nettrace/lockstat"
	"nettrace/pcap"
	"nettrace/source"
	"nettrace/unit"
)

// A partial holds what was read of some recordings and not yet judged, so that recordings of several machines, or the files
// of one long capture, can be read where and when they are there, and judged together. It is lines of JSON:
//
//	{"schema":"nettrace.partial/1"}
//	{"capture":{"source":{...},"interfaces":[...],"place":0}}     once for each capture, in the order of reading
//	{"packets":"KLUv/..."}                                        its packets' headers, some at a time, as long as there are
//	{"info":{...},"bytes":395278939}                              and what the file tells of itself
//	{"rest":{...}}                                                the models of all other sources, and the ledger
//
// Of a capture it has the headers of all packets and not a summary of its connections: a connection that is open where one
// file ends can only be judged with the packets of the next.
const PartialSchema = "nettrace.partial/1"

type partialLine struct {
	Schema  string          `json:"schema,omitempty"`
	Capture *partialCapture `json:"capture,omitempty"`
	Packets []byte          `json:"packets,omitempty"` // see packetCoder, compressed with zstd
	Info    *pcap.Info      `json:"info,omitempty"`
	Bytes   int64           `json:"bytes,omitempty"` // of the capture, beside its info
	Rest    *partialRest    `json:"rest,omitempty"`
}

type partialCapture struct {
	Source     Source           `json:"source"`
	Interfaces []pcap.Interface `json:"interfaces"`
	First      unit.Nanos       `json:"first_ns"` // time of the first packet
	Timed      bool             `json:"timed"`    // which it has
	Place      int              `json:"place"`    // of its path among those that were read
}

type partialRest struct {
	Sources []Source          `json:"sources"`
	Places  []int             `json:"places"` // of their paths
	Ledger  []source.Entry    `json:"ledger"`
	Models  Models            `json:"models"`
	Outputs []coalesce.Output `json:"outputs"`
	Dumps   []partialDump     `json:"dumps"`
}

// partialDump is a dump by the index of its table among the models.
type partialDump struct {
	Table int         `json:"table"`
	Name  source.Name `json:"name"`
	Mod   unit.Nanos  `json:"mod_ns"`
}

// WritePartial reads what is behind paths and writes it as a partial. Sources that cannot be read are returned as errors.
func WritePartial(ctx context.Context, w io.Writer, paths []string, o Options) []error {
	a := &analysis{partial: newPartialWriter(w)}
	a.partial.line(&partialLine{Schema: PartialSchema})
	errs := a.gather(ctx, paths, o)
	rest := partialRest{Sources: a.fresh.Sources, Ledger: a.ledger.Entries(), Models: a.fresh.Models, Outputs: a.outputs}
	for _, r := range a.loaded {
		errs = append(errs, fmt.Errorf("%s: a result is judged already; give the recordings, or merge partials", r.Incident()))
	}
	for _, place := range a.order.sources {
		rest.Places = append(rest.Places, place/placesEach)
	}
	for _, d := range a.dumps {
		for i, t := range rest.Models.Locks {
			if t == d.Table {
				rest.Dumps = append(rest.Dumps, partialDump{i, d.Name, d.Mod})
			}
		}
	}
	a.partial.line(&partialLine{Rest: &rest})
	if a.partial.err != nil {
		errs = append(errs, a.partial.err)
	}
	if a.fresh.Partial {
		errs = append(errs, ctx.Err())
	}
	return errs
}

// partialWriter writes the lines of a partial.
type partialWriter struct {
	lines  *json.Encoder
	packer *zstd.Encoder
	coder  packetCoder
	err    error // the first one
}

func newPartialWriter(w io.Writer) *partialWriter {
	packer, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	p := &partialWriter{lines: json.NewEncoder(w), packer: packer, err: err}
	p.lines.SetEscapeHTML(false)
	return p
}

func (w *partialWriter) line(l *partialLine) {
	if w.err == nil {
		w.err = w.lines.Encode(l)
	}
}

// flush writes the packets that were gathered.
func (w *partialWriter) flush() {
	if len(w.coder.buf) > 0 && w.err == nil {
		w.line(&partialLine{Packets: w.packer.EncodeAll(w.coder.buf, nil)})
	}
	w.coder.reset()
}

// extract writes the headers of a capture in place of reading it into a tracker.
func (r *reader) extract(out *Source) error {
	watch(r.ctx, r.src, r.options)
	packets, err := pcap.NewReader(r.src.Input, &r.ledger)
	if err != nil {
		return err
	}
	defer packets.Close()
	w := r.partial
	begun := false
	var h pcap.Header
	for w.err == nil {
		p, err := packets.Next()
		if !begun { // the interfaces are known with the first packet
			c := partialCapture{Source: *out, Interfaces: packets.Info().Interfaces, Place: r.order.now / placesEach}
			if err == nil {
				c.First, c.Timed = p.Time, p.HasTime
			}
			w.line(&partialLine{Capture: &c})
			begun = true
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		h.Decode(p)
		if w.coder.add(p, &h); len(w.coder.buf) >= chunkBytes {
			w.flush()
		}
	}
	w.flush()
	w.line(&partialLine{Info: packets.Info(), Bytes: r.src.Input.Offset()})
	return w.err
}

func sniffPartial(head []byte) source.Match {
	if bytes.HasPrefix(head, []byte(`{"schema":"`+PartialSchema+`"`)) {
		return source.Strong
	}
	return source.No
}

// readPartial goes on where the reading of a partial's recordings ended.
func readPartial(r *reader, out *Source) error {
	if r.partial != nil {
		return fmt.Errorf("a partial already; nettrace merge joins partials")
	}
	p := partialReader{reader: r, lines: json.NewDecoder(r.src.Input), base: r.order.now}
	unpacker, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(16<<20))
	if err != nil {
		return err
	}
	defer unpacker.Close()
	p.unpacker = unpacker
	for sources := len(r.fresh.Sources); r.ctx.Err() == nil && err == nil; {
		l, nextErr := p.next()
		switch err = nextErr; {
		case err == io.EOF:
			r.ledger.Add("partial-cut", source.Warning, r.src.Input.Pos(), 1, "the partial ends before its last line; what came before is used")
			if len(r.fresh.Sources) == sources {
				r.fresh.Sources = append(r.fresh.Sources, *out)
			}
			return nil
		case err != nil:
		case l.Capture != nil:
			err = p.capture(l.Capture)
		case l.Rest != nil:
			p.rest(l.Rest)
			return nil
		}
	}
	return err
}

// partialReader reads the lines of a partial.
type partialReader struct {
	*reader
	lines    *json.Decoder
	unpacker *zstd.Decoder
	base     int        // place of the partial among the paths
	info     *pcap.Info // of the capture at hand, behind its packets
	bytes    int64
	seen     pcap.Info // what its packets tell, should its end be missing
}

// headOfPartial reads the beginning of a partial: when its first capture begins. False if it begins with none.
func headOfPartial(b []byte) (first unit.Nanos, ok bool) {
	if sniffPartial(b) != source.Strong {
		return 0, false
	}
	lines := json.NewDecoder(bytes.NewReader(b))
	var l partialLine
	for range 2 {
		if lines.Decode(&l) != nil {
			return 0, false
		}
	}
	if l.Capture == nil {
		return 0, false
	}
	return l.Capture.First, l.Capture.Timed
}

func (p *partialReader) next() (*partialLine, error) {
	var l partialLine
	if err := p.lines.Decode(&l); err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil, io.EOF
		}
		return nil, fmt.Errorf("not a partial: %w", err)
	}
	return &l, nil
}

// chunk returns the next packets of the capture at hand; none behind the last.
func (p *partialReader) chunk() ([]byte, error) {
	l, err := p.next()
	switch {
	case err == io.EOF: // cut: what there is tells of itself
		p.info = &p.seen
		return nil, nil
	case err != nil:
		return nil, err
	case l.Info != nil:
		p.info, p.bytes = l.Info, l.Bytes
		return nil, nil
	case l.Packets == nil:
		return nil, fmt.Errorf("not a partial: expected packets or their end")
	}
	chunk, err := p.unpacker.DecodeAll(l.Packets, nil)
	if err != nil {
		return nil, fmt.Errorf("damaged packets: %w", err)
	}
	return chunk, nil
}

// capture reads one capture as its file would be.
func (p *partialReader) capture(c *partialCapture) error {
	p.info, p.bytes, p.seen = nil, 0, pcap.Info{Interfaces: c.Interfaces}
	first, err := p.chunk()
	if err != nil {
		return err
	}
	h := head{interfaces: c.Interfaces}
	for d := (packetDecoder{rest: first}); len(h.headers) < headPackets && d.next(); {
		h.note(&d.packet)
	}
	out := c.Source
	p.order.now = p.base + c.Place
	err = p.reader.capture(&out, h, func(t *trackerFeed) (*pcap.Info, error) {
		for chunk := first; p.info == nil; {
			d := packetDecoder{rest: chunk}
			for d.next() {
				p.seen.Note(&d.packet)
				if err := t.take(&d.packet); err != nil {
					return nil, err
				}
			}
			if d.damaged {
				return nil, fmt.Errorf("damaged packets")
			}
			if chunk, err = p.chunk(); err != nil {
				return nil, err
			}
		}
		out.Bytes = p.bytes
		return p.info, nil
	})
	if err == nil {
		p.fresh.Sources = append(p.fresh.Sources, out)
		p.order.note(&p.order.sources, len(p.fresh.Sources))
	}
	return err
}

func (p *partialReader) rest(rest *partialRest) {
	for i, s := range rest.Sources {
		p.fresh.Sources = append(p.fresh.Sources, s)
		place := 0
		if i < len(rest.Places) {
			place = rest.Places[i]
		}
		p.order.sources = append(p.order.sources, p.base+place)
	}
	for _, e := range rest.Ledger {
		pos := e.First
		pos.Source = e.Source
		p.ledger.Add(e.Name, e.Severity, pos, e.Count, e.Text)
	}
	for _, d := range rest.Dumps {
		if d.Table >= 0 && d.Table < len(rest.Models.Locks) && rest.Models.Locks[d.Table] != nil {
			p.dumps = append(p.dumps, lockstat.Dump{Table: rest.Models.Locks[d.Table], Name: d.Name, Mod: d.Mod})
		}
	}
	p.outputs = append(p.outputs, rest.Outputs...)
	m := &rest.Models // no captures, hosts or courses: those are made of what was merged
	p.fresh.add(&Result{Models: Models{Locks: there(m.Locks), Profiles: there(m.Profiles), Runs: m.Runs}})
}

// there returns the elements that are not null.
func there[T any](list []*T) []*T {
	return slices.DeleteFunc(list, func(x *T) bool { return x == nil })
}
