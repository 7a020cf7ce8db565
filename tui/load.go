package tui

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"nettrace/analyze"
	"nettrace/diagnose"
	"nettrace/finding"
	"nettrace/pcap"
	"nettrace/source"
)

// What the reading tells.
type (
	progressMsg struct {
		Path        string
		Bytes, Size int64 // Size is 0 where it is not known
	}
	previewMsg struct {
		file *analyze.PacketFile
		rows rowsMsg // the first ones
	}
	resultMsg struct {
		result *analyze.Result
		errs   []error
	}
)

// previewHead is how long the analysis waits for the first packets.
const previewHead = 100 * time.Millisecond

// progressEvery is how often the corner changes while files are read.
const progressEvery = 100 * time.Millisecond

// analyse returns the command that reads and judges everything.
func (m *Model) analyse() tea.Cmd {
	o, paths := m.options.Analyze, m.options.Paths
	ctx, feed := m.read, m.library
	p := &pace{every: progressEvery}
	o.Progress = func(path string, bytes int64) {
		if size := p.size(path); p.due() {
			feed.tell(progressMsg{path, bytes, size})
		}
	}
	first := m.first
	return func() tea.Msg {
		select { // the first packets are seen sooner if nothing else is read meanwhile
		case <-first:
		case <-time.After(previewHead):
		}
		r, errs := analyze.Run(ctx, paths, o)
		diagnose.Apply(r, o.Params)
		return resultMsg{r, errs}
	}
}

// predictedMsg brings the findings once more, with what to expect of their advice.
type predictedMsg struct{ findings []finding.Finding }

// predict returns the command that tries in the reference datapath what is advised. The findings are shown meanwhile, so
// it works on a copy of them.
func (m *Model) predict() tea.Cmd {
	if m.stopped || !m.options.Predict {
		return nil
	}
	ctx, r := m.library.ctx, copied(m.result)
	return func() tea.Msg {
		diagnose.Predict(ctx, r)
		return predictedMsg{r.Findings}
	}
}

// copied returns a result for a goroutine, with findings of its own: those that are shown get their predictions later.
func copied(r *analyze.Result) *analyze.Result {
	c := *r
	c.Findings = slices.Clone(c.Findings)
	for i := range c.Findings {
		c.Findings[i].Advice = slices.Clone(c.Findings[i].Advice)
	}
	return &c
}

// predicted enters what to expect into the findings that are shown.
func (m *Model) predicted(msg predictedMsg) {
	for i := range msg.findings {
		m.result.Findings[i].Advice = msg.findings[i].Advice
	}
	for _, p := range m.screens[findingsScreen].pages {
		if p, shows := p.(interface{ Refresh() }); shows {
			p.Refresh()
		}
	}
}

// pace lets through one message in a while, and each first one of a file.
type pace struct {
	every time.Duration
	path  string
	bytes int64
	last  time.Time
}

func (p *pace) size(path string) int64 {
	if path != p.path {
		p.path, p.bytes, p.last = path, 0, time.Time{}
		if info, err := os.Stat(filepath.FromSlash(path)); err == nil && info.Mode().IsRegular() {
			p.bytes = info.Size()
		}
	}
	return p.bytes
}

func (p *pace) due() bool {
	if now := time.Now(); now.Sub(p.last) >= p.every {
		p.last = now
		return true
	}
	return false
}

// preview returns the command that opens the first capture among the paths, so that its packets are seen before anything
// is judged.
func (m *Model) preview() tea.Cmd {
	paths, ctx, first := m.options.Paths, m.library.ctx, m.first
	if k, ok := m.options.Analyze.Stdin.(*keeper); ok && len(paths) == 1 && paths[0] == "-" {
		close(first) // nothing comes before it is read
		return func() tea.Msg { return k.preview(ctx, m.library.tell) }
	}
	return func() tea.Msg {
		defer close(first)
		for src, err := range source.Walk(paths, bytes.NewReader(nil), &source.Ledger{}) {
			if err != nil || pcap.Sniff(src.Input.Peek(64)) != source.Strong {
				continue
			}
			if f, err := analyze.OpenPacketFile(src.Path); err == nil {
				return previewOf(f)
			}
		}
		return nil
	}
}

// previewOf reads the first rows of a file.
func previewOf(f *analyze.PacketFile) tea.Msg { return previewMsg{f, readRows(f, 1)} }

// keeper keeps the beginning of what is read through it, for a capture that comes from a pipe.
type keeper struct {
	r     io.Reader
	mu    sync.Mutex
	kept  []byte
	ended bool
	more  chan struct{}
}

// keptBytes is how much of a pipe is kept: a few thousand packets.
const keptBytes = 8 << 20

func newKeeper(r io.Reader) *keeper { return &keeper{r: r, more: make(chan struct{}, 1)} }

// Read implements io.Reader.
func (k *keeper) Read(p []byte) (int, error) {
	n, err := k.r.Read(p)
	k.mu.Lock()
	if room := keptBytes - len(k.kept); room > 0 && n > 0 {
		k.kept = append(k.kept, p[:min(n, room)]...)
	}
	k.ended = k.ended || err != nil || len(k.kept) >= keptBytes
	k.mu.Unlock()
	select {
	case k.more <- struct{}{}:
	default:
	}
	return n, err
}

// preview tells of the packets that are kept: of the first few at once, and at last of all.
func (k *keeper) preview(ctx context.Context, tell func(tea.Msg)) tea.Msg {
	for next := 4 << 10; ; {
		k.mu.Lock()
		head, ended := k.kept[:len(k.kept):len(k.kept)], k.ended
		k.mu.Unlock()
		if ended {
			return k.packets(head, len(head) >= keptBytes)
		}
		if len(head) >= next {
			tell(k.packets(head, true))
			next *= 8
		}
		select {
		case <-k.more:
		case <-ctx.Done():
			return nil
		}
	}
}

func (k *keeper) packets(head []byte, cut bool) tea.Msg {
	why := ""
	if cut {
		why = "only the first packets are kept: they came from a pipe; save the capture to a file to see all"
	}
	for src, err := range source.Walk([]string{"-"}, bytes.NewReader(head), &source.Ledger{}) {
		if err != nil || pcap.Sniff(src.Input.Peek(64)) != source.Strong {
			continue
		}
		f, err := analyze.KeepPackets(src.Path, src.Input, why)
		if err == nil && f.Extent().Records > 0 {
			return previewOf(f)
		}
	}
	return nil
}
