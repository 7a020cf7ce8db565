package datapath

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// The kernel as oracle: a network namespace of its own with a pair of veth devices, into one of which frames are sent
// through a packet socket, and out of the other of which they are read: segmented by the kernel's GSO, or merged by its
// GRO. It needs root; the test runs itself again inside the namespace.

const inNamespace = "NETTRACE_KERNEL_TEST"

// inOwnNamespace runs the test again in a namespace with devices a and b, set up by commands, and reports whether this is
// that run.
func inOwnNamespace(t *testing.T, setUp ...[]string) bool {
	t.Helper()
	if os.Getenv(inNamespace) == t.Name() {
		for _, words := range append([][]string{
			{"ip", "link", "add", "name", "va", "type", "veth", "peer", "name", "vb"},
			{"sh", "-c", "for i in va vb; do echo 1 > /proc/sys/net/ipv6/conf/$i/disable_ipv6; done"},
		}, setUp...) {
			if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %v: %s", words, err, out)
			}
		}
		for _, dev := range []string{"va", "vb"} {
			if out, err := exec.Command("ip", "link", "set", dev, "arp", "off", "mtu", "1500", "up").CombinedOutput(); err != nil {
				t.Fatalf("%s: %v: %s", dev, err, out)
			}
		}
		time.Sleep(100 * time.Millisecond) // the devices come up
		return true
	}
	if os.Getuid() != 0 {
		t.Skip("root is needed for a network namespace")
	}
	for _, program := range []string{"ip", "ethtool"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is needed for a network namespace", program)
		}
	}
	self := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	self.Env = append(os.Environ(), inNamespace+"="+t.Name())
	self.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Unshareflags: syscall.CLONE_NEWNS}
	out, err := self.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatalf("in the namespace: %v", err)
	}
	return false
}

// Constants of packet sockets (include/uapi/linux/if_packet.h, virtio_net.h).
const (
	solPacket      = 263
	packetVnetHdr  = 15
	needsChecksum  = 1
	gsoTCPv4       = 1
	gsoTCPv6       = 4
	gsoECN         = 0x80
	vnetHeaderSize = 10
)

// packetSocket opens a packet socket on a device, whose frames have a header with their offloads before them.
func packetSocket(t *testing.T, device string) int {
	t.Helper()
	const all = 0x0300 // ETH_P_ALL in network order
	fd, err := syscall.Socket(syscall.AF_PACKET, syscall.SOCK_RAW, all)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := syscall.SetsockoptInt(fd, solPacket, packetVnetHdr, 1); err != nil {
		t.Fatal(err)
	}
	i, err := net.InterfaceByName(device)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Bind(fd, &syscall.SockaddrLinklayer{Protocol: all, Ifindex: i.Index}); err != nil {
		t.Fatal(err)
	}
	syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_RCVBUFFORCE, 64<<20)
	if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &syscall.Timeval{Usec: 30_000}); err != nil {
		t.Fatal(err)
	}
	return fd
}

// superSegment makes a random super-segment with partial checksum, as a sender's stack hands it to the device, and the
// header that says how to cut it.
func superSegment(r *rand.Rand) (header, frame []byte, mss int) {
	mss = 100 + r.IntN(1300)
	data := make([]byte, 1+r.IntN(min(mss*40, 60000)))
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	if len(data) <= mss {
		mss = max(1, len(data)/2)
	}
	v := randomHeaders(r, data)
	flags := TCPACK
	for _, f := range []uint8{TCPPSH, TCPFIN, TCPECE, TCPCWR} {
		if r.IntN(3) == 0 {
			flags |= f
		}
	}
	v.SetFlags(flags)
	segment := v.bytes[v.transport:]
	segment[16], segment[17] = 0, 0
	addresses, _ := v.flow()
	binary.BigEndian.PutUint16(segment[16:], fold(sum(uint64(len(segment))+6, addresses)))
	kind := byte(gsoTCPv4)
	if v.version == 6 {
		kind = gsoTCPv6
	}
	if flags&TCPCWR != 0 {
		kind |= gsoECN
	}
	header = []byte{needsChecksum, kind}
	for _, n := range []int{v.payload, mss, v.transport, 16} {
		header = binary.LittleEndian.AppendUint16(header, uint16(n))
	}
	return header, v.bytes, mss
}

// receive reads the next frame of our flows; its header is the one of the socket.
func receive(fd int, buffer []byte) (header, frame []byte, ok bool) {
	for {
		n, _, err := syscall.Recvfrom(fd, buffer, 0)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n < vnetHeaderSize {
			return nil, nil, false
		}
		frame = buffer[vnetHeaderSize:n]
		if len(frame) >= ethernetHeader && frame[0] == 2 && frame[5] == 2 {
			return buffer[:vnetHeaderSize], frame, true
		}
	}
}

// TestKernelSegments compares 500 random super-segments, segment by segment and byte for byte, with what the kernel makes
// of them.
func TestKernelSegments(t *testing.T) {
	if !inOwnNamespace(t, []string{"ethtool", "-K", "va", "tso", "off", "tx", "off", "gso", "off"}, []string{"ethtool", "-K", "vb", "gro", "off"}) {
		return
	}
	in, out := packetSocket(t, "va"), packetSocket(t, "vb")
	r := rand.New(rand.NewPCG(4345, 1448))
	buffer := make([]byte, 1<<17)
	segments := 0
	for n := range 500 {
		header, frame, mss := superSegment(r)
		want, err := Segments(frame, mss)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := syscall.Write(in, append(bytes.Clone(header), frame...)); err != nil {
			t.Fatalf("super-segment %d of %d bytes by %d: %v", n, len(frame), mss, err)
		}
		for i, w := range want {
			_, got, ok := receive(out, buffer)
			if !ok {
				t.Fatalf("super-segment %d: the kernel sends %d segments, expected %d", n, i, len(want))
			}
			if !bytes.Equal(got, w) {
				t.Fatalf("super-segment %d, segment %d of %d differs:\nkernel %x\nours   %x", n, i, len(want), got[:min(len(got), 120)], w[:min(len(w), 120)])
			}
			segments++
		}
	}
	t.Logf("%d segments of 500 super-segments are equal", segments)
}

// burst makes the frames of one poll: a few flows, mostly going on, now and then with something that ends a merge.
func burst(r *rand.Rand) (frames [][]byte) {
	type flow struct {
		view View
		mss  int
	}
	var flows []flow
	for i := range 1 + r.IntN(3) {
		v := randomHeaders(r, nil)
		for v.version == 4 && v.transport-v.network != 20 { // GRO leaves packets with options of IPv4 alone
			v = randomHeaders(r, nil)
		}
		v.bytes[v.transport+1] = byte(i)
		v.SetFlags(TCPACK)
		flows = append(flows, flow{v, 200 + r.IntN(1100)})
	}
	for range 3 + r.IntN(40) {
		f := &flows[r.IntN(len(flows))]
		v := f.view
		length := f.mss
		flags := TCPACK
		switch r.IntN(16) {
		case 0:
			length = 1 + r.IntN(f.mss)
		case 1:
			length = 0
		case 2:
			flags |= TCPPSH
		case 3:
			flags |= []uint8{TCPFIN, TCPECE, TCPCWR, TCPURG}[r.IntN(4)]
		case 4:
			v.SetSeq(v.Seq() + 100) // a gap
		case 5:
			binary.BigEndian.PutUint32(v.bytes[v.transport+8:], v.Ack()+100)
		case 6:
			length = min(f.mss+50, 1350)
		case 7:
			if v.version == 4 {
				v.bytes[v.network+8]-- // TTL
			}
		case 8:
			if v.version == 4 {
				binary.BigEndian.PutUint16(v.bytes[v.network+4:], v.ID()+5)
			}
		}
		v.SetFlags(flags)
		data := make([]byte, length)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		frame := append(bytes.Clone(v.Headers()), data...)
		made := v
		made.bytes = frame
		made.SetLength()
		made.SetChecksums()
		frames = append(frames, frame)
		f.view.bytes = bytes.Clone(v.Headers())
		f.view.SetSeq(v.Seq() + uint32(length))
		if v.version == 4 && r.IntN(20) > 0 {
			binary.BigEndian.PutUint16(f.view.bytes[v.network+4:], v.ID()+1)
		}
	}
	return frames
}

// TestKernelMerges compares what the kernel's GRO makes of 200 random bursts with what the merger does: frame by frame in
// each flow, byte for byte.
func TestKernelMerges(t *testing.T) {
	// Each frame is a poll of its own; a timer that flushes later has GRO go on over polls, as long as no tick of the
	// kernel's clock falls in between: then a burst is sent again.
	if !inOwnNamespace(t, []string{"ethtool", "-K", "va", "tso", "off", "gso", "off"}, []string{"ethtool", "-K", "vb", "gro", "on"},
		[]string{"sh", "-c", "mount -t sysfs sysfs /sys && echo 4000000 > /sys/class/net/vb/gro_flush_timeout"}) {
		return
	}
	in, out := packetSocket(t, "va"), packetSocket(t, "vb")
	runtime.LockOSThread()
	r := rand.New(rand.NewPCG(64, 1448))
	buffer := make([]byte, 1<<17)
	merged := 0
	for n := range 200 {
		frames := burst(r)
		var m Merger
		var want []SuperSegment
		for _, f := range frames {
			want = append(want, m.Push(bytes.Clone(f))...)
		}
		want = append(want, m.Flush()...)
		difference := ""
		for range mergeTries {
			for _, f := range frames {
				if _, err := syscall.Write(in, append(make([]byte, vnetHeaderSize), f...)); err != nil {
					t.Fatal(err)
				}
			}
			if difference = compareMerges(t, frames, drainFrames(out, buffer), want); difference == "" {
				break
			}
		}
		if difference != "" {
			t.Fatalf("burst %d of %d frames, %d times: %s", n, len(frames), mergeTries, difference)
		}
		for _, w := range want {
			if w.Segments > 1 {
				merged++
			}
		}
	}
	if merged == 0 {
		t.Error("nothing was merged")
	}
	t.Logf("%d merged segments in 200 bursts are equal", merged)
}

// mergeTries is how often a burst is sent that the kernel merges otherwise.
const mergeTries = 20

// drainFrames reads all frames that come until none does for a while.
func drainFrames(fd int, buffer []byte) (frames [][]byte) {
	for {
		_, frame, ok := receive(fd, buffer)
		if !ok {
			return frames
		}
		frames = append(frames, bytes.Clone(frame))
	}
}

// compareMerges compares by flow, and says what differs first. The kernel leaves the checksum of a merged segment to be
// completed; ours has it.
func compareMerges(t *testing.T, frames, got [][]byte, want []SuperSegment) string {
	t.Helper()
	byFlow := func(frames [][]byte) map[byte][]string {
		flows := map[byte][]string{}
		for _, f := range frames {
			v, err := ParseView(f)
			if err != nil {
				t.Fatal(err)
			}
			c := v
			c.bytes = bytes.Clone(f[:v.end])
			c.SetChecksums()
			flows[f[v.transport+1]] = append(flows[f[v.transport+1]], fmt.Sprintf("seq %d, %d bytes, flags %02x, id %d, %x", v.Seq(), len(v.Payload()), v.Flags(), v.ID(), c.bytes))
		}
		return flows
	}
	var ours [][]byte
	for _, w := range want {
		ours = append(ours, w.Frame)
	}
	kernel := byFlow(got)
	for flow, list := range byFlow(ours) {
		for i, w := range list {
			k := "nothing"
			if i < len(kernel[flow]) {
				k = kernel[flow][i]
			}
			if k != w {
				text := fmt.Sprintf("flow %d, packet %d:\nkernel %.100s\nours   %.100s", flow, i, k, w)
				for _, f := range byFlow(frames)[flow] {
					text += fmt.Sprintf("\nsent   %.50s", f)
				}
				return text
			}
		}
		if len(kernel[flow]) != len(list) {
			return fmt.Sprintf("flow %d: the kernel has %d packets, ours are %d", flow, len(kernel[flow]), len(list))
		}
	}
	return ""
}
