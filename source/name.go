package source

import (
	"path"
	"strings"
	"time"
)

// Name is what the name of a snapshot tells: <tag>.<tool>.<UTC time>.<ext>, such as
// before-peer.ethtool-S.20261130T163603.304Z.txt. Other names give a Name without a time.
type Name struct {
	Group string    // what remains of the tag: "veth" of "veth-before"; several sets in one folder are told apart by it
	Phase string    // "before", "after", or the tag itself where the name has a time; "" for any other name
	Peer  bool      // taken on the other host
	Tool  string    // "ethtool-S"
	Time  time.Time // zero where the name has none
}

// ParseName reads the base name of a path. Nothing is decided by it but phase, host and time: formats are recognised
// by content.
func ParseName(p string) Name {
	base := path.Base(strings.ReplaceAll(p, `\`, "/"))
	parts := strings.Split(base, ".")
	n := Name{}
	if len(parts) > 1 {
		n.Tool = parts[1]
	}
	tag, peer := strings.CutSuffix(parts[0], "-peer")
	n.Peer = peer
	for _, phase := range []string{"before", "after"} {
		if group, ok := strings.CutSuffix(tag, phase); ok && (group == "" || strings.HasSuffix(group, "-")) {
			n.Group, n.Phase = strings.TrimSuffix(group, "-"), phase
		}
	}
	for i := 1; i < len(parts); i++ { // "20261130T163603.304Z" holds a dot itself, and the milliseconds may be absent
		stamp := parts[i]
		if i+1 < len(parts) && !strings.HasSuffix(stamp, "Z") {
			stamp += "." + parts[i+1]
		}
		if t, err := time.Parse("20060102T150405.999999999Z", stamp); err == nil {
			n.Time = t
			break
		}
	}
	if n.Phase == "" && !n.Time.IsZero() {
		n.Phase = tag
	}
	return n
}

// Within reports whether a path is that of a folder, or of something in it. Paths are those of sources: with slashes, and
// relative ones are in ".".
func Within(p, folder string) bool {
	return p == folder || folder == "." && !strings.HasPrefix(p, "/") || strings.HasPrefix(p, strings.TrimSuffix(folder, "/")+"/")
}
