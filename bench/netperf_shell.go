package bench

import (
	"bytes"
	"strings"
)

// Logs of a shell show what was set between the runs:
//
//	# echo 1 > /sys/module/ib_sdp/sdp_zcopy_thresh
//	$ sudo sysctl -w net.ipv4.tcp_rmem=4096
//	# ethtool -C eth2 adaptive-rx off rx-usecs 16
//
// Such a line is a setting of the runs behind it, until it is set anew.

// shellSetting reads a line that sets something, behind a prompt or not.
func shellSetting(line []byte) (Setting, bool) {
	if len(line) > 400 || bytes.IndexByte(line, ' ') < 0 {
		return Setting{}, false
	}
	text := strings.TrimSpace(printable(line))
	if i := strings.IndexAny(text, "#$%"); i >= 0 && i < 60 && !strings.Contains(text[:i], ">") && i+1 < len(text) && text[i+1] == ' ' {
		text = strings.TrimSpace(text[i+1:])
	}
	words := strings.Fields(text)
	if len(words) > 0 && words[0] == "sudo" {
		words = words[1:]
	}
	if len(words) < 2 {
		return Setting{}, false
	}
	switch words[0] {
	case "echo":
		return echoed(words)
	case "sysctl":
		if words[1] == "-w" {
			words = words[1:]
		}
		if name, value, ok := strings.Cut(strings.Join(words[1:], " "), "="); ok && name != "" {
			return Setting{strings.TrimSpace(name), strings.TrimSpace(value)}, true
		}
	case "ethtool":
		if len(words) > 3 && len(words[1]) == 2 && strings.Contains("-C -K -G -L -A", words[1]) {
			return Setting{strings.Join(words[:3], " "), strings.Join(words[3:], " ")}, true
		}
	}
	return Setting{}, false
}

// echoed reads "echo 1 > /sys/module/ib_sdp/sdp_zcopy_thresh".
func echoed(words []string) (Setting, bool) {
	value, file, ok := strings.Cut(strings.Join(words[1:], " "), ">")
	file = strings.TrimSpace(file)
	if !ok || !strings.HasPrefix(file, "/sys/") && !strings.HasPrefix(file, "/proc/") || strings.ContainsAny(file, " ;&|") {
		return Setting{}, false
	}
	return Setting{file, strings.TrimSpace(value)}, true
}

// settingBefore reports whether a setting stands in line and a run of netperf begins in the lines behind it.
func settingBefore(line, rest []byte) bool {
	if _, ok := shellSetting(line); !ok {
		return false
	}
	for range maxCommandLines {
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		if bannerIn(line) || commandIn(line, rest) {
			return true
		}
	}
	return false
}

// sizesLine takes the line with which packet_byte_script (doc/examples) lists the sizes that it is going to run.
func (r *netperf) sizesLine(line []byte) bool {
	if !bytes.HasPrefix(line, []byte("and these settings for ")) {
		return false
	}
	if r.inside == inCommand {
		r.finishCommand()
	}
	return true
}

// shellLine takes a line of the log that sets something.
func (r *netperf) shellLine(line []byte) bool {
	if r.inside != inText {
		return false
	}
	s, ok := shellSetting(line)
	if ok && len(r.shell) < maxShellSettings {
		r.shell = withSetting(r.shell, s)
	}
	return ok
}

// maxShellSettings bounds what is kept of a log.
const maxShellSettings = 64
