package source

import (
	"bufio"
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// utf16Text decodes text of two bytes a character, which Windows PowerShell makes of what a command prints (> and
// Tee-Object write UTF-16LE with a byte order mark before PowerShell 6).
type utf16Text struct {
	r     *bufio.Reader
	order binary.ByteOrder
	ahead int32  // a unit that was read too far, -1 for none
	rest  []byte // decoded, not yet handed out
	buf   [utf8.UTFMax]byte
}

// openUTF16 begins behind the byte order mark.
func openUTF16(order binary.ByteOrder) func(*bufio.Reader) (io.Reader, error) {
	return func(r *bufio.Reader) (io.Reader, error) {
		_, err := r.Discard(2)
		return &utf16Text{r: r, order: order, ahead: -1}, err
	}
}

func (t *utf16Text) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(t.rest) == 0 {
			c, err := t.char()
			if err != nil {
				if n > 0 {
					return n, nil
				}
				return 0, err
			}
			t.rest = utf8.AppendRune(t.buf[:0], c)
		}
		k := copy(p[n:], t.rest)
		n, t.rest = n+k, t.rest[k:]
	}
	return n, nil
}

// char decodes a character of one unit or, as a pair, of two.
func (t *utf16Text) char() (rune, error) {
	u, err := t.unit()
	if err != nil || !utf16.IsSurrogate(u) {
		return u, err
	}
	low, err := t.unit()
	if err != nil {
		return utf8.RuneError, nil // the next call meets the end, too
	}
	if c := utf16.DecodeRune(u, low); c != utf8.RuneError {
		return c, nil
	}
	t.ahead = low
	return utf8.RuneError, nil
}

func (t *utf16Text) unit() (rune, error) {
	if u := t.ahead; u >= 0 {
		t.ahead = -1
		return u, nil
	}
	var b [2]byte
	if _, err := io.ReadFull(t.r, b[:]); err != nil {
		return 0, err // an odd last byte: io.ErrUnexpectedEOF
	}
	return rune(t.order.Uint16(b[:])), nil
}
