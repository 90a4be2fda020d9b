package rabbitmq

import (
	"context"
	"time"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/scenario"
)

// timeScale is how many milliseconds a virtual one lasts on a real broker, where something in the
// trace expires: a step takes a virtual millisecond, and has to be over by then on the real one. All
// times that the broker is told are stretched alike, so that everything keeps its order. They are
// half a virtual millisecond shorter, so that what expires does so between two steps.
const timeScale = 20

// pace ties the trace's time to real time. It does so only where something expires by it.
type pace struct {
	timed bool
	began time.Time
}

func newPace(t *scenario.Trace) pace {
	p := pace{began: time.Now()}
	for _, steps := range [][]scenario.TraceStep{t.Setup, t.Steps} {
		for i := range steps {
			p.timed = p.timed || expires(amqp.SentIn(steps[i].Payload).Command)
		}
	}
	return p
}

// expires reports whether a command makes something that time alone takes away. What has no time to
// live at all is gone at once, whatever the time.
func expires(c amqp.Command) bool {
	return c.Args.Has&amqp.HasExpires != 0 ||
		c.Args.Has&amqp.HasMessageTTL != 0 && c.Args.MessageTTL > 0 ||
		c.Flags.Has(amqp.Expiring) && c.Expiration > 0
}

// await waits until a moment of the trace has come, in virtual milliseconds.
func (p *pace) await(ctx context.Context, virtual int64) error {
	if p.timed {
		sleep(ctx, time.Until(p.began.Add(time.Duration(virtual)*timeScale*time.Millisecond)))
	}
	return ctx.Err()
}

// stretched is a command with its times in the broker's milliseconds.
func (p *pace) stretched(c amqp.Command) amqp.Command {
	for _, ms := range []*uint32{&c.Args.Expires, &c.Args.MessageTTL, &c.Expiration} {
		if *ms > 0 {
			*ms = *ms*timeScale - timeScale/2
		}
	}
	return c
}
