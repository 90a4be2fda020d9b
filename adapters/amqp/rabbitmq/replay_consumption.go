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

// For locks by consumption, the replay observes what a passive declare returns about their queue: the number of ready
// messages, which are the free slots, and the number of consumers.

// consumed is the queue of a lock by consumption.
type consumed struct {
	queue amqp.Queue
	lock  int
	kind  lock.Kind
}

// consumption sets what to observe of locks by consumption.
func (p *replayer) consumption(target *lock.Target) {
	names := new(amqp.Names) // numbered like the trace's, as they are interned in the same order
	for l := range p.trace.Scenario.Locks {
		layout := consumption.NewLayout(names, p.trace.Scenario.Locks[l].Name)
		p.consumed = append(p.consumed, consumed{queue: layout.Lock, lock: l, kind: target.Kind})
		if _, ok := p.declared[layout.Admin]; ok {
			p.queues = append(p.queues, watched{queue: layout.Admin, lock: l, role: backend.AdminMutex})
		}
	}
}

// expected is the queue's counters according to the truth.
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

// count asks the broker for a queue's counters. A queue that does not exist has no counters.
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

// consumes compares the counters of queues with the truth.
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

// receive waits for the delivery of a step. Earlier deliveries were received with a reply.
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

// unanswered reports whether a step's command has no reply, so that the broker carries it out later, or makes the broker
// close something.
func unanswered(s *scenario.TraceStep) bool {
	sent := amqp.SentIn(s.Payload)
	return s.Action.Kind == scenario.ChannelError || sent.Command.Method != amqp.NoMethod && sent.Reply.Kind == amqp.NoReply ||
		sent.Reply.Kind == amqp.ChannelClosed
}
