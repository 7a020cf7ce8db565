package analyze

import (
	"nettrace/bench"
	"nettrace/coalesce"
	"nettrace/finding"
	"nettrace/flame"
	"nettrace/lockstat"
	"nettrace/tcp"
)

// rule is a judgement over the models of a result.
type rule struct {
	finding.Rule
	judge func(*Models, map[string]float64) []finding.Finding
}

// rules is the one table of all rules over single sources; those that tie several together are diagnose's.
func rules() []rule {
	return []rule{
		captures(tcp.TSOSplit()),
		captures(tcp.JustOverMSS()),
		captures(tcp.StretchACK()),
		captures(tcp.Retransmission()),
		captures(tcp.SpuriousRetransmission()),
		captures(tcp.Reordering()),
		captures(tcp.DelayedACKStall()),
		captures(tcp.ZeroWindow()),
		captures(tcp.Timeout()),
		captures(tcp.WindowFull()),
		captures(tcp.NoWindowScale()),
		captures(tcp.SlowHandshake()),
		captures(tcp.Reset()),
		captures(tcp.KeepAliveOnly()),
		captures(tcp.LimitedBy()),
		captures(tcp.PMTU()),
		captures(tcp.UDPLoss()),
		captures(tcp.UDPGSO()),
		captures(tcp.Duplicates()),
		captures(tcp.AboveOffload()),
		captures(tcp.Truncated()),
		captures(tcp.ChecksumOffload()),
		captures(tcp.Clock()),
		captures(tcp.CaptureLoss()),
		locks(lockstat.Contention()),
		locks(lockstat.Spinning()),
		locks(lockstat.LongHold()),
		locks(lockstat.Convoy()),
		locks(lockstat.CrossCPU()),
		locks(lockstat.Recursion()),
		profiles(flame.LockSpin()),
		profiles(flame.SoftirqShare()),
		profiles(flame.IRQShare()),
		profiles(flame.CopyShare()),
		profiles(flame.DMAMapShare()),
		profiles(flame.Idle()),
		profiles(flame.Unresolved()),
		profiles(flame.Truncated()),
		hosts(coalesce.Storm()),
		hosts(coalesce.Imbalance()),
		hosts(coalesce.FewPackets()),
		hosts(coalesce.OverCoalesced()),
		hosts(coalesce.TagRace()),
		hosts(coalesce.AdaptiveUnbalanced()),
		hosts(coalesce.AdaptiveFlapping()),
		hosts(coalesce.ModerationLatency()),
		hosts(coalesce.RingOverrun()),
		hosts(coalesce.RingSmall()),
		hosts(coalesce.NoBuffer()),
		hosts(coalesce.Missed()),
		hosts(coalesce.Pause()),
		hosts(coalesce.LinkErrors()),
		hosts(coalesce.OffloadOff()),
		hosts(coalesce.PCIeLimit()),
		hosts(coalesce.RSSImbalance()),
		hosts(coalesce.OneQueue()),
		hosts(coalesce.OneCPU()),
		hosts(coalesce.Squeeze()),
		hosts(coalesce.BacklogDrop()),
		hosts(coalesce.SocketBuffer()),
		hosts(coalesce.CState()),
		hosts(coalesce.NUMA()),
		runs(bench.Cliff()),
		runs(bench.Noisy()),
		runs(bench.Difference()),
		runs(bench.NotComparable()),
		runs(bench.CPUCost()),
		runs(bench.Scaling()),
	}
}

// Rules returns the descriptions of all rules over single sources.
func Rules() []finding.Rule {
	var list []finding.Rule
	for _, r := range rules() {
		list = append(list, r.Rule)
	}
	return list
}

func captures(on finding.On[*tcp.Capture]) rule {
	return each(on, func(m *Models) []*tcp.Capture { return m.Captures })
}

func locks(on finding.On[*lockstat.Table]) rule {
	return each(on, func(m *Models) []*lockstat.Table { return m.Locks })
}

func profiles(on finding.On[*flame.Profile]) rule {
	return each(on, func(m *Models) []*flame.Profile { return m.Profiles })
}

func hosts(on finding.On[*coalesce.Host]) rule {
	return each(on, func(m *Models) []*coalesce.Host { return m.Hosts })
}

// runs judges all benchmark runs of the sources together: a cliff shows only between them.
func runs(on finding.On[*bench.Results]) rule {
	return each(on, func(m *Models) []*bench.Results { return []*bench.Results{{Runs: m.Runs}} })
}

func each[M any](on finding.On[M], of func(*Models) []M) rule {
	return rule{on.Rule, func(m *Models, set map[string]float64) []finding.Finding {
		var found []finding.Finding
		for _, model := range of(m) {
			found = append(found, on.Run(model, set)...)
		}
		return found
	}}
}
