package coalesce

import (
	"bytes"

	"nettrace/source"
)

// Error texts of ethtool, alone in a file as "2>" leaves them, and the empty list that --json prints beside them. They
// mean that the device does not support the question: no values, and no damage.
//
//	netlink error: Operation not supported
//
// Written by ethtool since 5.7 (netlink) and before ("Cannot get device coalesce settings: Operation not supported").

// SniffRefusal recognises an error text of ethtool; the empty list only weakly.
func SniffRefusal(head []byte) source.Match {
	line, rest := firstLine(head)
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return source.No
	}
	if string(line) == "[ ]" && len(bytes.TrimSpace(rest)) == 0 {
		return source.Weak
	}
	if refusal(line) == "" || bytes.HasPrefix(line, []byte("Operation ")) || bytes.HasPrefix(line, []byte("No such")) { // any tool may say that
		return source.No
	}
	for _, end := range []string{"not supported", "no stats available", "No such device", "bad command line argument(s)", "not available for this subcommand", "Invalid argument"} {
		if bytes.HasSuffix(line, []byte(end)) {
			return source.Strong
		}
	}
	return source.No
}

// ReadRefusal reads an error text of ethtool.
func ReadRefusal(l *source.Lines, _ *source.Ledger) (*Output, error) {
	out := &Output{Tool: "ethtool", Pos: l.Pos()}
	for l.Next() {
		line := bytes.TrimSpace(l.Bytes())
		switch text := refusal(line); {
		case string(line) == "[ ]":
			out.Refusal = "an empty list"
		case text != "" && out.Refusal == "":
			out.Refusal = text
		case text != "":
			out.Refusal += "; " + text
		case string(line) == "For more information run ethtool -h":
		default:
			l.Back()
			return out, refused(out)
		}
		if len(out.Refusal) > 1<<10 {
			break
		}
	}
	return out, refused(out)
}

func refused(o *Output) error {
	if o.Refusal == "" {
		return &source.SyntaxError{Pos: o.Pos, Msg: "no error text of ethtool begins here"}
	}
	return nil
}
