package pcap

// Verify tells what the TCP or UDP checksum of a packet proves to be; h is its decoded header. It reads the whole
// payload, so it is no work for every packet.
//
// Valid and wrong need the whole segment. Partial is proven by the headers alone: Linux leaves the folded pseudo-header
// sum, not complemented, for the device to finish (net/ipv4/tcp_ipv4.c __tcp_v4_send_check), and writes the same into
// what GRO has merged (tcp4_gro_complete). Segmentation offloads of other systems leave the length out of that sum, as
// it changes with each segment (Windows NDIS LSO, FreeBSD tcp_output.c with CSUM_TSO), which is partial, too. One wrong
// checksum in 32,000 looks partial by chance.
func Verify(p *Packet, h *Header) Checksum {
	if p.Verified != ChecksumUnknown {
		return p.Verified
	}
	head := 0
	protocol := uint32(protoTCP)
	switch h.Transport {
	case TCP:
		head = 20 + int(h.Options.Length)
	case UDP:
		head, protocol = 8, protoUDP
		if h.Checksum == 0 && h.Network == IPv4 { // RFC 768: none was made
			return ChecksumUnknown
		}
	default:
		return ChecksumUnknown
	}
	at, length := h.PayloadAt-head, head+h.Payload
	if h.Fragment || at < 0 || h.Fault == LengthAbove {
		return ChecksumUnknown
	}
	withoutLength := sum16(h.Src[:], protocol) + sum16(h.Dst[:], 0)
	pseudo := withoutLength + uint32(length>>16) + uint32(length&0xffff)
	whole := at+length <= len(p.Data)
	if whole && fold(sum16(p.Data[at:at+length], pseudo)) == 0xffff {
		return ChecksumValid
	}
	if h.Checksum == fold(pseudo) || h.Checksum == fold(withoutLength) {
		return ChecksumPartial
	}
	if whole {
		return ChecksumWrong
	}
	return ChecksumCut
}

// sum16 adds the 16-bit words of b to sum (RFC 1071), an odd last byte as the upper half of one. b may have up to 64 KiB
// words before a 32-bit sum could overflow, so it is folded on the way.
func sum16(b []byte, sum uint32) uint32 {
	for len(b) > 1 {
		part := b[:min(len(b)&^1, 32<<10)]
		for n := 0; n+1 < len(part); n += 2 {
			sum += uint32(part[n])<<8 | uint32(part[n+1])
		}
		sum = uint32(fold(sum))
		b = b[len(part):]
	}
	if len(b) == 1 {
		sum += uint32(b[0]) << 8
	}
	return sum
}

func fold(sum uint32) uint16 {
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return uint16(sum)
}
