package coalesce

import (
	"bytes"
	"strings"

	"nettrace/source"
)

// ethtool -i IFACE: the driver, its version and the device's bus address. The interface stands only in the prompt.
//
//	driver: mlx4_en (HP_0200000003)
//	version: 1.5.1.6 (August 2010)
//	bus-info: 0000:05:00.0
//
// Written by ethtool since 2.4 kernels; expansion-rom-version and the supports-* lines came later, and are ignored since
// they say nothing of performance. Archived mails have it on one line behind the prompt. Source: ethtool.c (dump_drvinfo).

// SniffDriver recognises ethtool -i.
func SniffDriver(head []byte) source.Match {
	line, rest := firstLine(head)
	_, after, prompt := command(line, "-i")
	switch after = bytes.TrimSpace(after); {
	case prompt && bytes.HasPrefix(after, []byte("driver: ")):
		return source.Strong
	case prompt && len(after) == 0:
		line, rest = firstLine(rest)
	}
	if !bytes.HasPrefix(line, []byte("driver: ")) {
		return source.No
	}
	next, _ := firstLine(rest)
	if bytes.HasPrefix(next, []byte("version:")) || bytes.Contains(line, []byte(" version: ")) && bytes.Contains(line, []byte("-info: ")) {
		return source.Strong
	}
	return source.No
}

// ReadDriver reads ethtool -i.
func ReadDriver(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	if SniffDriver(l.Head(4096)) != source.Strong || !l.Next() {
		return nil, &source.SyntaxError{Pos: l.Pos(), Msg: "no ethtool -i begins here; \"driver: NAME\" and \"version:\" were expected"}
	}
	line := l.Bytes()
	out := &Output{Tool: "ethtool-i", Pos: l.Pos()}
	iface, rest, prompt := command(line, "-i")
	if prompt {
		line = rest
	}
	d := &Driver{Pos: l.Pos()}
	fields := driverLine(d, line)
	for l.Next() {
		n := driverLine(d, l.Bytes())
		if n == 0 {
			l.Back()
			break
		}
		if fields == 0 {
			d.Pos = l.Pos()
		}
		fields += n
	}
	if atEnd(l) && !l.Complete() && d.Bus == "" {
		cut(ledger, l.Pos(), "the input ends inside ethtool -i")
	}
	out.Interfaces = []InterfaceOutput{{Name: iface, Driver: d}}
	return out, nil
}

func driverFields() []string {
	return []string{"driver:", "version:", "firmware-version:", "expansion-rom-version:", "bus-info:", "supports-statistics:", "supports-test:",
		"supports-eeprom-access:", "supports-register-dump:", "supports-priv-flags:"}
}

// driverLine takes the fields of a line, one as ethtool prints them or several where line ends were lost, and returns
// how many there were. A line that does not begin with a field is foreign.
func driverLine(d *Driver, line []byte) (fields int) {
	field, value := "", []string(nil)
	finish := func() {
		d.set(field, strings.Join(value, " "))
		value = value[:0]
	}
	for _, w := range strings.Fields(string(line)) {
		if isDriverField(w) {
			finish()
			field = w
			fields++
			continue
		}
		if field == "" {
			return 0
		}
		value = append(value, w)
	}
	finish()
	return fields
}

func isDriverField(w string) bool {
	for _, f := range driverFields() {
		if f == w {
			return true
		}
	}
	return false
}

func (d *Driver) set(field, value string) {
	switch field {
	case "driver:":
		d.Name = value
	case "version:":
		d.Version = value
	case "firmware-version:":
		d.Firmware = value
	case "bus-info:":
		d.Bus = value
	}
}
