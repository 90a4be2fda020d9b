package rabbitmq

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/consumption"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/scenario"
)

// For a lock by consumption, the replay compares the counters that a passive declare of its queue returns. The number
// of ready messages is the number of free slots. The number of consumers is compared as well.

// consumed is the queue of a lock by consumption, and the lock's number.
type consumed struct {
	queue amqp.Queue
	lock  int
	kind  lock.Kind
}

// consumption sets the queues whose counters are compared, if the target is a lock by consumption.
func (p *replayer) consumption(target *lock.Target) {
	names := new(amqp.Names) // interned in the same order as in the trace, so that numbers agree
	for l := range p.trace.Scenario.Locks {
		layout := consumption.NewLayout(names, p.trace.Scenario.Locks[l].Name)
		p.consumed = append(p.consumed, consumed{queue: layout.Lock, lock: l, kind: target.Kind})
		if _, ok := p.declared[layout.Admin]; ok {
			p.queues = append(p.queues, watched{queue: layout.Admin, lock: l, role: backend.AdminMutex})
		}
	}
}

// expected is the queue's counters according to the recorded truth, as text.
func (w *consumed) expected(truth *[lock.MaxLocks]monitor.Truth) string {
	t := &truth[w.lock]
	if w.kind == lock.Semaphore {
		return ready(bits.OnesCount16(t.Free()))
	}
	return consumers(t.Taken != 0)
}

func ready(n int) string { return fmt.Sprintf("%d messages that are ready", n) }

func consumers(any bool) string {
	if any {
		return "that somebody consumes it"
	}
	return "that nobody consumes it"
}

// count asks the broker for a queue's counters, as text. A missing queue counts as empty and without consumers.
func (o *observer) count(w *consumed) (string, error) {
	r := o.ask(amqp.Command{Method: amqp.QueueDeclare, Queue: w.queue, Flags: amqp.Passive})
	switch {
	case r.Kind == amqp.ChannelClosed && r.Code == amqp.NotFound:
		if err := o.ready(); err != nil {
			return "", err
		}
	case r.Kind != amqp.OK:
		return "", fmt.Errorf("looking at queue %s: got %s", o.names.Name(w.queue), r)
	}
	if w.kind == lock.Semaphore {
		return ready(int(r.Messages)), nil
	}
	return consumers(r.Consumers > 0), nil
}

// consumes compares the counters of all queues with the recorded truth, and returns the first difference.
func (p *replayer) consumes(s *scenario.TraceStep) (*Disagreement, error) {
	for i := range p.consumed {
		w := &p.consumed[i]
		got, err := p.observer.count(w)
		if want := w.expected(&s.Truth); err != nil || got != want {
			return &Disagreement{Taken: s, What: "queue " + namesOf(p.trace).Name(w.queue), Expected: want, Got: got}, err
		}
	}
	return nil, nil
}

// receive waits until the step's client has received the delivery that the step records. Deliveries that came before it
// are dropped.
func (p *replayer) receive(ctx context.Context, s *scenario.TraceStep) *Disagreement {
	want, c := amqp.SentIn(s.Payload).Delivery, &p.clients[s.Action.Client]
	if want == (amqp.Delivery{}) {
		return nil
	}
	for began := time.Now(); ; {
		if c.connection != nil {
			c.inbox = c.connection.Deliveries(1, pollPause, c.inbox)
		}
		if i := slices.Index(c.inbox, want); i >= 0 {
			c.inbox = slices.Delete(c.inbox, 0, i+1)
			return nil
		}
		if time.Since(began) > p.options.Patience || ctx.Err() != nil {
			return &Disagreement{Taken: s, What: "delivery", Expected: want.Words(), Got: fmt.Sprintf("%d others", len(c.inbox))}
		}
	}
}

// unanswered reports whether the step's command has no reply, so that the broker may carry it out later, or whether it
// makes the broker close something.
func unanswered(s *scenario.TraceStep) bool {
	sent := amqp.SentIn(s.Payload)
	return s.Action.Kind == scenario.ChannelError || sent.Command.Method != amqp.NoMethod && sent.Reply.Kind == amqp.NoReply ||
		sent.Reply.Kind == amqp.ChannelClosed
}
