package tcp

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"nettrace/unit"
)

// traced is what tcptrace says of one direction.
type traced map[string]float64

var (
	tracedConnection = regexp.MustCompile(`^TCP connection \d+:`)
	tracedFigure     = regexp.MustCompile(`([^:]*): +([\d.]+)`)
)

// tcptrace runs tcptrace on a capture.
func tcptrace(t *testing.T, path string) [][2]traced {
	t.Helper()
	program, err := exec.LookPath("tcptrace")
	if err != nil {
		t.Skip("tcptrace is not installed")
	}
	out, err := exec.Command(program, "-lrn", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	var list [][2]traced
	for line := range strings.Lines(string(out)) {
		if tracedConnection.MatchString(line) {
			list = append(list, [2]traced{{}, {}})
			continue
		}
		if m := tracedFigure.FindAllStringSubmatch(line, 2); len(m) == 2 && len(list) > 0 {
			for i := range m {
				parts := strings.Split(strings.TrimSpace(m[i][1]), "  ") // the unit of the first column comes before
				value, err := strconv.ParseFloat(m[i][2], 64)
				if err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				list[len(list)-1][i][strings.TrimSpace(parts[len(parts)-1])] = value
			}
		}
	}
	return list
}

// TestAgainstTcptrace compares counts and times with tcptrace, which is right about them but for three things: what fills a
// hole is out of order to it, copies are retransmissions, and so is a FIN that is sent again. So the sum of all is compared.
func TestAgainstTcptrace(t *testing.T) {
	compared := 0
	for _, file := range []string{"rr-4345-sender.pcap", "rr-65161-sender.pcap", "nagle-head-3mss1.pcap", "delack-server.pcap", "many-conns.pcap", "bulk-nogro-receiver.pcap", "bulk-gro-receiver.pcap", "rtt20-gro-receiver.pcap",
		"loss-fast-sender.pcap", "loss-queue-sender.pcap", "loss-random-receiver.pcap", "loss-acks-sender.pcap", "reorder-receiver.pcap", "zerowindow-sender.pcap", "ipv6-bulk-sender.pcap", "jumbo-mtu9000.pcap"} {
		peer := tcptrace(t, filepath.Join(fixtures, file))
		c := read(t, filepath.Join(fixtures, file))
		if len(peer) != len(c.Connections) {
			t.Fatalf("%s: %d connections, tcptrace has %d", file, len(c.Connections), len(peer))
		}
		for i := range peer {
			copies := c.Connections[i].Copies
			for dir := range 2 {
				d, p := &c.Connections[i].Directions[dir], peer[i][dir]
				if dir == ServerToClient {
					copies = 0 // in these files only the client's packets are told twice
				}
				for _, figure := range []struct {
					name string
					ours int64
					his  float64
				}{
					{"data packets", d.DataPackets + copies, p["actual data pkts"]},
					{"unique bytes", d.GoodputBytes, p["unique bytes sent"]},
					{"resent or late", d.RetransmittedPackets + d.ReorderedPackets + copies + c.repeatedFINs(i, dir), p["rexmt data pkts"] + p["outoforder pkts"]},
				} {
					compared++
					if float64(figure.ours) != figure.his {
						t.Errorf("%s: connection %d, %s: %s %d, tcptrace %g", file, i+1, ways[dir], figure.name, figure.ours, figure.his)
					}
				}
				// tcptrace prints tenths of a millisecond. It times SYN and FIN too, and waits for the end of a super-segment
				// where the ACK of its first packet tells the time already.
				if p["RTT samples"] > 5 && d.RTT.Samples > 5 {
					compared++
					const tick = 60 * unit.Microsecond
					if least := unit.Nanos(p["RTT min"] * 1e6); d.RTT.Min < least-least/20-tick || d.RTT.Min > least+least/20+tick {
						t.Errorf("%s: connection %d, %s: RTT from %v, tcptrace %v", file, i+1, ways[dir], d.RTT.Min, least)
					}
				}
			}
		}
	}
	if compared < 400 {
		t.Errorf("only %d figures were compared", compared)
	}
}

// repeatedFINs counts the FINs that were sent again.
func (j *judged) repeatedFINs(connection, dir int) int64 {
	n := int64(0)
	for _, m := range j.marks {
		if m.Connection == int64(connection+1) && m.Reverse == (dir == ServerToClient) && m.Flags&FlagRepeatedFIN != 0 {
			n++
		}
	}
	return n
}
