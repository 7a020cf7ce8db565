package analyze

import (
	"bytes"
	"cmp"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"nettrace/pcap"
	"nettrace/source"
	"nettrace/tcp"
	"nettrace/unit"
)

// Captures that were written to several files one after the other (tcpdump -C, -G, -W; dumpcap -b; a capture cut by
// editcap -c or split by hand) are read as one, in the order of their times, so that a connection goes on over the border.
//
// Which files are pieces of one capture, two signs decide. They have the same interfaces and follow one another in time:
// the next one's first packet is not before the last one of what was read. Captures of one run at both ends overlap in
// time, and so stay apart. And either the names are those that the programs give (x.pcap, x.pcap1, x.pcap2;
// x_00001_20261130163603.pcapng, x_00002_...), or a connection that is open goes on in the next file at the very sequence
// number that it had reached; captures of runs one after the other, of whatever names, have no such connection.

// head is what the beginning of a capture tells of it.
type head struct {
	interfaces []pcap.Interface
	first      unit.Nanos // time of the first packet
	timed      bool
	headers    []pcap.Header // of the first packets
}

// headOfCapture and headPackets are how much tells whether a connection goes on.
const headOfCapture, headPackets = 64 << 10, 256

// readHead reads the beginning of a capture; false if it is none.
func readHead(b []byte) (h head, ok bool) {
	if f := recognise(Formats(), b[:min(len(b), headBytes)], true); f == nil || f.Kind != Capture {
		return h, false
	}
	packets, err := pcap.NewReader(source.NewInput("", bytes.NewReader(b)), new(source.Ledger))
	if err != nil {
		return h, false
	}
	for len(h.headers) < headPackets {
		p, err := packets.Next()
		if err != nil {
			break
		}
		h.note(p)
	}
	h.interfaces = packets.Info().Interfaces
	return h, true
}

func (h *head) note(p *pcap.Packet) {
	if p.HasTime && !h.timed {
		h.first, h.timed = p.Time, true
	}
	h.headers = append(h.headers, pcap.Header{})
	h.headers[len(h.headers)-1].Decode(p)
}

// alike reports whether two captures have the same interfaces.
func alike(a, b []pcap.Interface) bool {
	return slices.EqualFunc(a, b, func(a, b pcap.Interface) bool { return a.LinkType == b.LinkType && a.Name == b.Name })
}

// placed is a path with its place among those that the user gave.
type placed struct {
	path  string
	place int
}

// together adds the counters of the interfaces of another file of the capture; -1 stands for a file that is silent.
func together(a, b []pcap.Interface) []pcap.Interface {
	sum := slices.Clone(b)
	for i := range min(len(a), len(b)) {
		sum[i].Packets += a[i].Packets
		sum[i].Statistics += a[i].Statistics
		for _, n := range [][2]*int64{{&sum[i].Received, &a[i].Received}, {&sum[i].Dropped, &a[i].Dropped}, {&sum[i].OSDrops, &a[i].OSDrops}} {
			if *n[1] >= 0 {
				*n[0] = max(*n[0], 0) + *n[1]
			}
		}
	}
	return sum
}

// begins returns the time of the first packet of a capture, or of a partial that begins with one.
func begins(b []byte) (first unit.Nanos, ok bool) {
	if first, ok = headOfPartial(b); ok {
		return first, true
	}
	h, ok := readHead(b)
	return h.first, ok && h.timed
}

// inTimeOrder puts the captures among files into the order of their first packets; everything else keeps its place.
func inTimeOrder(files []string) []placed {
	list := make([]placed, len(files))
	var slots []int
	var captures []placed
	first := map[string]unit.Nanos{}
	for i, p := range files {
		list[i] = placed{p, i}
		if p == "-" || len(files) == 1 {
			continue
		}
		for src, err := range source.Walk([]string{p}, nil, new(source.Ledger)) {
			if err == nil && src.Path == filepath.ToSlash(p) {
				if at, ok := begins(src.Input.Peek(headOfCapture)); ok {
					slots, captures, first[p] = append(slots, i), append(captures, list[i]), at
				}
			}
			break
		}
	}
	slices.SortStableFunc(captures, func(a, b placed) int { return cmp.Compare(first[a.path], first[b.path]) })
	inNumberOrder(captures)
	for i, slot := range slots {
		list[slot] = captures[i]
	}
	return list
}

// inNumberOrder has files that dumpcap numbered take their places by their numbers, which only rise: where several
// interfaces are captured, the first packet of a file may be earlier than that of the file before.
func inNumberOrder(captures []placed) {
	numbered := map[string][]int{}
	for i, c := range captures {
		if dir, base := path.Split(unpacked(c.path)); dumpcapName.MatchString(base) {
			name := dir + sequence(base)
			numbered[name] = append(numbered[name], i)
		}
	}
	for _, at := range numbered {
		var files []placed
		for _, i := range at {
			files = append(files, captures[i])
		}
		slices.SortFunc(files, func(a, b placed) int { return cmp.Compare(a.path, b.path) })
		for n, i := range at {
			captures[i] = files[n]
		}
	}
}

// order is where the sources and the captures of a result belong: by the place of their paths among those that the user
// gave, times placesEach, and within a partial by those that it was made of.
type order struct {
	now               int
	sources, captures []int
}

// placesEach is how many paths a partial may have been made of, for the order of what is merged.
const placesEach = 1 << 20

// note gives the place at hand to those that are new.
func (o *order) note(places *[]int, n int) {
	for len(*places) < n {
		*places = append(*places, o.now)
	}
}

// restore puts a list and its places into the order of the places.
func restore[T any](list []T, places []int) {
	index := make([]int, len(list))
	for i := range index {
		index[i] = i
	}
	slices.SortStableFunc(index, func(a, b int) int { return cmp.Compare(places[a], places[b]) })
	sorted := make([]T, len(list))
	for i, from := range index {
		sorted[i] = list[from]
	}
	copy(list, sorted)
	slices.Sort(places)
}

// dumpcapName and tcpdumpName match the names that these programs give to the files of one capture.
var (
	dumpcapName = regexp.MustCompile(`^(.+)_\d{5}_\d{14}(\.[^.]+)?$`)
	tcpdumpName = regexp.MustCompile(`^(.+\.[a-z]+)\d*$`)
)

// unpacked returns a path without the endings of compression.
func unpacked(p string) string {
	for _, packed := range []string{".gz", ".zst", ".xz", ".lz4"} {
		p = strings.TrimSuffix(p, packed)
	}
	return p
}

// sequence returns what the names of the files of one capture have in common; "" if the name is no such name.
func sequence(p string) string {
	dir, base := path.Split(unpacked(p))
	for _, name := range []*regexp.Regexp{dumpcapName, tcpdumpName} {
		if m := name.FindStringSubmatch(base); m != nil {
			return dir + strings.Join(m[1:], "_")
		}
	}
	return ""
}

// capturing is a capture that may go on in another file.
type capturing struct {
	tracker        *tcp.Tracker
	place          int    // of its first file
	path           string // of the last file
	interfaces     []pcap.Interface
	records, bytes int64 // of the files so far
}

// atBorder is how far packets of one capture may be out of order, where several queues or CPUs write to it.
const atBorder = unit.Second

// goesOn reports whether the file at p, which begins so, is the next piece of the capture.
func (c *capturing) goesOn(p string, h head) bool {
	if c == nil || !alike(c.interfaces, h.interfaces) {
		return false
	}
	if named := sequence(p); named != "" && named == sequence(c.path) && unpacked(p) != unpacked(c.path) {
		return !h.timed || h.first >= c.tracker.End()-atBorder
	}
	return h.timed && h.first >= c.tracker.End() && c.tracker.Goes(h.headers)
}
