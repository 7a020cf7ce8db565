package datapath

import (
	"errors"
	"math"

	"nettrace/unit"
)

// costs are the constants of the adaptive-rx thread's machines as the components use them.
type costs struct {
	linkPicosPerByte int64
	mss              int
	latency          unit.Nanos // link, one way
	interrupt        unit.Nanos
	pollStart        unit.Nanos
	packet           unit.Nanos // each completion
	tcpReceive       unit.Nanos // each merged segment
	ack              unit.Nanos
	rearm            unit.Nanos
	wake, wakeJitter unit.Nanos
	readCall         unit.Nanos
	readPicosPerByte int64
	send, split      unit.Nanos
}

// read is the time of reading a message.
func (c *costs) read(bytes int) unit.Nanos {
	return c.readCall + unit.Nanos(int64(bytes)*c.readPicosPerByte/1000)
}

func exchangeQuantities() []quantity {
	return append(micros("tcp-receive", "rearm", "send", "split", "interrupt", "poll-start", "packet", "ack", "wake", "wake-jitter", "read"),
		quantity{"link-rate", "Gb/s", 0.001, 1000},
		quantity{"mss", "B", 88, 65160},
		quantity{"latency", "us", 0.1, 1e6}, // above 0: time has to pass
		quantity{"read-byte", "ns/B", 0, 1e6})
}

func checkExchange(c *Constants) error {
	if c.value("wake-jitter") > c.value("wake") {
		return errors.New("wake-jitter is more than wake: a reader cannot be woken before its data")
	}
	return nil
}

func newCosts(c *Constants) costs {
	return costs{
		linkPicosPerByte: int64(math.Round(8000 / c.value("link-rate"))),
		mss:              int(c.value("mss")),
		latency:          c.nanos("latency"),
		interrupt:        c.nanos("interrupt"), pollStart: c.nanos("poll-start"), packet: c.nanos("packet"),
		tcpReceive: c.nanos("tcp-receive"), ack: c.nanos("ack"), rearm: c.nanos("rearm"),
		wake: c.nanos("wake"), wakeJitter: c.nanos("wake-jitter"),
		readCall: c.nanos("read"), readPicosPerByte: int64(math.Round(c.value("read-byte") * 1000)),
		send: c.nanos("send"), split: c.nanos("split"),
	}
}
