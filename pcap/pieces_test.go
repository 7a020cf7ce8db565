package pcap

import "io"

// pieces is a reader that gives a few bytes at a time, of changing number.
type pieces struct {
	data []byte
	n    int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.data) == 0 {
		return 0, io.EOF
	}
	p.n = p.n%97 + 7
	n := copy(b, p.data[:min(p.n, len(p.data))])
	p.data = p.data[n:]
	return n, nil
}
