package datapath

import "nettrace/unit"

// StatusTag says what a driver tells its card when it enables interrupts again: the tag of the status block that it has
// seen, so that a newer one raises the interrupt at once.
type StatusTag string

const (
	Untagged StatusTag = "none"  // the driver looks for visible frames itself
	TagEarly StatusTag = "early" // the tag is saved before the work: what comes during it raises an interrupt for nothing
	TagLate  StatusTag = "late"  // the tag is saved after the work, and work looked for once more
)

// statusSettings are those of a card that shows received frames by writing a status block (tg3).
type statusSettings struct {
	tag                  StatusTag
	frames, irqFrames    int        // frames that cause the block to be written: normally, and while an interrupt is served
	timer, irqTimer      unit.Nanos // the same after so long without another frame
	firstLook, poll, arm unit.Nanos // from interrupt to first look, each packet, enabling
}

// statusCard is the receive side of such a card with its driver's poll.
type statusCard struct {
	engine   *engine
	id       component
	settings statusSettings

	waiting int    // frames in memory that the block does not show
	visible int    // frames shown and not taken
	tag     uint16 // of the block
	timer   uint16 // counts the timer's settings: an expiry of an earlier one is void
	enabled bool
	saved   uint16 // the tag that the driver gives back

	packets, interrupts, races int64 // races: the tag had changed when the driver gave it back
}

func (s *statusCard) handle(k kind, arg uint16) {
	switch k {
	case frameArrives:
		s.arrives()
	case timerExpires:
		if arg == s.timer && s.waiting > 0 {
			s.show()
		}
	case pollStarts:
		s.saved = s.tag
		s.look()
	case pollLooks:
		s.look()
	case queueArmed:
		s.arm()
	}
}

// arrives puts a frame into memory. The timer begins anew with each one, and when interrupts are enabled.
func (s *statusCard) arrives() {
	s.waiting++
	frames, timer := s.settings.frames, s.settings.timer
	if !s.enabled {
		frames, timer = s.settings.irqFrames, s.settings.irqTimer
	}
	if s.waiting >= frames {
		s.show()
		return
	}
	s.await(timer)
}

// await starts the timer anew.
func (s *statusCard) await(timer unit.Nanos) {
	s.timer++
	s.engine.after(timer, s.id, timerExpires, s.timer)
}

// show writes the status block.
func (s *statusCard) show() {
	s.visible += s.waiting
	s.waiting = 0
	s.tag++
	s.timer++
	if s.enabled {
		s.interrupt()
	}
}

func (s *statusCard) interrupt() {
	s.enabled = false
	s.interrupts++
	s.engine.after(s.settings.firstLook, s.id, pollStarts, 0)
}

func (s *statusCard) look() {
	if s.visible > 0 {
		s.visible--
		s.packets++
		s.engine.after(s.settings.poll, s.id, pollLooks, 0)
		return
	}
	s.engine.after(s.settings.arm, s.id, queueArmed, 0)
}

func (s *statusCard) arm() {
	if s.settings.tag == TagLate {
		s.saved = s.tag
		if s.visible > 0 {
			s.look()
			return
		}
	}
	stale := s.settings.tag != Untagged && s.tag != s.saved
	if stale {
		s.races++
	}
	if stale || s.visible > 0 {
		s.interrupt()
		return
	}
	s.enabled = true
	if s.waiting > 0 {
		s.await(s.settings.timer)
	}
}

// batchSource sends frames in batches that come at random (Poisson) through a link: bursts lengthen with the load.
type batchSource struct {
	engine    *engine
	id        component
	to        component
	random    *stream
	batch     int
	between   unit.Nanos // batches, on average
	frameTime unit.Nanos
	free      unit.Nanos
	sent      int64
}

func (b *batchSource) handle(kind, uint16) {
	for range b.batch {
		b.free = max(b.free, b.engine.now) + b.frameTime
		b.engine.after(b.free-b.engine.now, b.to, frameArrives, 0)
		b.sent++
	}
	b.engine.after(b.random.exponential(b.between), b.id, batchArrives, 0)
}
