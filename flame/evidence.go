package flame

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"nettrace/finding"
	"nettrace/unit"
)

// stackEvidence chooses stacks of the main event: the first one read, the one with the most of its period, and one by a
// hash, so that the choice does not hang on the order of reading. stacks are numbers of pprof samples.
func stackEvidence(p *Profile, rule, subject string, stacks []int) []finding.Evidence {
	if len(stacks) == 0 {
		return nil
	}
	index, event, _ := p.index(Column{})
	value := func(i int) int64 { return p.pprof.Sample[i].Value[index] }
	inOrder := func(a, b int) int {
		return cmp.Or(cmp.Compare(p.places[a].offset, p.places[b].offset), cmp.Compare(a, b))
	}
	hash := func(i int) uint64 {
		h := fnv.New64a()
		fmt.Fprintf(h, "%s\x00%s\x00%d", rule, subject, p.places[i].offset)
		return h.Sum64()
	}
	chosen := []int{
		slices.MinFunc(stacks, inOrder),
		slices.MinFunc(stacks, func(a, b int) int { return cmp.Or(-cmp.Compare(value(a), value(b)), inOrder(a, b)) }),
		slices.MinFunc(stacks, func(a, b int) int { return cmp.Or(cmp.Compare(hash(a), hash(b)), inOrder(a, b)) }),
	}
	slices.SortFunc(chosen, inOrder)
	var evidence []finding.Evidence
	for _, i := range slices.Compact(chosen) {
		evidence = append(evidence, finding.At(p.at(i), "%s in %s", Quantity(value(i), p.Scale, Column{}.unitOf(event)), p.tail(i)))
	}
	return evidence
}

// tail prints the last frames of a stack, the caller first.
func (p *Profile) tail(i int) string {
	const most = 5
	var frames []string
	for _, l := range p.pprof.Sample[i].Location {
		f := framesOf(l)
		for n := len(f) - 1; n >= 0 && len(frames) < most; n-- {
			frames = append(frames, f[n].Name)
		}
	}
	slices.Reverse(frames)
	return strings.Join(frames, ";")
}

// lossCaveat says what the recorder lost.
func (p *Profile) lossCaveat() []string {
	switch l := p.Lost; {
	case l.Share > 0:
		return []string{"perf lost " + unit.Percent(l.Share) + " of the samples while recording"}
	case l.Events > 0 || l.Chunks > 0:
		return []string{"the recorder lost samples"}
	}
	return nil
}
