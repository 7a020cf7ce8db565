package tcp

import (
	"fmt"

	"nettrace/finding"
)

// ChecksumOffload finds checksums that are not those of the wire.
func ChecksumOffload() finding.On[*Capture] {
	return finding.On[*Capture]{
		Rule: finding.Rule{
			Name:  "capture/checksum-offload",
			Title: "checksums are left to the device, or wrong",
			Method: "The first four data packets of each direction are looked at, on the first 256 connections. A checksum is partial if it is the folded sum of the pseudo-header, which Linux leaves for the device to complete and GRO writes into merged packets: that is proven by the headers alone, and no error. " +
				"It is wrong if the packet was captured whole and it is neither valid nor partial: then it is a notice. No packet is left out of the analysis for its checksum.",
			FalsePositives: "Other systems leave other things (0, or random bytes) in packets that the device completes. One wrong checksum in 32,000 looks partial by chance. tshark reports partial ones as such or as incorrect, by version and preference.",
			References:     []string{"Linux include/linux/skbuff.h: CHECKSUM_PARTIAL", "Linux net/ipv4/tcp_ipv4.c: __tcp_v4_send_check", "RFC 1071"},
		},
		Judge: perCapture(judgeChecksumOffload),
	}
}

func judgeChecksumOffload(c *Capture, _ finding.Params) (f finding.Finding, ok bool) {
	v := &c.Picture
	if v.Partial.Count+v.Wrong.Count == 0 {
		return f, false
	}
	looked := v.Valid + v.NotWhole + v.Partial.Count + v.Wrong.Count
	f.Confidence, f.Reasons = finding.High, []string{"proven from the pseudo-header"}
	f.Summary = fmt.Sprintf("of %s looked at, %d have a checksum that was left to the device", count(looked, "data packet"), v.Partial.Count)
	if v.Wrong.Count > 0 {
		f.Severity = finding.Notice
		f.Summary += fmt.Sprintf(", %d a wrong one", v.Wrong.Count)
	}
	f.Measures = []finding.Measure{
		{Name: "partial_checksums", Value: float64(v.Partial.Count), Unit: "packets"},
		{Name: "wrong_checksums", Value: float64(v.Wrong.Count), Unit: "packets"},
		{Name: "checksums_looked_at", Value: float64(looked), Unit: "packets"},
	}
	f.Evidence = append(c.show(&v.Partial, func(*Sight) string { return "the checksum is that of the pseudo-header" }), c.show(&v.Wrong, func(*Sight) string { return "the checksum is wrong" })...)
	f.Advice = []finding.Advice{{Text: "partial ones need nothing; wrong ones that also arrive (nstat TcpInCsumErrors) point to a device or a middlebox", Reference: "nstat(8)"}}
	return f, true
}
