package rabbitmq

import (
	"context"
	"time"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/scenario"
)

// timeScales are the lengths of a virtual millisecond on a real broker, in milliseconds, for traces with expiries. A step
// takes a virtual millisecond, and must end within it on the real broker. All times given to the broker are stretched by the
// same factor, so that events keep their order, and are half a virtual millisecond shorter, so that expiries fall between
// two steps. A trace that disagrees is replayed with the next scale: a busy machine or broker may have been late with a
// step, or with an expiry, which no reply shows.
var timeScales = [...]uint32{20, 100, 500}

// pace maps the trace's time to real time, if something in the trace expires.
type pace struct {
	timed bool
	began time.Time
	scale uint32 // milliseconds per virtual millisecond
	late  bool   // a step ended so late that something the next step needs may have expired
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

// expires reports whether a command creates something that time removes. A message with a time to live of zero is removed at
// once.
func expires(c amqp.Command) bool {
	return c.Args.Has&amqp.HasExpires != 0 ||
		c.Args.Has&amqp.HasMessageTTL != 0 && c.Args.MessageTTL > 0 ||
		c.Flags.Has(amqp.Expiring) && c.Expiration > 0
}

// await waits until a moment of the trace, in virtual milliseconds.
func (p *pace) await(ctx context.Context, virtual int64) error {
	if p.timed {
		sleep(ctx, time.Until(p.began.Add(p.lasts(virtual))))
	}
	return ctx.Err()
}

// note records whether a step ended in time. virtual is the virtual millisecond in which it had to begin.
func (p *pace) note(virtual int64) {
	p.late = p.late || p.timed && time.Since(p.began) > p.lasts(virtual)+p.lasts(1)/2
}

func (p *pace) lasts(virtual int64) time.Duration {
	return time.Duration(virtual) * time.Duration(p.scale) * time.Millisecond
}

// stretched is a command with its times in the broker's milliseconds.
func (p *pace) stretched(c amqp.Command) amqp.Command {
	for _, ms := range []*uint32{&c.Args.Expires, &c.Args.MessageTTL, &c.Expiration} {
		if *ms > 0 {
			*ms = *ms*p.scale - p.scale/2
		}
	}
	return c
}
