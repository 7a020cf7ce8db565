package main

import (
	"regexp"
	"strings"
	"testing"

	"nettrace/fixtures/shared"
)

// caseCheck is what one command has to say of a case.
type caseCheck struct {
	args    string // CASE stands for its folder
	must    []string
	mustNot []string
}

// TestCases holds what the collected cases ask for, through the command line. The comments quote their expected.md.
func TestCases(t *testing.T) {
	for dir, checks := range map[string][]caseCheck{
		"07-pcap-cut-short": {
			// "Each import is marked as cut short, with the byte offset ...: 237 ..., 450 ..., 512 ..., and with how much was wanted and how much was there"
			{"inspect CASE/header-cut.pcap", []string{`1 records`, `warning +truncated-record .*byte 237: .*wants 16 bytes, 2 are there`}, nil},
			{"inspect CASE/body-cut.pcap", []string{`2 records`, `warning .*byte 450: .*197 bytes, 60 are there`}, nil},
			{"inspect CASE/block-cut.pcapng", []string{`2 records`, `warning .*byte 512: .*232 bytes, 40 are there`}, nil},
			// "The mark is kept in the JSON output"; not "Count the cut record as a packet lost on the network"
			{"analyze -o json CASE/body-cut.pcap", []string{`"truncated-record"`}, []string{`"udp/loss"`, `"capture/loss"`}},
		},
		"08-pcap-ip-length-zero": {
			// "frame 4: 200, frame 5: 2387, frame 6: 5840, frame 7: 1460, frames 8 and 9: 0"; "segmentation-offload frames ..., with 2 and 4 segments"
			{"packets CASE/tso-zero.pcap", []string{`#4 .*len 200`, `#5 .*len 2387, 2 on the wire +\[super-segment`, `#6 .*len 5840, 4 on the wire +\[super-segment`, `#7 .*len 1460`, `#9 .*len 0`}, []string{`gap`, `retransmission`, `len 42`}},
			// "Server stream: 9687 bytes ..., no gap"
			{"flows CASE/tso-zero.pcap", []string{`9,687 +\d+ \d+ +0 0`}, nil},
			// "Frame 10 is reported as malformed (IPv4 total length 0 with ICMP)"
			{"inspect CASE/tso-zero.pcap", []string{`ip-length-zero at record 10.*malformed`}, nil},
		},
		"09-pcap-snaplen-zero": {
			// "3 packets, captured and original lengths 102, 342, 1442; no error, no warning about the header"
			{"packets -o ndjson CASE/snap0.pcap", []string{`"length":102,"captured":102`, `"length":342,"captured":342`, `"length":1442,"captured":1442`}, nil},
			{"inspect CASE/snap0.pcap", []string{`3 records`}, []string{`warning`}},
			// "captured 82, 342, 96 ...; Packet 3 is marked as cut by the snap length (96 of 1442), packet 2 is not"
			{"packets -o ndjson CASE/over-snap.pcap", []string{`"length":82,"captured":82`, `"length":342,"captured":342`, `"length":1442,"captured":96`}, nil},
			{"inspect CASE/over-snap.pcap", []string{`cut-by-snaplen at record 3`, `cut packets +1 `}, nil},
		},
		"10-pcap-sll2": {
			// "13 frames decode ... The link type is given as 276 or LINUX_SLL2"
			{"inspect CASE/any.pcap", []string{`13 records`, `LINUX_SLL2`}, []string{`unknown link`}},
			// "Interface index (2 or 3) and direction (in, out) are kept per frame"
			{"packets -o ndjson CASE/any.pcap", []string{`"device":2,"direction":"in"`, `"device":3,"direction":"out"`}, []string{`"retransmission"`, `"duplicate-ack"`}},
			// "6 duplicates, 0 retransmissions, 0 duplicate ACKs"
			{"analyze -v CASE/any.pcap", []string{`copies 6 packets`, `routed_copies 6 packets`, `copy_distance 30.0 us`}, []string{`tcp/retransmission`}},
		},
		"11-pcap-appended": {
			// "4 packets at 0, 1, 60 and 61 s"; "a second file header was found, at byte 240"; not "a packet with time 2712847316"
			{"inspect CASE/appended-same.pcap", []string{`4 records, 61.0 s`, `appended-capture .*byte 240`}, []string{`2055`}},
			{"inspect CASE/appended-nano.pcap", []string{`3 records`, `byte 240`}, []string{`2055`}},
			{"packets -o ndjson CASE/appended-nano.pcap", []string{`"time_ns":120000000001`}, nil},
		},
		"12-vlan-one-direction": {
			// "One connection, 192.0.2.10:42000 to 198.51.100.20:3306: 13 frames from the client (480 payload bytes), 7 frames from the server (1200 payload bytes)"
			{"flows CASE/half-tagged.pcap", []string{`192.0.2.10:42000 +198.51.100.20:3306 .* 480 +1,200 +13 7 +0 0`}, []string{`(?m)^ +2 `}},
			// "6 request/answer exchanges, each answered after 1.000 ms"; "client to server VLAN 2"
			{"flows --detail 1 CASE/half-tagged.pcap", []string{`exchanges +6, time 1.00 ms \(1.00 ms to 1.00 ms\)`, `13 packets with a tag, VLAN 2`, `to server 1.00 ms`}, nil},
		},
		"13-keepalive-not-loss": {
			// "Keep-alive probes: 3 from the client (1 byte each), 2 from the server"; "Payload bytes: client 20 ..., server 22"; not "23 client bytes"
			{"flows --detail 1 CASE/keepalive.pcap", []string{`3 keep-alives`, `2 keep-alives`, `bytes +20, 20`, `bytes +22, 22`, `sent again +0 packets`}, []string{`bytes +23`}},
			{"analyze -v CASE/keepalive.pcap", nil, []string{`tcp/retransmission`, `tcp/timeout`, `stall`}},
		},
		"14-seq-wrap": {
			// "Reordered segments: 1 (frame 10 ...)"; "Retransmissions: 1 (frame 19 ...)"; "Duplicate ACKs: 2 (frames 17 and 18 ...)"
			{"packets CASE/wrap.pcap", []string{`#10 .*\[reordered\]`, `#17 .*duplicate-ack`, `#18 .*duplicate-ack`, `#19 .*\[retransmission\]`}, []string{`#(9|1[1-6]|20) .*(reordered|retransmission)`}},
			// "Server stream 17376 bytes"; "Bytes in flight never above 17376, never negative"; not "4 GB long"
			{"flows CASE/wrap.pcap", []string{`17,376`}, nil},
			{"flows --series 1 -o csv CASE/wrap.pcap", []string{`server,11584,1448`}, []string{`server,\d{6,}`}},
		},
		"15-span-duplicates": {
			// "Duplicate frames found: 11, with the typical distance 15 us"; "Retransmissions: 1 ... and it is spurious"
			{"analyze -v CASE/same-vlan.pcap", []string{`copies 11 packets`, `copy_distance 15.0 us`, `spurious_packets 1 packets`, `lost_packets 0 packets`}, []string{`routed_copies [1-9]`}},
			// "for routed.pcap also that the copies differ in TTL by 1 ..., so there is a router between them"
			{"analyze -v CASE/routed.pcap", []string{`routed_copies 11 packets`, `both sides of a router`, `spurious_packets 1 packets`}, nil},
		},
		"16-midstream-no-wscale": {
			// "The window scale is reported as unknown"; "Missing handshake is noted"
			{"flows --detail 1 CASE/midstream.pcap", []string{`window scale not known`, `midstream`, `RTT -`}, nil},
			// "Zero window: 1 event, from frame 168 ... 289.9 ms"; "Window-full findings: 0"
			{"analyze -v CASE/midstream.pcap", []string{`closed its window once, for 290 ms`, `record 168`}, []string{`tcp/window-full`, `tcp/retransmission`}},
		},
		"17-nagle-keepalive-40ms": {
			// "Nagle and delayed ACK stall, 2 occurrences ..., side: server"; "40.9 ms and 41.2 ms"; "frames 9, 10, 11 and 13, 14, 15"; "set TCP_NODELAY on the server's sockets"
			{"analyze -v CASE/httpd.pcap", []string{`algorithm at the server held 2 small segments`, `record 11 .*#10 acknowledged #9 after 40.9 ms`, `record 15 .*#14 acknowledged #13 after 41.2 ms`, `set TCP_NODELAY on the server`}, []string{`think time`, `record 7 `}},
		},
		"27-tfo-syn-data": {
			// "Payload: client 100, server 400 in each"; "57002: ... reported as Fast Open fallback, not as network loss"; "Fast Open is named for all three"
			{"flows --detail 1 CASE/tfo.pcap", []string{`Fast Open +accepted, data in the SYN`, `100, 100 of them new`, `400, 400 of them new`}, nil},
			{"flows --detail 2 CASE/tfo.pcap", []string{`Fast Open +refused, data in the SYN`, `200, 100 of them new`, `sent again +0 packets`}, nil},
			{"flows --detail 3 CASE/tfo.pcap", []string{`Fast Open +accepted, data in the SYN`}, nil},
			{"packets CASE/tfo.pcap", []string{`#11 .*fast-open-fallback`}, []string{`retransmission`, `gap`}},
			{"analyze -v CASE/tfo.pcap", nil, []string{`tcp/retransmission`}},
		},
	} {
		t.Run(dir, func(t *testing.T) {
			folder := shared.Path(t, "cases", dir)
			for _, c := range checks {
				code, out, errs := command(t, nil, strings.Fields(strings.ReplaceAll(c.args, "CASE", folder))...)
				if code != 0 {
					t.Errorf("%s: exit %d, %s", c.args, code, errs)
				}
				out += errs
				for _, want := range c.must {
					if !regexp.MustCompile(want).MatchString(out) {
						t.Errorf("%s lacks %q:\n%s", c.args, want, out)
					}
				}
				for _, bad := range c.mustNot {
					if found := regexp.MustCompile(bad).FindString(out); found != "" {
						t.Errorf("%s says %q", c.args, found)
					}
				}
			}
		})
	}
}
