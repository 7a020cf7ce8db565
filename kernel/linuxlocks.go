package kernel

// linuxLocks is known from the sources of Linux 2.6.29 to 6.18. Lock names are lockdep's, which are those of the
// expressions that initialise the locks.
func linuxLocks() []NetworkLock {
	return append(append(linuxDeviceLocks(), linuxSocketLocks()...), linuxMemoryLocks()...)
}

func linuxDeviceLocks() []NetworkLock {
	return []NetworkLock{
		{
			Name: "qdisc-root", Title: "root lock of a queueing discipline", System: "Linux",
			Locks: []string{"&sch->q.lock", "&qdisc->q.lock", "&qdisc_tx_lock", "*qdisc_tx_busylock", "noop_qdisc.q.lock", "&sch->root_lock_key", "&sch->seqlock"},
			Callers: []LockCaller{
				{"dev_queue_xmit", RoleTransmit}, {"__dev_queue_xmit", RoleTransmit}, {"__dev_xmit_skb", RoleTransmit}, {"sch_direct_xmit", RoleTransmit}, {"__qdisc_run", RoleTransmit},
				{"qdisc_run", RoleTransmit}, {"net_tx_action", RoleInterrupt}, {"dev_qdisc_enqueue", RoleTransmit},
			},
			Protects: "the packets that wait for one transmit queue; taken to enqueue and to dequeue each packet",
			Meaning:  "several CPUs send through one queue: the device has one transmit queue, or the flows fall onto one (XPS, a classful discipline at the root)",
			Advice: []string{
				"tc -s qdisc show dev IF: with one transmit queue, or htb or fq_codel at the root, all CPUs share one lock; use mq with a leaf for each queue",
				"set XPS so that CPUs use queues of their own (/sys/class/net/IF/queues/tx-*/xps_cpus); ethtool -l IF for more channels",
				"larger sends and GSO take the lock less often; pfifo_fast is lock-free since Linux 4.16",
			},
			Reference: "Linux net/core/dev.c, net/sched/sch_generic.c",
		},
		{
			Name: "driver-tx", Title: "transmit lock of a device's queue", System: "Linux",
			Locks:     []string{"_xmit_*", "&txq->_xmit_lock", "&qdisc_xmit_lock_key", "&dev->tx_global_lock", "&priv->tx_lock", "&tp->tx_lock", "&ring->tx_lock", "&vlan_netdev_xmit_lock_key"},
			Callers:   []LockCaller{{"dev_hard_start_xmit", RoleTransmit}, {"__netif_tx_lock", RoleTransmit}, {"dev_direct_xmit", RoleTransmit}, {"__dev_direct_xmit", RoleTransmit}, {"dev_watchdog", RoleTimer}, {"start_xmit", RoleTransmit}, {"virtnet_poll_cleantx", RoleReclaim}},
			Protects:  "the descriptors of one transmit queue while the driver fills them",
			Meaning:   "CPUs share a transmit queue, or the reclaim of finished packets takes the senders' lock",
			Advice:    []string{"ethtool -l IF for more channels, XPS to give each CPU its own; for virtio-net see whether the clean-up at transmit contends with NAPI"},
			Reference: "Linux include/linux/netdevice.h",
		},
		{
			Name: "backlog", Title: "per-CPU backlog of received packets", System: "Linux",
			Locks:     []string{"&sd->input_pkt_queue.lock"},
			Callers:   []LockCaller{{"enqueue_to_backlog", RoleReceive}, {"netif_rx", RoleReceive}, {"netif_rx_internal", RoleReceive}, {"process_backlog", RoleReceive}, {"netif_receive_skb_internal", RoleReceive}, {"flush_backlog", RoleControl}},
			Protects:  "packets that one CPU queues for another: RPS, loopback, tunnels and virtual devices",
			Meaning:   "several CPUs hand packets to the same CPU",
			Advice:    []string{"widen rps_cpus, or let the NIC spread flows (RSS, ethtool -X) instead of RPS; check dropped in /proc/net/softnet_stat"},
			Reference: "Linux net/core/dev.c",
		},
		{
			Name: "receive-queue", Title: "receive queue of a driver", System: "Linux",
			Locks:     []string{"&rxq->lock", "&rx_ring->lock", "&rx->lock"},
			Callers:   []LockCaller{{"netxen_process_rcv_ring", RoleReceive}, {"netxen_post_rx_buffers_nodb", RoleReceive}, {"iwl_pcie_rxq_restock", RoleReceive}},
			Protects:  "the receive descriptors while buffers are posted",
			Meaning:   "buffers of one queue are posted from several contexts",
			Advice:    []string{"check that one CPU polls each queue (/proc/interrupts); a larger ring posts buffers in larger batches (ethtool -g IF)"},
			Reference: "Linux drivers/net/ethernet/qlogic/netxen/netxen_nic_init.c",
		},
		{
			Name: "dma-map", Title: "IOMMU or DMA mapping table of a device", System: "Linux",
			Locks: []string{
				"&iovad->iova_rbtree_lock", "&tbl->it_lock", "&tbl->large_pool.lock", "&domain->lock", "&dom->aperture_lock", "async_umap_flush_lock", "&qi->q_lock", "&iommu->register_lock",
				"io_tlb_lock", "&mem->lock", "&area->lock", "&cpu_rcache->lock", "&rcache->lock", "&smmu_domain->*lock", "&smmu->cmdq.q*lock",
			},
			Callers: []LockCaller{
				{"iommu_range_alloc", RoleAllocate}, {"iommu_alloc", RoleAllocate}, {"iommu_map_page", RoleAllocate}, {"iommu_free", RoleFree}, {"__iommu_free", RoleFree}, {"iommu_unmap_page", RoleFree},
				{"alloc_iova", RoleAllocate}, {"alloc_iova_fast", RoleAllocate}, {"__alloc_and_insert_iova_range", RoleAllocate}, {"free_iova", RoleFree}, {"free_iova_fast", RoleFree}, {"__iova_rcache_insert", RoleFree},
				{"__iova_rcache_get", RoleAllocate}, {"iova_rcache_range", RoleAllocate}, {"remove_iova", RoleFree}, {"find_iova", RoleFree}, {"qi_submit_sync", RoleFree}, {"intel_map_page", RoleAllocate}, {"intel_unmap", RoleFree},
				{"iommu_dma_map_page", RoleAllocate}, {"iommu_dma_unmap_page", RoleFree}, {"iommu_completion_wait", RoleFree}, {"swiotlb_tbl_map_single", RoleAllocate}, {"swiotlb_find_slots", RoleAllocate},
				{"swiotlb_tbl_unmap_single", RoleFree}, {"swiotlb_release_slots", RoleFree}, {"dma_iommu_map_page", RoleAllocate}, {"tce_build_pSeriesLP", RoleAllocate},
			},
			Protects: "the addresses under which a device sees memory: an allocator, a translation table, or the queue of invalidations",
			Meaning:  "buffers are mapped and unmapped one by one, each under a lock that all queues of the device share",
			Advice: []string{
				"map larger blocks and reuse them: a driver with page_pool or with pages mapped once instead of for each fragment (mlx4_en: two maps and two unmaps for each packet before, one map for a page after)",
				"iommu=pt (or iommu.passthrough=1) where isolation from the device is not needed; iommu.strict=0 batches invalidations",
				"kernels with several pools for each table (powerpc since 3.6) or per-CPU caches of addresses (iova since 4.6) contend less",
			},
			Reference: "Linux arch/powerpc/kernel/iommu.c, drivers/iommu/iova.c, kernel/dma/swiotlb.c; netdev 2011, mlx4_en: map entire pages to increase throughput",
		},
		{
			Name: "page-pool-ring", Title: "pointer ring: page_pool, tun, XDP", System: "Linux",
			Locks:     []string{"&r->producer_lock", "&r->consumer_lock", "&ring->producer_lock", "&ring->consumer_lock", "&pool->ring.producer_lock", "&pool->ring.consumer_lock"},
			Callers:   []LockCaller{{"page_pool_recycle_in_ring", RoleFree}, {"page_pool_refill_alloc_cache", RoleAllocate}, {"page_pool_put_unrefed_netmem", RoleFree}, {"page_pool_put_unrefed_page", RoleFree}, {"tun_net_xmit", RoleTransmit}, {"tun_ring_recv", RoleApplication}},
			Protects:  "pages that come back from other CPUs, or packets between a device and its user",
			Meaning:   "pages are freed on another CPU than the one that receives, so that each takes the ring's lock",
			Advice:    []string{"keep the reader on the CPU that receives its packets (RFS, or affinity), so that pages return without the ring; ethtool -S shows the pool's recycle counters"},
			Reference: "Linux net/core/page_pool.c, include/linux/ptr_ring.h",
		},
		{
			Name: "rtnl", Title: "lock of the network configuration (rtnl_mutex)", System: "Linux",
			Locks:     []string{"rtnl_mutex"},
			Callers:   []LockCaller{{"rtnl_lock", RoleControl}, {"rtnetlink_rcv_msg", RoleControl}, {"rtnl_dumpit", RoleControl}, {"dev_ioctl", RoleControl}, {"linkwatch_event", RoleControl}, {"addrconf_verify_work", RoleControl}, {"cleanup_net", RoleControl}},
			Protects:  "the configuration of devices, addresses and routes; not the packets",
			Meaning:   "many changes or queries at once: containers starting, monitoring that asks all devices, slow firmware commands of a driver",
			Advice:    []string{"find the holder (perf lock contention -o, or the second block of /proc/lock_stat); ask less often, or for one device"},
			Reference: "Linux net/core/rtnetlink.c",
		},
		{
			Name: "neighbour", Title: "neighbour (ARP, ND) entry or table", System: "Linux",
			Locks:     []string{"&n->lock", "&neigh->lock", "&tbl->lock"},
			Callers:   []LockCaller{{"neigh_resolve_output", RoleTransmit}, {"__neigh_event_send", RoleTransmit}, {"neigh_update", RoleReceive}, {"neigh_timer_handler", RoleTimer}, {"neigh_periodic_work", RoleTimer}, {"___neigh_create", RoleTransmit}},
			Protects:  "the link address of a neighbour, or the list of them",
			Meaning:   "entries expire and are made anew while packets wait: the table is too small (gc_thresh) or the neighbours do not answer",
			Advice:    []string{"ip -s neigh; net.ipv4.neigh.default.gc_thresh3 against the number of neighbours"},
			Reference: "Linux net/core/neighbour.c",
		},
		{
			Name: "conntrack", Title: "connection tracking table", System: "Linux",
			Locks: []string{"nf_conntrack_lock", "&nf_conntrack_locks[i]", "&nf_conntrack_locks", "nf_conntrack_expect_lock", "nf_conntrack_locks_all_lock", "&ct->lock", "&nf_nat_locks[i]"},
			Callers: []LockCaller{
				{"__nf_conntrack_confirm", RoleReceive}, {"nf_conntrack_double_lock", RoleReceive}, {"nf_conntrack_lock", RoleReceive}, {"nf_ct_delete", RoleFree}, {"nf_ct_delete_from_lists", RoleFree}, {"nf_conntrack_tcp_packet", RoleReceive}, {"nf_conntrack_hash_check_insert", RoleReceive},
				{"gc_worker", RoleTimer}, {"death_by_timeout", RoleTimer}, {"nf_nat_setup_info", RoleReceive}, {"early_drop", RoleReceive},
			},
			Protects:  "the table of tracked connections, or one of them",
			Meaning:   "new connections at a rate that serialises on the table, or packets of one connection on several CPUs",
			Advice:    []string{"exempt what needs no tracking (notrack in the raw table); check nf_conntrack_buckets against nf_conntrack_count; before Linux 3.15 one lock guarded the whole table"},
			Reference: "Linux net/netfilter/nf_conntrack_core.c",
		},
	}
}

func linuxSocketLocks() []NetworkLock {
	return []NetworkLock{
		{
			Name: "socket", Title: "lock of a socket", System: "Linux",
			Locks: []string{"slock-AF_*", "sk_lock-AF_*", "k-slock-AF_*", "k-sk_lock-AF_*", "clock-AF_*", "rlock-AF_*", "wlock-AF_*"},
			Callers: []LockCaller{
				{"lock_sock_nested", RoleApplication}, {"__lock_sock", RoleApplication}, {"release_sock", RoleApplication}, {"tcp_sendmsg", RoleApplication}, {"tcp_recvmsg", RoleApplication}, {"tcp_sendpage", RoleApplication}, {"inet_stream_connect", RoleApplication},
				{"tcp_v4_rcv", RoleReceive}, {"tcp_v6_rcv", RoleReceive}, {"tcp_write_timer", RoleTimer}, {"tcp_delack_timer", RoleTimer}, {"tcp_keepalive_timer", RoleTimer}, {"tcp_tasklet_func", RoleInterrupt}, {"tcp_tsq_handler", RoleInterrupt},
				{"tcp_write_xmit", RoleTransmit}, {"tcp_poll", RoleApplication},
			},
			Protects:  "the state of one socket: the application, the input path and the timers take turns",
			Meaning:   "one connection is worked on by several CPUs at once: the application here, its packets there, or several threads on one socket",
			Advice:    []string{"let packets of a flow arrive where its thread runs (RFS: net.core.rps_sock_flow_entries, aRFS; or affinity of the thread and the queue's interrupt)", "one thread for each socket; larger reads and writes"},
			Reference: "Linux net/core/sock.c, net/ipv4/tcp_ipv4.c",
		},
		{
			Name: "udp-receive", Title: "receive queue of a UDP socket", System: "Linux",
			Callers:   []LockCaller{{"__udp_enqueue_schedule_skb", RoleReceive}, {"udp_queue_rcv_skb", RoleReceive}, {"udp_queue_rcv_one_skb", RoleReceive}, {"__skb_recv_udp", RoleApplication}, {"udp_recvmsg", RoleApplication}, {"__udp_recvmsg", RoleApplication}, {"sock_queue_rcv_skb", RoleReceive}, {"__skb_recv_datagram", RoleApplication}},
			Protects:  "the datagrams that wait for the application",
			Meaning:   "several receive queues of the NIC feed one socket, or several threads read it",
			Advice:    []string{"one socket for each thread with SO_REUSEPORT; UDP GRO (UDP_GRO) for fewer, larger packets"},
			Reference: "Linux net/ipv4/udp.c",
		},
		{
			Name: "skb-queue", Title: "list of packets (sk_buff_head)", System: "Linux", Generic: true,
			Locks:     []string{"&list->lock"},
			Callers:   []LockCaller{{"skb_queue_tail", ""}, {"skb_dequeue", ""}, {"skb_queue_purge", ""}, {"unix_stream_sendmsg", RoleApplication}, {"unix_stream_read_generic", RoleApplication}, {"unix_dgram_sendmsg", RoleApplication}, {"skb_unlink", ""}},
			Protects:  "one list of packets; many lists share the name: queueing disciplines, sockets, the backlog",
			Meaning:   "several CPUs put packets on one list or take them off",
			Advice:    []string{"see the callers for which list it is"},
			Reference: "Linux include/linux/skbuff.h",
		},
		{
			Name: "accept-queue", Title: "accept queue of a listening socket", System: "Linux",
			Locks:     []string{"&queue->rskq_lock", "&icsk->icsk_accept_queue.rskq_lock", "&queue->syn_wait_lock"},
			Callers:   []LockCaller{{"inet_csk_reqsk_queue_add", RoleReceive}, {"inet_csk_accept", RoleApplication}, {"reqsk_queue_remove", RoleApplication}, {"inet_csk_complete_hashdance", RoleReceive}},
			Protects:  "finished connections that wait for accept",
			Meaning:   "many threads accept from one listening socket",
			Advice:    []string{"SO_REUSEPORT with a listening socket for each thread; before Linux 4.4 a SYN took the listener's lock itself"},
			Reference: "Linux net/ipv4/inet_connection_sock.c",
		},
		{
			Name: "port-table", Title: "table of local ports or of connections", System: "Linux",
			Locks:     []string{"&tcp_hashinfo.bhash[i].lock", "&hashinfo->bhash[i].lock", "&hashinfo->ehash_locks[i]", "&tcp_hashinfo.bhash2[i].lock", "&h->lhash2[i].lock", "&table->hash[i].lock", "&table->hash2[i].lock"},
			Callers:   []LockCaller{{"__inet_hash_connect", RoleApplication}, {"inet_csk_get_port", RoleApplication}, {"__inet_check_established", RoleApplication}, {"inet_ehash_insert", RoleReceive}, {"inet_put_port", RoleFree}, {"inet_unhash", RoleFree}, {"__inet_inherit_port", RoleReceive}, {"inet_twsk_hashdance", RoleFree}, {"inet_twsk_kill", RoleTimer}, {"udp_lib_get_port", RoleApplication}},
			Protects:  "a bucket of the tables in which sockets are found by port or address",
			Meaning:   "connections open at a rate, or so many of them to one address, that the search for a free port takes long under the lock",
			Advice:    []string{"reuse connections; widen net.ipv4.ip_local_port_range; IP_BIND_ADDRESS_NO_PORT before bind; more source addresses; ss -s for the number in TIME-WAIT"},
			Reference: "Linux net/ipv4/inet_hashtables.c",
		},
		{
			Name: "socket-wakeup", Title: "wait queue of a socket, or of epoll", System: "Linux",
			Locks:     []string{"&ei->socket.wq.wait", "&ep->lock", "&ep->mtx", "&ep->wq", "&sock->wq.wait"},
			Callers:   []LockCaller{{"ep_poll_callback", RoleReceive}, {"sock_def_readable", RoleReceive}, {"sock_def_write_space", RoleReclaim}, {"ep_poll", RoleApplication}, {"ep_send_events", RoleApplication}, {"do_epoll_wait", RoleApplication}, {"do_epoll_ctl", RoleApplication}, {"sys_epoll_wait", RoleApplication}},
			Protects:  "who waits for a socket, or the list of ready sockets of an epoll instance",
			Meaning:   "many threads wait on one epoll instance, or packets wake a thread that is being woken already",
			Advice:    []string{"one epoll instance for each thread, EPOLLEXCLUSIVE; busy polling or larger batches for fewer wake-ups"},
			Reference: "Linux fs/eventpoll.c",
		},
	}
}

func linuxMemoryLocks() []NetworkLock {
	return []NetworkLock{
		{
			Name: "page-allocator", Title: "free pages of a memory zone", System: "Linux",
			Locks:     []string{"&zone->lock"},
			Callers:   []LockCaller{{"rmqueue_bulk", RoleAllocate}, {"__rmqueue_pcplist", RoleAllocate}, {"rmqueue", RoleAllocate}, {"free_pcppages_bulk", RoleFree}, {"free_one_page", RoleFree}, {"__free_pages_ok", RoleFree}, {"get_page_from_freelist", RoleAllocate}, {"free_unref_page_commit", RoleFree}},
			Protects:  "the free lists of a zone, behind the per-CPU lists",
			Meaning:   "pages are allocated on one CPU and freed on another, or in blocks larger than the per-CPU lists keep; on a network host often receive buffers that are not recycled",
			Advice:    []string{"a driver with page_pool recycles receive pages; keep the reader on the CPU that receives; see who allocates (perf lock contention -v)"},
			Reference: "Linux mm/page_alloc.c",
		},
		{
			Name: "slab", Title: "slab cache of a node, also of packets", System: "Linux",
			Locks:     []string{"&n->list_lock", "&parent->list_lock"},
			Callers:   []LockCaller{{"___slab_alloc", RoleAllocate}, {"__slab_alloc", RoleAllocate}, {"get_partial_node", RoleAllocate}, {"__slab_free", RoleFree}, {"__kmem_cache_free_bulk", RoleFree}, {"kmem_cache_free_bulk", RoleFree}, {"__unfreeze_partials", RoleFree}, {"put_cpu_partial", RoleFree}, {"get_any_partial", RoleAllocate}},
			Protects:  "the partly used slabs of a cache, behind the per-CPU ones",
			Meaning:   "objects such as packets are allocated on one CPU and freed on another",
			Advice:    []string{"keep a flow's receive and its reader on one CPU; slabtop, and perf lock contention -v for the cache"},
			Reference: "Linux mm/slub.c",
		},
		{
			Name: "memory-counter", Title: "counter of a memory control group", System: "Linux",
			Locks:     []string{"&counter->lock"},
			Callers:   []LockCaller{{"res_counter_charge", RoleAllocate}, {"res_counter_uncharge", RoleFree}},
			Protects:  "how much memory a group uses",
			Meaning:   "each allocation and release of the group's pages and socket buffers counts under one lock",
			Advice:    []string{"newer kernels count without a lock (page_counter, Linux 3.19)"},
			Reference: "Linux kernel/res_counter.c (until 3.18)",
		},
		{
			Name: "run-queue", Title: "run queue of a CPU", System: "Linux",
			Locks:     []string{"&rq->lock", "&rq->__lock"},
			Callers:   []LockCaller{{"try_to_wake_up", ""}, {"ttwu_queue", ""}, {"raw_spin_rq_lock_nested", ""}, {"_raw_spin_rq_lock_irqsave", ""}, {"__schedule", ""}, {"task_rq_lock", ""}, {"sched_ttwu_pending", ""}, {"update_process_times", RoleTimer}},
			Protects:  "the threads ready to run on a CPU",
			Meaning:   "many short sleeps and wake-ups: a message or a packet each wakes a thread",
			Advice:    []string{"batch: larger messages, busy polling (SO_BUSY_POLL), interrupt moderation; keep waker and woken on one CPU"},
			Reference: "Linux kernel/sched/core.c",
		},
		{
			Name: "timer-base", Title: "timers of a CPU", System: "Linux",
			Locks:     []string{"&base->lock", "hrtimer_bases.lock", "&cpu_base->lock", "jiffies_lock", "tick_broadcast_lock", "clockevents_lock"},
			Callers:   []LockCaller{{"lock_timer_base", RoleTimer}, {"mod_timer", RoleTimer}, {"__mod_timer", RoleTimer}, {"call_timer_fn", RoleTimer}, {"hrtimer_start_range_ns", RoleTimer}, {"lock_hrtimer_base", RoleTimer}, {"tick_do_update_jiffies64", RoleTimer}, {"__tick_broadcast_oneshot_control", RoleTimer}},
			Protects:  "timers: TCP's, pacing's (fq), and the tick",
			Meaning:   "timers are set from other CPUs than the one that runs them; on arm64 and old x86 also the idle states' broadcast tick",
			Advice:    []string{"keep a connection's CPU constant; for the broadcast tick see whether deep idle states stop the local timer"},
			Reference: "Linux kernel/time/timer.c, hrtimer.c, tick-broadcast.c",
		},
	}
}
