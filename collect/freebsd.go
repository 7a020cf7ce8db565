package collect

// freebsd is what can be had of a FreeBSD machine without changing it.
func freebsd() plan {
	return plan{
		interfaceOf: `route -n get default | sed -n 's/.*interface: //p'`,
		settings: []step{
			{tool: "ifconfig", ext: "txt", command: `ifconfig "$IF"`, needs: "ifconfig", cost: "once, nothing to speak of"},
			{tool: "sysctl-dev", ext: "txt", command: `sysctl "dev.$(echo "$IF" | sed 's/[0-9]*$//').$(echo "$IF" | sed 's/^[a-z_]*//')"`, needs: "sysctl", cost: "once; settings and counters of the driver"},
		},
		counters: []step{
			{tool: "netstat-i", ext: "txt", command: `netstat -ibdnW`, needs: "netstat", cost: "twice, 1 ms"},
			{tool: "netstat-s", ext: "txt", command: `netstat -s`, needs: "netstat", cost: "twice, 1 ms"},
			{tool: "vmstat-i", ext: "txt", command: `vmstat -i`, needs: "vmstat", cost: "twice, 1 ms"},
			{tool: "sysctl-dev", ext: "txt", command: `sysctl "dev.$(echo "$IF" | sed 's/[0-9]*$//').$(echo "$IF" | sed 's/^[a-z_]*//')"`, needs: "sysctl", cost: "twice; counters of the driver's queues"},
		},
		recordings: []step{
			{tool: "tcpdump", ext: "pcap", command: `timeout -s INT "$SECONDS_LONG" tcpdump -i "$IF" -s 128 -c 2000000 -w - tcp or udp or icmp or icmp6 || true`, needs: "tcpdump", root: true,
				cost: "headers of at most 2 million packets, 288 MB; 1 to 2 us for each packet", questions: []Question{Latency, Throughput, Drops}},
			{tool: "pmcstat", ext: "pmc", command: `pmcstat -S CPU_CLK_UNHALTED.THREAD_P -O "$OUT.log" sleep "$SECONDS_LONG" >/dev/null && cat "$OUT.log"; rm -f "$OUT.log"`, needs: "pmcstat", root: true,
				cost: "a stack every 65,536 cycles, about 2 % of the CPU (kldload hwpmc first)", questions: []Question{CPU, Throughput}},
			{tool: "lockstat", ext: "txt", command: `lockstat -x aggsize=4m -s 5 sleep "$SECONDS_LONG"`, needs: "lockstat", root: true,
				cost: "about 1 us for each lock event; a busy machine loses 10 % and more", questions: []Question{CPU}},
			{tool: "pause", ext: "txt", command: `sleep "$SECONDS_LONG"`, needs: "sleep", cost: "so that the counters span the recordings"},
		},
	}
}
