package flame

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"

	"github.com/klauspost/compress/flate"
)

// packed is what a page knows of a profile besides its tree. The page's script reads it: names are its contract.
type packed struct {
	Title   string         `json:"title"`
	Facts   []string       `json:"facts"`
	Icicle  bool           `json:"icicle"`
	By      Colouring      `json:"by"`
	Frames  packedFrames   `json:"frames"`
	Columns []packedColumn `json:"columns"`
	First   int            `json:"first"` // the column to show first
	Paints  []packedPaint  `json:"paints"`
	Rest    int            `json:"rest"` // the paint of boxes that are no frame
	Width   Width          `json:"width,omitempty"`
	Diff    *packedDiff    `json:"diff,omitempty"`
	Time    *packedTimes   `json:"time,omitempty"`
	Nodes   int            `json:"nodes"`
	Bytes   []int          `json:"bytes"` // of the parts behind this head: levels, frames, and two or five for each column

	timed []timedValues // of each column; none if times are not known
}

// packedFrames is the table of frames, by column.
type packedFrames struct {
	Names   []string            `json:"names"`
	Objects []string            `json:"objects"` // distinct
	Object  []int               `json:"object"`  // of each frame
	Kinds   []string            `json:"kinds"`
	Inlined []int               `json:"inlined"` // those that are
	Paint   map[Colouring][]int `json:"paint"`   // of each frame, for each way to colour
}

type packedColumn struct {
	Event  string `json:"event"`
	Value  Value  `json:"value"`
	Unit   string `json:"unit"` // after division by Scale
	Scale  int64  `json:"scale"`
	Factor int64  `json:"factor"` // of all values

	index int // of the profile\'s column
}

type packedPaint struct {
	Light   string `json:"light"`
	Dark    string `json:"dark"`
	OnLight string `json:"on_light"` // of text
	OnDark  string `json:"on_dark"`
	Name    string `json:"name"` // in the legend, "" for none
}

// packedDiff is there if the columns are those of a difference: values of base and other, numbers of samples of both.
type packedDiff struct {
	Factor       float64  `json:"factor"`
	SampleFactor float64  `json:"sample_factor"`
	Totals       [2]int64 `json:"totals"`
	Paints       []int    `json:"paints"`
}

// pack writes a tree as base64: the length of the head in four bytes, the head as JSON, and the parts. It reports whether
// that is compressed, which small profiles don't gain from.
func pack(w io.Writer, head *packed, t *callTree) (compressed bool, err error) {
	head.Nodes = len(t.frame)
	parts := [][]byte{t.levels(), t.frameNumbers()}
	for i := range t.own {
		factor := common(0, t.own[i].value)
		if head.timed != nil {
			factor = common(factor, head.timed[i].value)
		}
		factor = max(factor, 1)
		head.Columns[i].Factor = factor
		parts = append(parts, t.own[i].parts(factor)...)
		if head.timed != nil {
			parts = append(parts, head.timed[i].parts(factor)...)
		}
	}
	for _, p := range parts {
		head.Bytes = append(head.Bytes, len(p))
	}
	text, err := json.Marshal(head)
	if err != nil {
		return false, err
	}
	plain := binary.LittleEndian.AppendUint32(nil, uint32(len(text)))
	plain = append(append(plain, text...), bytes.Join(parts, nil)...)
	data, compressed, err := deflated(plain)
	if err != nil {
		return false, err
	}
	e := base64.NewEncoder(base64.StdEncoding, w)
	if _, err := e.Write(data); err != nil {
		return false, err
	}
	return compressed, e.Close()
}

// deflated compresses data (RFC 1951) if that makes it smaller by a tenth.
func deflated(data []byte) ([]byte, bool, error) {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, 6)
	if err != nil {
		return nil, false, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, false, err
	}
	if err := w.Close(); err != nil {
		return nil, false, err
	}
	if b.Len() > len(data)/10*9 {
		return data, false, nil
	}
	return b.Bytes(), true, nil
}

// levels says of each node but the root how many levels it lies above a child of the node before it.
func (t *callTree) levels() []byte {
	b := make([]byte, 0, len(t.level))
	for i := 1; i < len(t.level); i++ {
		b = binary.AppendUvarint(b, uint64(t.level[i-1]+1-t.level[i]))
	}
	return b
}

// frameNumbers says the frame of each node but the root.
func (t *callTree) frameNumbers() []byte {
	b := make([]byte, 0, 2*len(t.frame))
	for _, f := range t.frame[1:] {
		b = binary.AppendUvarint(b, uint64(f))
	}
	return b
}

// parts says how far each node that has a value lies behind the one before, and the values, divided by what they have
// in common.
func (v *values) parts(factor int64) [][]byte {
	parts := make([][]byte, 2)
	last := int32(0)
	for i, n := range v.node {
		parts[0] = binary.AppendUvarint(parts[0], uint64(n-last))
		parts[1] = binary.AppendUvarint(parts[1], uint64(v.value[i]/factor))
		last = n
	}
	return parts
}

// common returns the largest divisor of a factor and of values: of most events that is the period.
func common(factor int64, values []int64) int64 {
	for _, x := range values {
		if factor == 1 {
			break
		}
		factor = gcd(factor, x)
	}
	return factor
}
