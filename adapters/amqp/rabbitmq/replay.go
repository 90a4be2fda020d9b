package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/amqp/consumption"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

// ReplayOptions says how to replay a trace. The zero value means the default for each.
type ReplayOptions struct {
	// Prefix begins the names of queues on the broker; "" means a new, unique prefix.
	Prefix string
	// Patience is the maximum time for the broker to notice a connection that ended abruptly, or to delete an expired
	// queue. 0 means 10 seconds.
	Patience time.Duration
	// Progress is called before each step with the number of completed steps and the total. It may be nil.
	Progress func(taken, of int)
}

const defaultPatience = 10 * time.Second

// Replay carries out the steps of a simulated trace of the target on a real RabbitMQ, command by command in the
// recorded order. Each client has its own connection (or a channel of a shared one, if the scenario's option says so).
// The replay ends at the first step whose result differs from the recorded one.
//
// It compares the whole reply of every command: class, code, counters and returned messages. After every step it
// compares whether each slot's A and B queue and the administration mutex exist, and whether B queues and the mutex are
// exclusive to a connection. A client's machine is a function of its replies, so equal replies mean the same execution.
// It does not compare:
//
//   - the code with which a fault closes a channel or connection, as the simulator has codes of its own;
//   - which connection owns an exclusive queue (except as replies show it), and whether a queue with x-expires is
//     exclusive: asking would count as a use, and keep it alive;
//   - how many messages a queue has, except as counters in replies show it;
//   - time, unless a queue or message of the trace expires. Then a virtual millisecond lasts longer on the broker, and every
//     x-expires and TTL with it: see [timeScales].
//
// Faults are carried out as follows:
//
//   - A client's crash and a dropped connection close the client's socket abruptly. If the broker notices late, the socket
//     stays open, unused, until then: to the broker, a half-open connection looks the same.
//   - A lost reply is read and dropped.
//   - A channel error is provoked by asking, on the client's channel, for a queue that does not exist.
//   - A restart is a real one; if the broker cannot be restarted, the replay is skipped.
//
// Queues get a prefix of their own, so that a broker may be shared, and are deleted at the end in any case.
func Replay(ctx context.Context, b *Broker, target *lock.Target, t *scenario.Trace, o ReplayOptions) (r *Replayed, err error) {
	r = &Replayed{Broker: b.Version, trace: t}
	if target.Backend != "" && target.Backend != consumption.Server {
		r.Skipped = fmt.Sprintf("%s is no lock of RabbitMQ's", target.Name)
		return r, nil
	}
	if t.Restarts() && !b.CanRestart() {
		r.Skipped = fmt.Sprintf("the trace restarts the broker, and %s was not started here", b.Origin)
		return r, nil
	}
	if routing := routing(target, t); commits(t) && routing != "" && broker.Like(b.Version).RoutedAtPublish != (routing == amqplock.AtPublish) {
		r.Skipped = fmt.Sprintf("the trace has transactions as with tx-routing=%s, and %s routes them otherwise", routing, b.Version)
		return r, nil
	}
	if o.Prefix == "" {
		o.Prefix = b.Prefix()
	}
	if o.Patience == 0 {
		o.Patience = defaultPatience
	}
	for _, scale := range timeScales {
		var kept pace
		if kept, err = r.attempt(ctx, b, target, o, scale); err != nil || r.Disagreement == nil || !kept.timed {
			break
		}
		if scale == timeScales[len(timeScales)-1] && kept.late {
			r.Skipped = fmt.Sprintf("this machine was late with a step, also where a virtual millisecond lasts %d, so that something may have expired too early by that alone: try again where less is going on", scale)
		}
	}
	return r, err
}

// attempt replays the trace once. The pace that it returns says whether the replay was fast enough for the trace's
// expiries.
func (r *Replayed) attempt(ctx context.Context, b *Broker, target *lock.Target, o ReplayOptions, scale uint32) (kept pace, err error) {
	t := r.trace
	r.Agreed, r.Disagreement = 0, nil
	p, err := newReplayer(ctx, b, target, t, o, scale)
	if err != nil {
		return kept, fmt.Errorf("replaying on %s: %w", b.Version, err)
	}
	defer func() { kept, err = p.pace, errors.Join(err, p.end()) }()
	for i := range t.Setup {
		if r.Disagreement, err = p.step(ctx, &t.Setup[i], i+1 == len(t.Setup)); err != nil || r.Disagreement != nil {
			return kept, r.failed(SetupStep, err)
		}
	}
	for i := range t.Steps {
		if o.Progress != nil {
			o.Progress(i, len(t.Steps))
		}
		if r.Disagreement, err = p.step(ctx, &t.Steps[i], true); err != nil || r.Disagreement != nil {
			return kept, r.failed(i, err)
		}
		r.Agreed++
	}
	return kept, nil
}

// routing says at which time a lock expects the messages of a transaction to be routed; "" if it does not matter to the
// lock.
func routing(target *lock.Target, t *scenario.Trace) string {
	if target.Backend == consumption.Server {
		return ""
	}
	return amqplock.Table.Of(target.Settled(t.Scenario.Options)).TxRouting
}

// commits reports whether a trace contains transactions.
func commits(t *scenario.Trace) bool {
	return slices.ContainsFunc(t.Steps, func(s scenario.TraceStep) bool { return amqp.SentIn(s.Payload).Command.Method == amqp.TxCommit })
}

// step carries out a step and compares its reply. If truth is set, it also compares the broker's queues with the
// recorded truth. During setup that is done after the last step only.
func (p *replayer) step(ctx context.Context, s *scenario.TraceStep, truth bool) (*Disagreement, error) {
	if err := p.pace.await(ctx, s.Time); err != nil {
		return nil, err
	}
	got, err := p.take(ctx, s)
	if err != nil {
		return nil, err
	}
	p.pace.note(s.Time)
	want := amqp.SentIn(s.Payload).Reply
	if got = p.excuse(s, got); got != want {
		return &Disagreement{Taken: s, What: "reply", Expected: want.String(), Got: got.String()}, nil
	}
	if d := p.receive(ctx, s); d != nil || !truth {
		return d, nil
	}
	return p.settled(ctx, s)
}

// excuse returns got with the recorded reply code, if got closes the channel or connection because of a fault. The
// simulator's codes for faults are not the broker's, so they are not compared.
func (p *replayer) excuse(s *scenario.TraceStep, got amqp.Reply) amqp.Reply {
	c := &p.clients[s.Action.Client]
	if got.Kind == amqp.ConnectionClosed && c.connection.cut || got.Kind == amqp.ChannelClosed && c.provoked {
		got.Code = amqp.SentIn(s.Payload).Reply.Code
	}
	return got
}

// pollPause is the pause between two checks of a broker's state while waiting for a change.
const pollPause = time.Millisecond

// settled compares the broker's queues with the recorded truth after a step, and returns the first difference. If the
// broker notices the step only later, settled repeats this until there is no difference or Patience is over.
func (p *replayer) settled(ctx context.Context, s *scenario.TraceStep) (*Disagreement, error) {
	patience, cancel := context.WithTimeout(ctx, p.options.Patience)
	defer cancel()
	for first := true; ; first = false {
		d, err := p.differs(s)
		if first {
			p.pace.note(s.Time)
		}
		if d == nil || err != nil || !p.unannounced(s) || patience.Err() != nil {
			return d, errors.Join(err, ctx.Err())
		}
		sleep(patience, pollPause)
	}
}

// differs is the first difference between the broker's queues and the recorded truth; nil if there is none.
func (p *replayer) differs(s *scenario.TraceStep) (*Disagreement, error) {
	w, has, err := p.observer.compare(p.queues, &s.Truth)
	if w == nil {
		return p.consumes(s)
	}
	what := "queue " + namesOf(p.trace).Name(w.queue)
	return &Disagreement{Taken: s, What: what, Expected: w.expected(&s.Truth).String(), Got: has.String()}, err
}

// sleep waits for d, or until ctx is done.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
