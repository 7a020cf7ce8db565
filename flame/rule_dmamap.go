package flame

import (
	"strings"

	"nettrace/finding"
	"nettrace/kernel"
)

// DMAMapShare finds CPU time that goes into mapping memory for devices.
func DMAMapShare() finding.On[*Profile] {
	return finding.On[*Profile]{Judge: judgeDMAMap, Rule: finding.Rule{
		Name:  "stack/dma-map-share",
		Title: "Mapping memory for devices takes CPU time",
		Method: "Samples in or below the functions that map and unmap memory for DMA (of the IOMMU, of bounce buffers, and what drivers call for both), as a share of busy time. " +
			"Locks that are waited for within them count here as well as in stack/lock-spin.",
		Params: []finding.Param{
			{Name: "share", Default: 0.02, Unit: "ratio", Doc: "share of busy time from which on it is told, at info; chosen: direct mapping without an IOMMU is an addition and costs less"},
			{Name: "notice", Default: 0.05, Unit: "ratio", Doc: "share from which on it is a notice; chosen: more than a benchmark's runs differ"},
			{Name: "warning", Default: 0.15, Unit: "ratio", Doc: "share from which on it is a warning; chosen: half of what the worst report has"},
			{Name: "critical", Default: 0.3, Unit: "ratio", Doc: "share from which on it is the main cost; the report of IOMMU lock contention below mlx4_en speaks of more than 30 % of the time"},
			minSamples(),
		},
		FalsePositives: "Inlined mapping functions show as their caller, so that the share is a lower bound. In virtual machines that are encrypted (SEV, TDX) all DMA goes through bounce buffers and cannot do otherwise.",
		References:     []string{"Linux Documentation/core-api/dma-api.rst", "Linux drivers/iommu/dma-iommu.c, drivers/iommu/iova.c, kernel/dma/swiotlb.c", "FreeBSD sys/x86/x86/busdma_bounce.c, sys/dev/iommu"},
	}}
}

func judgeDMAMap(p *Profile, t finding.Params) []finding.Finding {
	w := newWorkload(p)
	if w == nil || !w.enough(w.classes[kernel.DMAMap], t) {
		return nil
	}
	dma := w.classes[kernel.DMAMap]
	f := w.finding("stack/dma-map-share", dma, finding.Subject{Kind: "profile", Key: "dma_map", Name: "mapping for DMA"}, t, "maps and unmaps memory for devices")
	f.Advice = dmaAdvice(dma)
	return []finding.Finding{f}
}

// dmaAdvice goes by which functions the time is in.
func dmaAdvice(dma *part) []finding.Advice {
	bounce := int64(0)
	for function, value := range dma.functions {
		if strings.HasPrefix(function, "swiotlb") || strings.HasPrefix(function, "bounce_bus") {
			bounce = sum(bounce, value)
		}
	}
	if bounce > dma.value/2 {
		return []finding.Advice{
			{Text: "data is copied through bounce buffers (dmesg | grep -i swiotlb): find out why the device cannot reach memory directly: a mask of less than 64 bits, swiotlb=force, or an encrypted virtual machine", Reference: "Linux kernel/dma/swiotlb.c"},
		}
	}
	return []finding.Advice{
		{Text: "boot with iommu.passthrough=1 (x86: iommu=pt) if the machine's own drivers are trusted, or with iommu.strict=0, which flushes unmapped addresses in batches; dmesg | grep -i -e iommu -e DMAR tells the mode in force", Reference: "Linux Documentation/admin-guide/kernel-parameters.txt"},
		{Text: "use a driver that keeps its receive pages mapped (page_pool), and fewer, larger buffers: GRO and TSO on, MTU as large as the path allows", Reference: "Linux Documentation/networking/page_pool.rst"},
	}
}
