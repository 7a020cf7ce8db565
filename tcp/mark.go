package tcp

import "slices"

// Flags are the verdicts on one packet. Only what can be decided when the packet passes is in them: a retransmission that
// a later D-SACK proves needless is counted as such in its connection, but its packet has been handed on by then.
type Flags uint32

const (
	FlagCopy             Flags = 1 << iota // the capture holds this packet already (other interface, mirror port, routed copy)
	FlagSuperSegment                       // more payload than one packet on the wire can carry: TSO, GSO, GRO or LRO
	FlagGap                                // begins above the highest sequence number seen
	FlagRetransmission                     // sends data again
	FlagSpurious                           // the data was acknowledged before it was sent again
	FlagReordered                          // sent before a packet that was seen earlier
	FlagKeepAlive                          // repeats the last acknowledged byte, or no byte before the next one
	FlagZeroWindow                         // closes the window
	FlagZeroWindowProbe                    // a byte, or none, into a closed window
	FlagDuplicateACK                       // repeats an ACK number while data is outstanding
	FlagACKUnseen                          // acknowledges data that the capture does not hold
	FlagStretchACK                         // acknowledges more than two full-sized segments
	FlagTailHidden                         // a super-segment that ends in a small rest
	FlagTailVisible                        // the small rest of a message, right behind its full-sized segments
	FlagTailHeld                           // such a rest that Nagle's algorithm held back
	FlagRepeatedSYN                        // SYN or SYN-ACK sent again
	FlagRepeatedFIN                        // FIN sent again
	FlagFastOpenFallback                   // data of a refused Fast Open SYN, sent again
	FlagPortReused                         // a new connection between the addresses and ports of an earlier one
	FlagKeepAliveACK                       // answers a keep-alive
)

// Names returns the names of the flags that are set, in a fixed order. They are public.
func (f Flags) Names() []string {
	names := []string{}
	for i, name := range flagNames {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// FlagNames returns the names of all flags.
func FlagNames() []string { return slices.Clone(flagNames[:]) }

var flagNames = [...]string{"copy", "super-segment", "gap", "retransmission", "spurious", "reordered", "keep-alive", "zero-window", "zero-window-probe",
	"duplicate-ack", "ack-unseen", "stretch-ack", "tail-hidden", "tail-visible", "tail-held", "repeated-syn", "repeated-fin", "fast-open-fallback", "port-reused", "keep-alive-ack"}

// Mark is what the tracker says of one packet.
type Mark struct {
	Connection  int64 // its number, from 1; 0 for a packet that is no TCP
	Reverse     bool  // from the server to the client
	WirePackets int   // packets it is, was or will be on the wire
	Flags       Flags
}
