package datapath

// segmentation is how a message of several segments leaves: the whole segments as one TSO burst, the remainder as a frame
// of its own (Linux to about 2.6.38: TSO sends only whole multiples of the MSS).
type segmentation struct {
	segments  int // of one MSS each
	remainder int // bytes
}

func segment(bytes, mss int) segmentation { return segmentation{bytes / mss, bytes % mss} }

// split reports whether the message goes down the stack in two parts.
func (s segmentation) split() bool { return s.segments > 0 && s.remainder > 0 }

// frames is the number of frames on the wire.
func (s segmentation) frames() int {
	if s.remainder > 0 {
		return s.segments + 1
	}
	return s.segments
}
