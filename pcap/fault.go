package pcap

import "nettrace/source"

// Fault is the first thing that is wrong with a packet's headers. The rest is decoded as far as it can be told.
type Fault uint8

const (
	NoFault       Fault = iota
	HeaderCut           // the capture ends inside a network or transport header
	LengthAbove         // the IP length goes past the record; it is bounded by the record
	LengthBelow         // the IP length has no room for its own headers; the record's is used
	LengthMissing       // the IP length is 0 where no offload leaves it so
	BadHeader           // a header contradicts itself (version, header length)
	TooDeep             // more tunnels, tags or headers in each other than are followed
)

// String is the fault's name in the ledger.
func (f Fault) String() string {
	return [...]string{"", "header-cut", "ip-length-above-record", "ip-length-too-small", "ip-length-zero", "bad-header", "too-deep"}[f]
}

func (f Fault) text() string {
	return [...]string{"",
		"the snap length ends inside the packet's headers; it is counted without what they would tell",
		"the IP length goes past the end of the packet; the packet's own length is used",
		"the IP length has no room for the packet's headers; the packet's own length is used",
		"malformed: the IP length is 0, which only segmentation offload of TCP and UDP leaves; not analysed",
		"malformed: a header contradicts itself (version or header length); not analysed",
		"more headers in each other than are followed; not analysed",
	}[f]
}

// Enter notes in the ledger that the packet at pos has the fault, if it is one. It is a note: what is wrong is a packet,
// not the capture.
func (f Fault) Enter(ledger *source.Ledger, pos source.Pos) {
	if f != NoFault {
		ledger.Add(f.String(), source.Note, pos, 1, f.text())
	}
}
