package pcap

import "nettrace/unit"

// Format is a container of packets.
type Format string

const (
	FormatPcap   Format = "pcap"
	FormatPcapng Format = "pcapng"
	FormatSnoop  Format = "snoop"
)

// Interface is where packets of a capture come from: an interface of a pcapng section, or everything behind one file
// header of the other formats.
type Interface struct {
	Name        string   `json:"name,omitempty"`
	Description string   `json:"description,omitempty"`
	Filter      string   `json:"filter,omitempty"`
	LinkType    LinkType `json:"link_type"`
	SnapLen     int      `json:"snaplen"`             // as the header says, 0 for none; records may be longer
	Resolution  uint8    `json:"resolution"`          // as if_tsresol: 10^-n seconds, 2^-n with the top bit set
	Offset      int64    `json:"offset_s,omitempty"`  // seconds that times are off by (if_tsoffset)
	FCSBytes    int      `json:"fcs_bytes,omitempty"` // of frame check sequence behind each whole frame
	Speed       int64    `json:"speed,omitempty"`     // bits per second (if_speed)
	System      string   `json:"system,omitempty"`    // of the machine that the interface is of (if_os)
	Hardware    string   `json:"hardware,omitempty"`
	Remarks     []string `json:"remarks,omitempty"`    // comments
	Statistics  int64    `json:"statistics,omitempty"` // blocks of counters
	Packets     int64    `json:"packets"`              // read so far
	Tap         int      `json:"tap,omitempty"`        // number of the first interface that is this one, its own unless an earlier section has it

	// What the capture says about itself; cumulative counters as the last statistics have them, -1 where it is silent.
	Received int64 `json:"received"` // packets the interface saw (isb_ifrecv)
	Dropped  int64 `json:"dropped"`  // by the interface, its driver or the capture buffer (isb_ifdrop, epb_dropcount, snoop)
	OSDrops  int64 `json:"os_drops"` // by the operating system (isb_osdrop)

	clock       clock
	packetDrops int64 // sum of the packets' own drop counts
}

// Info describes a capture as far as it was read.
type Info struct {
	Format     Format      `json:"format"`
	Interfaces []Interface `json:"interfaces"`
	Sections   int         `json:"sections"` // pcapng sections, or file headers of appended captures
	Packets    int64       `json:"packets"`
	Bytes      int64       `json:"bytes"`             // that the packets had on the link
	Comments   int64       `json:"comments"`          // of packets, interfaces and sections
	Remarks    []string    `json:"remarks,omitempty"` // the comments of sections; as the next three, each text once, and no more than a few
	Hardware   []string    `json:"hardware,omitempty"`
	System     []string    `json:"system,omitempty"`      // "Linux 6.18.0"
	Writer     []string    `json:"writer,omitempty"`      // "Dumpcap (Wireshark) 4.0.17"
	Names      int64       `json:"names,omitempty"`       // blocks of resolved names
	Secrets    int64       `json:"secrets,omitempty"`     // blocks of keys
	First      unit.Nanos  `json:"first_ns"`              // earliest packet, since the Unix epoch
	Last       unit.Nanos  `json:"last_ns"`               // latest
	HasTime    bool        `json:"has_time"`              // some packet has a time
	Backwards  int64       `json:"backwards,omitempty"`   // packets that are earlier than the one before them
	Cut        int64       `json:"cut_packets,omitempty"` // packets of which only the beginning was captured
	CutTo      [2]int      `json:"cut_to"`                // the least and the most that was captured of them
}

// Note takes a packet into account that came another way than from a Reader, in the order of times.
func (i *Info) Note(p *Packet) { i.note(p, i.Last) }

// note takes a packet into account.
func (i *Info) note(p *Packet, previous unit.Nanos) {
	i.Packets++
	i.Bytes += int64(p.WireLen)
	if p.CapLen < p.WireLen {
		if i.Cut++; i.Cut == 1 {
			i.CutTo[0] = p.CapLen
		}
		i.CutTo = [2]int{min(i.CutTo[0], p.CapLen), max(i.CutTo[1], p.CapLen)}
	}
	if !p.HasTime {
		return
	}
	if !i.HasTime {
		i.HasTime, i.First, i.Last = true, p.Time, p.Time
		return
	}
	if p.Time < previous {
		i.Backwards++
	}
	i.First, i.Last = min(i.First, p.Time), max(i.Last, p.Time)
}
