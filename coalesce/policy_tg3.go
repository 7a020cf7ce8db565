package coalesce

import "nettrace/unit"

// TG3 is the moderation of tg3, which does not adapt, and what its device does when a poll ends. The device writes a tag
// with each block of status; the driver hands the tag that it has seen back when it enables the interrupt, and if the
// device has written another since, it interrupts at once. A driver that reads the tag before the work (EarlyTag: the
// first form of the patch for tagged status, netdev, May 2005) hands back an old one whenever anything came during the
// poll, work that the same poll has done included: under load in 80 % of the polls. Read after the work, and work looked
// for once more, the tag differs only if something waits; so does a driver without tags, which looks itself and has the
// device interrupt (drivers/net/ethernet/broadcom/tg3.c, tg3_poll and tg3_int_reenable).
type TG3 struct {
	Moderation
	EarlyTag bool
	byWork
}

// Step implements Policy.
func (t TG3) Step(Sample) Decision { return t.fixed(false) }

// Interval implements Policy.
func (t TG3) Interval() unit.Nanos { return 0 }

// Again implements Policy.
func (t TG3) Again(p Poll) bool {
	return p.Waiting > 0 || t.EarlyTag && p.Posted > 0
}
