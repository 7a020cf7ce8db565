package tcp

import (
	"fmt"
	"math"
	"strings"

	"nettrace/finding"
)

// What tcp/tso-split and tcp/just-over-mss have in common: whether the tails of a direction are more than chance, and what
// to do about them.

const tailMethod = "A message is the data of one direction up to a packet with PSH that is no multiple of the effective MSS, or up to the other side's answer. " +
	"One that is longer than the MSS leaves as k*MSS bytes and a rest; a rest of at most an eighth of the MSS is a tail. " +
	"Messages of random lengths have such a rest one time in eight, so tails of all three forms together are compared with that: they are reported if one size of tail comes more often, " +
	"or all sizes together come more often (and with at least a quarter of the messages), than chance explains by Chernoff's bound on the binomial distribution. " +
	"The effective MSS is the smaller option of both SYNs less the option bytes of the packet (RFC 6691), or the common step of payload lengths; without either nothing is judged."

func tailParams() []finding.Param {
	return []finding.Param{
		{Name: "chance", Default: 1e-6, Doc: "probability below which tails are no chance; own choice: six equal tails in six messages pass, ten thousand random messages do not"},
		{Name: "min-share", Default: 0.05, Unit: "ratio", Doc: "part of the messages that must have the most common tail; own choice, so that a rare message does not speak for a busy connection"},
		{Name: "notice-packets", Default: 0.10, Unit: "ratio", Doc: "tails per packet of their messages from which the finding is a notice; own choice: one packet more in ten or fewer"},
	}
}

// systematic reports whether the tails of a direction are more than chance.
func systematic(t *Tails, mss int, p finding.Params) bool {
	if mss == 0 || t.Messages == 0 {
		return false
	}
	limit := math.Log(p["chance"])
	if share(t.Count(), t.Messages) >= 2.0/smallTail && surprise(t.Messages, t.Count(), 1.0/smallTail) <= limit {
		return true
	}
	for _, s := range t.Sizes {
		// Any of the MSS/8 sizes would have been remarked.
		if share(s.Count, t.Messages) >= p["min-share"] && surprise(t.Messages, s.Count, 1/float64(mss))+math.Log(float64(mss)/smallTail) <= limit {
			return true
		}
	}
	return false
}

// lengths describes the messages behind the tails: "messages of 4345 bytes = 3 x 1448 + 1".
func (t *Tails) lengths(mss int) string {
	if len(t.Sizes) == 0 || t.Sizes[0].MessageBytes == 0 {
		return fmt.Sprintf("messages of differing lengths, MSS %d", mss)
	}
	n := t.Sizes[0].MessageBytes
	return fmt.Sprintf("messages of %d bytes = %d x %d + %d", n, n/int64(mss), mss, n%int64(mss))
}

// tailBytes describes the size of the tails.
func (t *Tails) tailBytes() string {
	if len(t.Sizes) == 1 {
		return fmt.Sprintf("%d-byte", t.Sizes[0].Bytes)
	}
	return "small"
}

// sizeAdvice names the lengths that have no tail.
func (t *Tails) sizeAdvice(mss int) finding.Advice {
	text := fmt.Sprintf("send messages of a multiple of %d bytes, or fill the last packet", mss)
	if len(t.Sizes) > 0 && t.Sizes[0].MessageBytes > 0 {
		n, m := t.Sizes[0].MessageBytes, int64(mss)
		text = fmt.Sprintf("keep messages at %d bytes or fewer (%d x %d), or fill the last packet, up to %d bytes", n-n%m, n/m, m, n-n%m+m)
	}
	return finding.Advice{Text: text, Reference: "RFC 6691; Linux net/ipv4/tcp_output.c, tcp_mss_split_point"}
}

// both judges a rule about tails on the two directions of a server: sums of the values that of takes from each direction
// with systematic tails.
type tailSum struct {
	dirs  []int // directions with systematic tails of the form, the one with more of them first
	count int64
}

func sumTails(s *trial, form func(*Tails) int64) tailSum {
	var sum tailSum
	for dir := range s.Directions {
		t := &s.Directions[dir].Tails
		if n := form(t); n > 0 && systematic(t, s.MSS[dir], s.params) {
			sum.count += n
			sum.dirs = append(sum.dirs, dir)
		}
	}
	if len(sum.dirs) == 2 && form(&s.Directions[1].Tails) > form(&s.Directions[0].Tails) {
		sum.dirs[0], sum.dirs[1] = 1, 0
	}
	return sum
}

// wayNames lists the directions of the sum.
func (sum *tailSum) wayNames() string {
	var names []string
	for _, d := range sum.dirs {
		names = append(names, ways[d])
	}
	return strings.Join(names, " and ")
}

// mssReasons says how the MSS that the judgement rests on is known.
func (s *trial) mssReasons(dir int) (finding.Level, []string) {
	for _, k := range s.connections() {
		if d := &k.Directions[dir]; d.EffectiveMSS > 0 {
			reason := fmt.Sprintf("effective MSS %d by %s", d.EffectiveMSS, d.MSSSource)
			if d.MSSSource == MSSHandshake {
				return finding.High, []string{reason}
			}
			return finding.Medium, []string{reason}
		}
	}
	return finding.Medium, nil
}
