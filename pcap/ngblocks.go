package pcap

import "slices"

// The methods below read bodies; they report false when a body is too short for its fixed part.

func (r *Reader) sectionHeader(body []byte, order byteOrder) bool {
	if len(body) < 16 {
		return false
	}
	if major, minor := order.u16(body[4:]), order.u16(body[6:]); major != 1 || minor != 0 && minor != 2 {
		r.count(unknownVersion)
	}
	r.state = section{Format: FormatPcapng, Order: order, Base: len(r.info.Interfaces)}
	for code, value := range options(body[16:], order) {
		switch code {
		case optComment:
			r.info.Comments++
			r.info.Remarks = also(r.info.Remarks, value)
		case optHardware:
			r.info.Hardware = also(r.info.Hardware, value)
		case optSystem:
			r.info.System = also(r.info.System, value)
		case optWriter:
			r.info.Writer = also(r.info.Writer, value)
		}
	}
	r.info.Sections++
	return true
}

func (r *Reader) interfaceDescription(body []byte) bool {
	if len(body) < 8 {
		return false
	}
	order := r.state.Order
	i := Interface{LinkType: LinkType(order.u16(body)), SnapLen: int(order.u32(body[4:])), Resolution: 6}
	for code, value := range options(body[8:], order) {
		switch {
		case code == optComment:
			r.info.Comments++
			i.Remarks = also(i.Remarks, value)
		case code == optIfaceSystem:
			i.System = text(value)
		case code == optDevice:
			i.Hardware = text(value)
		case code == optSpeed && len(value) == 8:
			i.Speed = saturated(order.u64(value))
		case code == optName:
			i.Name = text(value)
		case code == optDescription:
			i.Description = text(value)
		case code == optFilter && len(value) > 1 && value[0] == 0: // 0: a filter expression, 1: BPF byte code
			i.Filter = text(value[1:])
		case code == optResolution && len(value) == 1:
			i.Resolution = value[0]
		case code == optFCS && len(value) == 1:
			i.FCSBytes = int(value[0])
		case code == optOffset && len(value) == 8:
			i.Offset = int64(order.u64(value))
		}
	}
	r.addInterface(i)
	return true
}

// text bounds a string of the file, so that the table of interfaces stays small.
func text(value []byte) string {
	const longest = 256
	return string(value[:min(len(value), longest)])
}

// also adds what another section says, if it is new, to a few of what others said.
func also(said []string, value []byte) []string {
	const most = 8
	if v := text(value); len(said) < most && !slices.Contains(said, v) {
		return append(said, v)
	}
	return said
}

func (r *Reader) statistics(body []byte) bool {
	if len(body) < 12 {
		return false
	}
	order := r.state.Order
	number, ok := r.interfaceNumber(order.u32(body))
	if !ok {
		return true
	}
	i := &r.info.Interfaces[number]
	i.Statistics++
	for code, value := range options(body[12:], order) {
		switch {
		case code == optComment:
			r.info.Comments++
		case len(value) != 8:
		case code == optReceived:
			i.Received = saturated(order.u64(value))
		case code == optIfaceDrops:
			i.Dropped = saturated(order.u64(value))
		case code == optSystemDrops:
			i.OSDrops = saturated(order.u64(value))
		}
	}
	return true
}

// interfaceNumber turns a section's number of an interface into the capture's.
func (r *Reader) interfaceNumber(inSection uint32) (int, bool) {
	if n := uint64(r.state.Base) + uint64(inSection); n < uint64(len(r.info.Interfaces)) {
		return int(n), true
	}
	r.count(unknownInterface)
	return 0, false
}

func (r *Reader) enhanced(body []byte) (ok, packet bool) {
	if len(body) < packetFixedBytes {
		return false, false
	}
	return r.packetBlock(body, r.state.Order.u32(body), 0)
}

// oldPacket reads the obsolete packet block (draft-ietf-opsawg-pcapng, appendix A): as the enhanced one, but for a
// 16-bit interface and a 16-bit count of drops, 0xffff for unknown.
func (r *Reader) oldPacket(body []byte) (ok, packet bool) {
	if len(body) < packetFixedBytes {
		return false, false
	}
	drops := r.state.Order.u16(body[2:])
	if drops == 0xffff {
		drops = 0
	}
	return r.packetBlock(body, uint32(r.state.Order.u16(body)), drops)
}

func (r *Reader) packetBlock(body []byte, inSection uint32, drops uint16) (ok, packet bool) {
	order, rest := r.state.Order, body[packetFixedBytes:]
	ticks := uint64(order.u32(body[4:]))<<32 | uint64(order.u32(body[8:]))
	captured, original := order.u32(body[12:]), order.u32(body[16:])
	if captured > uint32(len(rest)) {
		return false, false
	}
	number, known := r.interfaceNumber(inSection)
	if !known {
		r.record++
		return true, false
	}
	p := &r.packet
	p.Data, p.WireLen = rest[:captured:captured], int(original)
	p.Direction, p.Device, p.Flags, p.options = DirectionUnknown, 0, 0, nil
	i := &r.info.Interfaces[number]
	i.packetDrops = saturated(uint64(i.packetDrops) + uint64(drops))
	if after := padded(int(captured)); after < len(rest) {
		p.options, p.order = rest[after:], order
		r.packetOptions(i)
	}
	return true, r.take(number, ticks, true, len(body)+blockFrameBytes)
}

// packetOptions reads the options of the current packet.
func (r *Reader) packetOptions(i *Interface) {
	p := &r.packet
	for code, value := range options(p.options, p.order) {
		switch {
		case code == optComment:
			r.info.Comments++
		case code == optFlags && len(value) == 4:
			p.Flags = p.order.u32(value)
			p.Direction = [...]Direction{DirectionUnknown, Inbound, Outbound, DirectionUnknown}[p.Flags&3]
		case code == optPacketDrops && len(value) == 8:
			i.packetDrops = saturated(uint64(i.packetDrops) + uint64(saturated(p.order.u64(value))))
		}
	}
}

// simple reads a simple packet block: it belongs to the section's first interface, whose snaplen bounds what was captured.
func (r *Reader) simple(body []byte) (ok, packet bool) {
	if len(body) < 4 {
		return false, false
	}
	number, known := r.interfaceNumber(0)
	if !known {
		r.record++
		return true, false
	}
	original, captured := r.state.Order.u32(body), uint64(len(body)-4)
	captured = min(captured, uint64(original))
	if snap := r.info.Interfaces[number].SnapLen; snap > 0 {
		captured = min(captured, uint64(snap))
	}
	p := &r.packet
	p.Data, p.WireLen = body[4:4+captured:4+captured], int(original)
	p.Direction, p.Device, p.Flags, p.options = DirectionUnknown, 0, 0, nil
	return true, r.take(number, 0, false, len(body)+blockFrameBytes)
}
