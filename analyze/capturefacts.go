package analyze

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"nettrace/pcap"
	"nettrace/unit"
)

// captureFacts tells what capinfos would, but for hashes of the file.
func captureFacts(i *pcap.Info) []Fact {
	facts := []Fact{}
	add := func(name string, values ...string) {
		for _, v := range values {
			if v != "" {
				facts = append(facts, Fact{name, v})
			}
		}
	}
	for n := range i.Interfaces {
		add(fmt.Sprintf("interface %d", n), interfaceFact(&i.Interfaces[n], i.System))
	}
	add("bytes", unit.Bytes(i.Bytes)+" on the link"+meanPacket(i))
	if i.HasTime && i.Last > i.First {
		add("rate", unit.Number(float64(i.Packets)/(i.Last-i.First).Seconds())+" packets/s, "+unit.Number(float64(i.Bytes)*8/(i.Last-i.First).Seconds()/1e6)+" Mbit/s")
		add("last", time.Unix(0, int64(i.Last)).UTC().Format("2006-01-02 15:04:05.000000Z"))
	}
	if i.Cut > 0 {
		add("cut packets", unit.Count(i.Cut)+" by the snap length, to "+span(i.CutTo)+" bytes; their headers are read")
	}
	if i.Backwards > 0 {
		add("clock", unit.Count(i.Backwards)+" packets are earlier than the one before")
	}
	if i.Comments > 0 {
		add("comments", unit.Count(i.Comments))
	}
	add("remark", i.Remarks...)
	if i.Names > 0 {
		add("names", unit.Count(i.Names)+" blocks of resolved names")
	}
	if i.Secrets > 0 {
		add("secrets", unit.Count(i.Secrets)+" blocks of keys for decryption")
	}
	add("writer", i.Writer...)
	add("system", i.System...)
	add("hardware", i.Hardware...)
	return facts
}

func interfaceFact(f *pcap.Interface, systems []string) string {
	parts := []string{f.LinkType.String()}
	add := func(holds bool, format string, args ...any) {
		if holds {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(f.Name != "", "%s", f.Name)
	add(f.Description != "", "%s", f.Description)
	add(f.SnapLen > 0, "snaplen %d", f.SnapLen)
	add(f.Filter != "", "filter %s", f.Filter)
	add(true, "%s", f.Precision())
	add(f.Offset != 0, "times off by %d s", f.Offset)
	add(f.FCSBytes > 0, "%d bytes of frame check sequence", f.FCSBytes)
	add(f.Speed > 0, "%s Mbit/s", unit.Number(float64(f.Speed)/1e6))
	add(f.System != "" && !slices.Contains(systems, f.System), "of %s", f.System)
	add(f.Hardware != "", "%s", f.Hardware)
	add(true, "%s packets", unit.Count(f.Packets))
	add(f.Received >= 0, "%s received", unit.Count(f.Received))
	add(f.Dropped > 0 || f.OSDrops > 0, "%s dropped by the capture", unit.Count(max(f.Dropped, 0)+max(f.OSDrops, 0)))
	for _, remark := range f.Remarks {
		add(true, "remark: %s", remark)
	}
	return strings.Join(parts, ", ")
}

// meanPacket tells the mean length of packets.
func meanPacket(i *pcap.Info) string {
	if i.Packets == 0 {
		return ""
	}
	return fmt.Sprintf(", %s a packet", unit.Bytes(i.Bytes/i.Packets))
}

func span(of [2]int) string {
	if of[0] == of[1] {
		return fmt.Sprint(of[0])
	}
	return fmt.Sprintf("%d to %d", of[0], of[1])
}
