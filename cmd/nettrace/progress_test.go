package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestProgressIsShownLateAndErased(t *testing.T) {
	var out bytes.Buffer
	clock := time.Unix(0, 0)
	e := &env{stderr: &out, progress: true, now: func() time.Time { return clock }}
	p := e.newProgress()
	p.report("a.pcap", 1)
	if out.Len() > 0 {
		t.Errorf("shown at once: %q", out.String())
	}
	clock = clock.Add(progressAfter)
	p.report("dir/a\x1b.pcap", 5_000_000)
	p.report("dir/a\x1b.pcap", 6_000_000) // too soon
	if got := out.String(); got != "\r\x1b[Kreading a\\x1b.pcap: 5.00 MB, 100 ms" {
		t.Errorf("%q", got)
	}
	p.done()
	if !strings.HasSuffix(out.String(), "\r\x1b[K") {
		t.Errorf("not erased: %q", out.String())
	}
	e.progress = false
	quiet := e.newProgress()
	quiet.done()
	if quiet != nil {
		t.Error("progress without a terminal")
	}
}
