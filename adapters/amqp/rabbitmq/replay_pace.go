package rabbitmq

import (
	"context"
	"time"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/scenario"
)

// timeScales are the lengths in milliseconds of a virtual millisecond on a real broker, for traces in which something
// expires. A step takes a virtual millisecond, and must end within it on the broker. All times given to the broker are
// stretched by the same factor, so that events keep their order. They are then shortened by half a virtual millisecond,
// so that an expiry falls between two steps. If a trace disagrees, it is replayed with the next scale: a busy machine
// or broker may have been late, which no reply shows.
var timeScales = [...]uint32{20, 100, 500}

// pace converts the trace's time to real time. It is used only if something in the trace expires.
type pace struct {
	timed bool
	began time.Time
	scale uint32 // number of real milliseconds in a virtual millisecond
	late  bool   // a step ended too late: something that the next step needs may have expired
}

func newPace(t *scenario.Trace, scale uint32) pace {
	p := pace{began: time.Now(), scale: scale}
	for _, steps := range [][]scenario.TraceStep{t.Setup, t.Steps} {
		for i := range steps {
			p.timed = p.timed || expires(amqp.SentIn(steps[i].Payload).Command)
		}
	}
	return p
}

// expires reports whether a command creates something that expires later. A message with a time to live of 0 does not
// count: it is removed at once.
func expires(c amqp.Command) bool {
	return c.Args.Has&amqp.HasExpires != 0 ||
		c.Args.Has&amqp.HasMessageTTL != 0 && c.Args.MessageTTL > 0 ||
		c.Flags.Has(amqp.Expiring) && c.Expiration > 0
}

// await waits until the given time of the trace, in virtual milliseconds.
func (p *pace) await(ctx context.Context, virtual int64) error {
	if p.timed {
		sleep(ctx, time.Until(p.began.Add(p.lasts(virtual))))
	}
	return ctx.Err()
}

// note records whether a step ended in time. virtual is the time of the trace at which the step began, in ms.
func (p *pace) note(virtual int64) {
	p.late = p.late || p.timed && time.Since(p.began) > p.lasts(virtual)+p.lasts(1)/2
}

func (p *pace) lasts(virtual int64) time.Duration {
	return time.Duration(virtual) * time.Duration(p.scale) * time.Millisecond
}

// stretched is a command with its times converted from virtual to real milliseconds.
func (p *pace) stretched(c amqp.Command) amqp.Command {
	for _, ms := range []*uint32{&c.Args.Expires, &c.Args.MessageTTL, &c.Expiration} {
		if *ms > 0 {
			*ms = *ms*p.scale - p.scale/2
		}
	}
	return c
}
