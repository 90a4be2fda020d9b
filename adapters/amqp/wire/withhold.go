package wire

import (
	"maps"
	"slices"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
)

// Together is the gate that is always open and merges confirms: if messages come together, it confirms them with one
// confirm, as RabbitMQ sometimes does.
type Together struct{ Through }

// Answered sends the answer, unless it is a confirm that can be merged with the next one.
func (Together) Answered(a *Answer) {
	if !a.Withhold() {
		a.Send()
	}
}

// Withhold reports whether it has kept this confirm back, so that the channel's next confirm stands for both messages, with
// the flag multiple. It does so only while another message that needs a confirm waits at the gate or may be on its way
// there, since otherwise the client may be waiting for this confirm. The confirm is sent before the channel's next answer
// other than a returned or delivered message, or once no such message is left.
func (a *Answer) Withhold() bool {
	c := a.Conn
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ack := a.Method.(*frame.BasicAck)
	if !ack || c.gone || !c.more && !c.inFlight.channel(a.Channel).confirmsMore() {
		return false
	}
	a.settle()
	if c.withheld == nil {
		c.withheld = make(map[uint16][]*Answer)
	}
	c.withheld[a.Channel] = append(c.withheld[a.Channel], a)
	return true
}

// confirmsMore reports whether a message that needs a confirm waits at the gate.
func (ch *channelInFlight) confirmsMore() bool {
	return slices.ContainsFunc(ch.parked, func(c *Command) bool { return c.confirm > 0 })
}

// relent sends the withheld confirms once no command of the client is left, as it may be waiting for them.
func (c *Conn) relent() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.more || len(c.withheld) == 0 {
		return
	}
	for _, channel := range slices.Sorted(maps.Keys(c.withheld)) {
		if kept := c.withheld[channel]; !c.inFlight.channel(channel).confirmsMore() {
			delete(c.withheld, channel)
			c.writeConfirms(kept)
		}
	}
}

// writeAnswer writes an answer, and before it the withheld confirms of its channel, merged into one. If the answer is a
// confirm, it is merged too. Returned or delivered messages are written without the withheld confirms. mu is held.
func (c *Conn) writeAnswer(a *Answer) {
	kept := c.withheld[a.Channel]
	switch a.Method.(type) {
	case *frame.BasicReturn, *frame.BasicDeliver:
		kept = nil
	case *frame.BasicAck:
		delete(c.withheld, a.Channel)
		c.writeConfirms(append(kept, a))
		return
	}
	if len(kept) > 0 {
		delete(c.withheld, a.Channel)
		c.writeConfirms(kept)
	}
	c.writeOut(&a.Message)
}

// writeConfirms writes one confirm for all or, if an earlier message is not confirmed, one for each. mu is held.
func (c *Conn) writeConfirms(all []*Answer) {
	tag := uint64(0)
	for _, a := range all {
		tag = max(tag, a.Method.(*frame.BasicAck).DeliveryTag)
	}
	channel := all[0].Channel
	if len(all) > 1 && !c.inFlight.channel(channel).unconfirmed(tag) {
		c.writeOut(&Message{Channel: channel, Method: &frame.BasicAck{DeliveryTag: tag, Multiple: true}})
		return
	}
	for _, a := range all {
		c.writeOut(&a.Message)
	}
}

// unconfirmed reports whether a message up to a tag is not confirmed yet.
func (ch *channelInFlight) unconfirmed(tag uint64) bool {
	return slices.ContainsFunc(ch.pending, func(c *Command) bool { return c.confirm > 0 && c.confirm <= tag })
}
