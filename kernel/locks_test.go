package kernel

import "testing"

func TestLockClass(t *testing.T) {
	for name, want := range map[string]string{
		"&list->lock#3":                         "&list->lock",
		"&(&zone->lock)->rlock":                 "&zone->lock",
		"&mm->mmap_sem-W":                       "&mm->mmap_sem",
		"&rq->lock/1":                           "&rq->lock",
		"&(&dentry->d_lockref.lock)->rlock#2/1": "&dentry->d_lockref.lock",
		"vm_dom+0x80":                           "vm_dom",
		"vm_dom[64]":                            "vm_dom",
		"&nf_conntrack_locks[i]":                "&nf_conntrack_locks[i]",
		"slock-AF_INET":                         "slock-AF_INET",
		"":                                      "",
		"#2":                                    "#2",
	} {
		if got := LockClass(name); got != want {
			t.Errorf("LockClass(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestFunction(t *testing.T) {
	for symbol, want := range map[string]string{
		"iflib_if_transmit+0x1c2":                     "iflib_if_transmit",
		"netxen_process_rcv_ring+0x90/0x5f0 [netxen]": "netxen_process_rcv_ring",
		"__kmem_cache_free_bulk.part.0+0x12c":         "__kmem_cache_free_bulk",
		"unix`swtch":                                  "swtch",
		".iommu_range_alloc+0x10":                     "iommu_range_alloc",
		"0xffffffff808cf9ee":                          "0xffffffff808cf9ee",
		"":                                            "",
	} {
		if got := Function(symbol); got != want {
			t.Errorf("Function(%q) = %q, want %q", symbol, got, want)
		}
	}
}

func TestLockIndex(t *testing.T) {
	x := NewLockIndex()
	for _, c := range []struct{ lock, caller, want, role string }{
		{"0xfffff80003a4d018", "iflib_if_transmit+0x1c2", "iflib-txq", RoleTransmit},
		{"0xfffff80003a4d018", "_task_fn_tx+0x14f", "iflib-txq", RoleReclaim},
		{"0xfffff80003a4d018", "ifmp_ring_check_drainage+0x3f", "iflib-ring", RoleReclaim},
		{"0xfffff80003a4d018", "mlx5e_xmit+0x3f", "driver-tx", RoleTransmit},
		{"tcpinp+0x18", "tcp_do_segment+0x284b", "tcp-inpcb", RoleReceive},
		{"tcbinfo+0x58", "tcp_input+0x8e2", "tcp-inpcbinfo", RoleReceive}, // the name goes before the caller
		{"&list->lock#3", "__qdisc_run+0x11b/0x1ef", "qdisc-root", RoleTransmit},
		{"&list->lock#7", "somewhere+0x1", "skb-queue", ""},
		{"dev->qdisc_tx_busylock ?: &qdisc_tx_busylock", "", "qdisc-root", ""},
		{"_xmit_ETHER#2", "sch_direct_xmit+0x6f", "driver-tx", RoleTransmit},
		{"", "iommu_range_alloc+0x5c", "dma-map", RoleAllocate},
		{"&(&iovad->iova_rbtree_lock)->rlock", "alloc_iova+0x33", "dma-map", RoleAllocate},
		{"service_queue", "background+0xdc", "streams-queue", ""},
		{"Giant", "0xffffffff82a1b3c4", "", ""},
		{"", "", "", ""},
	} {
		got := ""
		if n := x.Find(c.lock, c.caller); n != nil {
			got = n.Name
		}
		if role := x.Role(c.caller); got != c.want || role != c.role {
			t.Errorf("Find(%q, %q) = %q as %q, want %q as %q", c.lock, c.caller, got, role, c.want, c.role)
		}
	}
}

// TestNetworkLocks holds the table whole: every entry can be found, and says what findings print of it.
func TestNetworkLocks(t *testing.T) {
	x := NewLockIndex()
	names := map[string]bool{}
	for _, n := range NetworkLocks() {
		if names[n.System+n.Name] {
			t.Errorf("%s: the name comes twice on %s", n.Name, n.System)
		}
		names[n.System+n.Name] = true
		if n.Title == "" || n.Protects == "" || n.Meaning == "" || len(n.Advice) == 0 || n.Reference == "" || len(n.Locks)+len(n.Callers) == 0 {
			t.Errorf("%s: incomplete: %+v", n.Name, n)
		}
		for _, c := range n.Callers {
			if x.Find("", c.Function) == nil {
				t.Errorf("%s: caller %s is not found", n.Name, c.Function)
			}
		}
	}
}
