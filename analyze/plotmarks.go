package analyze

import "nettrace/tcp"

// PlotMark is a kind of packet that time/sequence plots mark.
type PlotMark struct {
	Flag  tcp.Flags
	Name  string // as tcp.Flags names it
	Label string // in words
	OnACK bool   // it is about what the packet acknowledges, and lies on the ACK line instead of at the end of its data
}

// PlotMarks returns the marks of plots, the weightiest first: a packet is shown with its first one.
func PlotMarks() []PlotMark {
	return []PlotMark{
		{tcp.FlagSpurious, "spurious", "sent again needlessly", false},
		{tcp.FlagRetransmission, "retransmission", "sent again", false},
		{tcp.FlagReordered, "reordered", "out of order", false},
		{tcp.FlagZeroWindow, "zero-window", "closes the window", true},
		{tcp.FlagTailHeld, "tail-held", "rest of a message, held back", false},
		{tcp.FlagTailVisible, "tail-visible", "rest of a message, a packet of its own", false},
		{tcp.FlagTailHidden, "tail-hidden", "ends in a rest that is a packet of its own on the wire", false},
		{tcp.FlagStretchACK, "stretch-ack", "stretch ACK", true},
		{tcp.FlagDuplicateACK, "duplicate-ack", "duplicate ACK", true},
	}
}
