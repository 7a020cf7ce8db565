package coalesce

import (
	"bytes"
	"strings"

	"nettrace/source"
)

// lspci -vv: links and request sizes of PCI Express devices.
//
//	05:00.0 Ethernet controller: Mellanox Technologies MT26448 (rev b0)
//			DevCap:	MaxPayload 256 bytes, PhantFunc 0
//			DevCtl:	CorrErr- NonFatalErr- FatalErr- UnsupReq-
//				MaxPayload 128 bytes, MaxReadReq 512 bytes
//			LnkCap:	Port #8, Speed 5GT/s, Width x8, ASPM L0s
//			LnkSta:	Speed 2.5GT/s (downgraded), Width x4 (downgraded)
//
// Written by lspci of pciutils (ls-caps.c). Before 3.0 it wrote "Device: MaxPayload", "Link: Speed 2.5Gb/s, Width x8", and
// "Supported" before what the device can; mails wrap its lines. "(ok)" and "(downgraded)" came with 3.6. Devices without
// PCI Express and all other capabilities are left out.

// SniffLspci recognises lspci by the line of a device and an indented one below.
func SniffLspci(head []byte) source.Match {
	line, rest := firstLine(head)
	if _, _, ok := pciTitle(line); !ok {
		return source.No
	}
	next, _ := firstLine(rest)
	if len(next) > 1 && (next[0] == ' ' || next[0] == '\t') {
		return source.Strong
	}
	return source.No
}

// pciTitle reads "0000:05:00.0 Ethernet controller: NAME".
func pciTitle(line []byte) (address, name []byte, ok bool) {
	address, name, ok = bytes.Cut(line, []byte{' '})
	if !ok || len(address) != 7 && len(address) != 12 || bytes.Index(name, []byte(": ")) <= 0 {
		return nil, nil, false
	}
	short := address[len(address)-7:]
	for i, c := range short {
		if i == 2 && c != ':' || i == 5 && c != '.' {
			return nil, nil, false
		}
		if i != 2 && i != 5 && hexDigit(c) < 0 {
			return nil, nil, false
		}
	}
	return address, name, len(address) == 7 || address[4] == ':'
}

// ReadLspci reads lspci -vv.
func ReadLspci(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	out := &Output{Tool: "lspci", Pos: l.Pos(), Machine: machine()}
	if SniffLspci(l.Head(4096)) != source.Strong {
		return nil, &source.SyntaxError{Pos: out.Pos, Msg: "no lspci -vv begins here; \"BUS:DEVICE.FUNCTION CLASS: NAME\" was expected"}
	}
	var d *PCIDevice
	section, wrapped := "", 0
	finish := func() {
		if d != nil && (d.Width > 0 || d.ReadRequest > 0) && len(out.Machine.Devices) < maxMachine {
			out.Machine.Devices = append(out.Machine.Devices, *d)
		}
	}
	for l.Next() {
		line := l.Bytes()
		if address, name, ok := pciTitle(line); ok {
			finish()
			d = &PCIDevice{Address: fullAddress(string(address)), Name: string(name[:min(len(name), 160)]), Node: -1, Pos: l.Pos()}
			section, wrapped = "", 0
			continue
		}
		indented := len(line) > 0 && (line[0] == ' ' || line[0] == '\t')
		switch {
		case len(bytes.TrimSpace(line)) == 0:
			if !moreDevices(l) {
				finish()
				return out, nil
			}
		case indented:
			wrapped = 0
			if section = pciSection(line, section); l.Complete() {
				d.read(section, line, l.Pos())
			}
		case wrapped == 0 && wrapsOn(line): // a line that a mail wrapped
			wrapped++
		default:
			l.Back()
			finish()
			return out, nil
		}
	}
	if atEnd(l) && !l.Complete() {
		cut(ledger, l.Pos(), "the input ends inside lspci; the line is left out")
	}
	finish()
	return out, nil
}

// moreDevices reports whether another device follows the empty line.
func moreDevices(l *source.Lines) bool {
	next, _ := firstLine(l.Head(4096))
	_, _, ok := pciTitle(next)
	return ok
}

// wrapsOn reports whether a line at the margin can be the end of one of lspci's: flags, or the rest of a phrase.
func wrapsOn(line []byte) bool {
	last := line[len(line)-1]
	return last == '-' || last == '+' || last == ']' || last == ')' || len(bytes.Fields(line)) <= 2
}

// pciSection returns which capability's register a line is of.
func pciSection(line []byte, section string) string {
	text := bytes.TrimLeft(line, " \t")
	name, _, ok := bytes.Cut(text, []byte{':'})
	if !ok || len(name) > 16 || bytes.IndexByte(name, ' ') >= 0 {
		return section
	}
	return string(name)
}

// read takes what a line tells of the link and the sizes.
func (d *PCIDevice) read(section string, line []byte, pos source.Pos) {
	supported := section == "DevCap" || section == "LnkCap" || bytes.Contains(line, []byte("Supported"))
	switch section {
	case "DevCap", "DevCtl", "Device":
		if n, ok := numberAfter(line, "MaxPayload "); ok && supported {
			d.PayloadMax = int(n)
		} else if ok {
			d.Payload, d.PosRequest = int(n), pos
		}
		if n, ok := numberAfter(line, "MaxReadReq "); ok {
			d.ReadRequest, d.PosRequest = int(n), pos
		}
	case "LnkCap", "LnkSta", "Link":
		speed, okSpeed := numberAfter(line, "Speed ")
		width, okWidth := numberAfter(line, "Width x")
		switch {
		case !okSpeed || !okWidth:
		case supported:
			d.SpeedMax, d.WidthMax, d.LinkMaxKnown = speed, int(width), true
		default:
			d.Speed, d.Width, d.PosLink = speed, int(width), pos
			d.Downgraded = bytes.Contains(line, []byte("downgraded"))
		}
	}
	if n, ok := numberAfter(line, "NUMA node: "); ok {
		d.Node = int(n)
	}
	if _, driver, ok := bytes.Cut(line, []byte("Kernel driver in use: ")); ok {
		d.Driver = strings.TrimSpace(string(driver[:min(len(driver), 32)]))
	}
}

// numberAfter reads the number behind a word: "Speed 2.5GT/s", "Width x8".
func numberAfter(line []byte, word string) (float64, bool) {
	_, rest, ok := bytes.Cut(line, []byte(word))
	end := 0
	for end < len(rest) && end < 8 && (digit(rest[end]) || rest[end] == '.') {
		end++
	}
	v, isNumber := parseFloat(rest[:end])
	return v, ok && isNumber
}
