package kernel

import "testing"

func TestParseVector(t *testing.T) {
	for _, c := range []struct {
		key, chip, action string
		want              Vector
	}{
		{"66", "PCI-MSI-edge", "eth0-TxRx-3", Vector{VectorNetwork, "eth0", "", Both, 3}},
		{"77", "Phys-fasteoi", "eth0-Tx-Rx-0", Vector{VectorNetwork, "eth0", "", Both, 0}},
		{"128", "PCI-MSI-edge", "eth0-rx-1", Vector{VectorNetwork, "eth0", "", RX, 1}},
		{"132", "PCI-MSI-edge", "eth0-tx-2", Vector{VectorNetwork, "eth0", "", TX, 2}},
		{"79", "PCI-MSI-edge", "eth2-5", Vector{VectorNetwork, "eth2", "", Both, 5}},
		{"63", "PCI-MSI-edge", "eth2", Vector{VectorNetwork, "eth2", "", NoDirection, -1}},
		{"78", "Phys-fasteoi", "eth0-mgmt", Vector{VectorNetwork, "eth0", "", NoDirection, -1}},
		{"40", "PCI-MSI-edge", "i40e-eth1-TxRx-7", Vector{VectorNetwork, "eth1", "", Both, 7}},
		{"40", "PCI-MSI-edge", "i40e-enp3s0f0-TxRx-7", Vector{VectorNetwork, "enp3s0f0", "", Both, 7}},
		{"70", "PCI-MSI-edge", "mlx4-3@0000:05:00.0", Vector{VectorNetwork, "", "0000:05:00.0", Both, 3}},
		{"109", "PCI-MSI-edge", "mlx4-comp-0@pci:0000:04:00.0", Vector{VectorNetwork, "", "0000:04:00.0", Both, 0}},
		{"112", "PCI-MSI-edge", "mlx4-async@pci:0000:04:00.0", Vector{VectorNetwork, "", "0000:04:00.0", NoDirection, -1}},
		{"90", "IR-PCI-MSI 1048576-edge", "mlx5_comp3@pci:0000:3b:00.1", Vector{VectorNetwork, "", "0000:3b:00.1", Both, 3}},
		{"27", "PCI-MSI 81920-edge", "ena-mgmnt@pci:0000:00:05.0", Vector{VectorNetwork, "", "0000:00:05.0", NoDirection, -1}},
		{"38", "PCI-MSIX-0000:00:03.0 1-edge", "virtio2-input.0", Vector{VectorNetwork, "", "0000:00:03.0", RX, 0}},
		{"39", "PCI-MSI 49153-edge", "virtio0-output.1", Vector{VectorNetwork, "", "virtio0", TX, 1}},
		{"34", "PCI-MSIX-0000:00:05.0 1-edge", "virtio4-input", Vector{VectorOther, "", "0000:00:05.0", NoDirection, -1}},
		{"36", "PCI-MSIX-0000:00:02.0 1-edge", "virtio1-req.0", Vector{VectorStorage, "", "0000:00:02.0", NoDirection, -1}},
		{"20", "RTL8380 24", "1b00a300.ethernet", Vector{VectorNetwork, "", "1b00a300.ethernet", NoDirection, -1}},
		{"7", "MIPS 7", "timer", Vector{VectorTimer, "", "", NoDirection, -1}},
		{"50", "PCI-MSI-edge", "nvme0q3", Vector{VectorStorage, "", "", NoDirection, -1}},
		{"1", "IO-APIC-edge", "i8042", Vector{VectorOther, "", "", NoDirection, -1}},
		{"16", "IO-APIC-fasteoi", "uhci_hcd:usb3, hpilo", Vector{VectorOther, "", "", NoDirection, -1}},
		{"7", "IO-APIC-edge", "", Vector{VectorOther, "", "", NoDirection, -1}},
		{"LOC", "", "Local timer interrupts", Vector{VectorTimer, "", "", NoDirection, -1}},
		{"IPI0", "", "Rescheduling interrupts", Vector{VectorCPU, "", "", NoDirection, -1}},
	} {
		if got := ParseVector(c.key, c.chip, c.action); got != c.want {
			t.Errorf("%s %s %s is read as %+v, want %+v", c.key, c.chip, c.action, got, c.want)
		}
	}
}

func TestIsInterfaceName(t *testing.T) {
	for name, want := range map[string]bool{"eth0": true, "enp0s31f6": true, "enx001122334455": true, "eno1": true, "wlan0": true, "lo": true, "veth1a2b": true, "bond0": true,
		"ethtool": false, "enable1": false, "i8042": false, "hpsa6": false, "pcie0": false, "": false, "x": false, "eth": false, "S": false, "t3": false, "txt": false} {
		if got := IsInterfaceName(name); got != want {
			t.Errorf("IsInterfaceName(%q) = %v, want %v", name, got, want)
		}
	}
}
