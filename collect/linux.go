package collect

// linux is what can be had of a Linux machine without changing it. Commands are those that nettrace formats names.
func linux() plan {
	return plan{
		interfaceOf: `ip route show default | sed -n 's/.* dev \([^ ]*\).*/\1/p' | head -1`,
		settings: []step{
			{tool: "ethtool-i", ext: "txt", command: `ethtool -i "$IF"`, needs: "ethtool", cost: "once, nothing to speak of"},
			{tool: "ethtool", ext: "txt", command: `ethtool "$IF"`, needs: "ethtool", cost: "the same"},
			{tool: "ethtool-c", ext: "txt", command: `ethtool -c "$IF"`, needs: "ethtool", cost: "the same"},
			{tool: "ethtool-k", ext: "txt", command: `ethtool -k "$IF"`, needs: "ethtool", cost: "the same"},
			{tool: "ethtool-g", ext: "txt", command: `ethtool -g "$IF"`, needs: "ethtool", cost: "the same"},
			{tool: "ethtool-l", ext: "txt", command: `ethtool -l "$IF"`, needs: "ethtool", cost: "the same"},
			{tool: "ethtool-a", ext: "txt", command: `ethtool -a "$IF"`, needs: "ethtool", cost: "the same"},
			{tool: "ethtool-x", ext: "txt", command: `ethtool -x "$IF"`, needs: "ethtool", cost: "the same"},
			{tool: "steering", ext: "txt", command: `grep -H . /sys/class/net/"$IF"/queues/*/rps_cpus /sys/class/net/"$IF"/queues/*/xps_cpus`, needs: "grep", cost: "the same"},
			{tool: "sysctl", ext: "txt", command: `sysctl net.core net.ipv4.tcp_rmem net.ipv4.tcp_wmem net.ipv4.ip_forward`, needs: "sysctl", cost: "the same"},
			{tool: "lspci", ext: "txt", command: `lspci -vv -s "$(ethtool -i "$IF" | sed -n 's/^bus-info: //p')"`, needs: "lspci", root: true, cost: "once; link and payload sizes"},
			{tool: "kallsyms", ext: "kallsyms", command: `cat /proc/kallsyms`, needs: "cat", root: true, cost: "10 MB; names of the kernel's functions", questions: []Question{CPU, Throughput}},
		},
		counters: []step{
			{tool: "ethtool-S", ext: "txt", command: `ethtool -S "$IF"`, needs: "ethtool", cost: "twice; some drivers ask the firmware, up to 1 ms"},
			{tool: "proc-interrupts", ext: "txt", command: `cat /proc/interrupts`, needs: "cat", cost: "twice, 1 ms"},
			{tool: "proc-softirqs", ext: "txt", command: `cat /proc/softirqs`, needs: "cat", cost: "twice, 1 ms"},
			{tool: "proc-softnet_stat", ext: "txt", command: `cat /proc/net/softnet_stat`, needs: "cat", cost: "twice, 1 ms"},
			{tool: "proc-net-dev", ext: "txt", command: `cat /proc/net/dev`, needs: "cat", cost: "twice, 1 ms"},
			{tool: "proc-net-snmp", ext: "txt", command: `cat /proc/net/snmp`, needs: "cat", cost: "twice, 1 ms"},
			{tool: "proc-net-netstat", ext: "txt", command: `cat /proc/net/netstat`, needs: "cat", cost: "twice, 1 ms"},
			{tool: "proc-stat", ext: "txt", command: `cat /proc/stat`, needs: "cat", cost: "twice, 1 ms"},
			{tool: "cpuidle", ext: "txt", command: `grep -H . /sys/devices/system/cpu/cpu*/cpuidle/state*/name /sys/devices/system/cpu/cpu*/cpuidle/state*/latency /sys/devices/system/cpu/cpu*/cpuidle/state*/time /sys/devices/system/cpu/cpu*/cpuidle/state*/usage`, needs: "grep", cost: "twice; 1 ms for each 10 CPUs", questions: []Question{Latency}},
			{tool: "tc-qdisc", ext: "txt", command: `tc -s qdisc`, needs: "tc", cost: "twice, 1 ms"},
			{tool: "ss", ext: "txt", command: `ss -tinmO`, needs: "ss", cost: "twice; 1 us for each socket", questions: []Question{Latency, Throughput}},
		},
		recordings: []step{
			{tool: "tcpdump", ext: "pcap", command: `timeout -s INT "$SECONDS_LONG" tcpdump -i "$IF" -s 128 -c 2000000 -w - tcp or udp or icmp or icmp6 || true`, needs: "tcpdump", root: true,
				cost: "headers of at most 2 million packets, 288 MB; 1 to 2 us for each packet", questions: []Question{Latency, Throughput, Drops}},
			{tool: "perf", ext: "data", command: `perf record -q -a -g -F 199 -o "$OUT.data" -- sleep "$SECONDS_LONG" >/dev/null && cat "$OUT.data"; rm -f "$OUT.data"`, needs: "perf", root: true,
				cost: "199 stacks a second and CPU, about 1 % of the CPU, 2 MB a CPU", questions: []Question{CPU, Throughput}},
			{tool: "perf-lock-contention", ext: "txt", command: `perf lock contention -a -b -E 20 -- sleep "$SECONDS_LONG" >"$OUT.bpf" 2>&1 && cat "$OUT.bpf" || { perf lock record -q -a -o "$OUT.data" -- sleep "$SECONDS_LONG" >/dev/null 2>&1 && perf lock contention -i "$OUT.data" -E 20 2>&1; }; rm -f "$OUT.bpf" "$OUT.data"`, needs: "perf", root: true,
				cost: "about 1 us for each contended lock", questions: []Question{CPU}},
			{tool: "perf-script", ext: "txt", command: `perf record -q -a -e skb:kfree_skb -o "$OUT.data" -- sleep "$SECONDS_LONG" >/dev/null && perf script -i "$OUT.data"; rm -f "$OUT.data"`, needs: "perf", root: true,
				cost: "one event for each packet that the kernel drops, about 2 us", questions: []Question{Drops}},
			{tool: "pause", ext: "txt", command: `sleep "$SECONDS_LONG"`, needs: "sleep", cost: "so that the counters span the recordings"},
		},
	}
}
