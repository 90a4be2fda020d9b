package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/scenario"
)

// presence is what a queue looks like to a connection that does not own it. An expected presence may be a set, in which
// any element is right.
type presence uint8

const (
	absent    presence = 1 << iota // the queue does not exist: 404
	common                         // the queue exists and any connection can use it
	exclusive                      // the queue is exclusive to another connection: 405
	present   = common | exclusive
	unowned   = absent | common
)

// String is the presence in words.
func (p presence) String() string {
	return map[presence]string{
		absent: "that it does not exist", common: "that it exists and is not exclusive",
		exclusive: "that it is exclusive to a connection", present: "that it exists",
		unowned: "that it is not exclusive to a connection",
	}[p]
}

// watched is a queue whose presence the recorded truth determines.
type watched struct {
	queue      amqp.Queue
	lock, slot int
	role       backend.Role
	expires    bool // the queue has x-expires, and a passive declare would count as a use
}

// expected is the queue's presence according to the recorded truth.
func (w *watched) expected(truth *[lock.MaxLocks]monitor.Truth) presence {
	t := &truth[w.lock]
	switch {
	case w.role == backend.Slot && t.Exists&(1<<w.slot) != 0:
		return present
	case w.role == backend.Slot:
		return absent
	case w.role == backend.AdminMutex && t.Admin != 0:
		return exclusive
	case w.role == backend.AdminMutex: // the truth says only whether the mutex is owned, not whether it exists
		return unowned
	case t.Taken&(1<<w.slot) == 0:
		return absent
	case t.Owner[w.slot] != 0:
		return exclusive
	}
	return common
}

// declared maps each queue that the trace declares to its arguments. No other queue can exist.
func declared(t *scenario.Trace) map[amqp.Queue]amqp.ArgumentSet {
	queues := make(map[amqp.Queue]amqp.ArgumentSet)
	for _, steps := range [][]scenario.TraceStep{t.Setup, t.Steps} {
		for i := range steps {
			if c := amqp.SentIn(steps[i].Payload).Command; c.Method == amqp.QueueDeclare && !c.Flags.Has(amqp.Passive) {
				queues[c.Queue] |= c.Args.Has
			}
		}
	}
	return queues
}

// watchlist lists the declared queues whose presence the recorded truth determines. A queue with several roles, or of
// two locks, is listed with the first only.
func watchlist(target *lock.Target, t *scenario.Trace, declared map[amqp.Queue]amqp.ArgumentSet) []watched {
	var list []watched
	names := new(amqp.Names) // interned in the same order as in the trace, so that numbers agree
	for l := range t.Scenario.Locks {
		layout := amqplock.LayoutOf(target, names, t.Scenario.Locks[l].Name, monitor.Slots)
		note := func(q amqp.Queue, role backend.Role, slot int) {
			args, ok := declared[q]
			if ok && !slices.ContainsFunc(list, func(w watched) bool { return w.queue == q }) {
				list = append(list, watched{queue: q, lock: l, slot: slot, role: role, expires: args&amqp.HasExpires != 0})
			}
		}
		if target.Kind == lock.Mutex {
			note(layout.Mutex, backend.Mutex, 1)
			continue
		}
		for s := 1; s <= monitor.Slots; s++ {
			note(layout.A[s], backend.Slot, s)
			note(layout.B[s], backend.Holder, s)
		}
		note(layout.Admin, backend.AdminMutex, 0)
	}
	return list
}

// observer asks the broker about queues, on its own connection.
type observer struct{ *Conn }

// observerChannel is the number of the observer's channel.
const observerChannel = 1

func newObserver(ctx context.Context, url string, names *amqp.Names) (*observer, error) {
	conn, err := Dial(ctx, url, names)
	if err != nil {
		return nil, err
	}
	o := &observer{conn}
	if err := o.ready(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return o, nil
}

// ready ensures that the observer's channel is open, as some answers close it.
func (o *observer) ready() error {
	for _, m := range []amqp.Method{amqp.ChannelOpen, amqp.ConfirmSelect} {
		if r := o.ask(amqp.Command{Method: m}); r.Kind != amqp.OK {
			return fmt.Errorf("looking at queues: %s: expected ok, got %s", m, r)
		}
	}
	return nil
}

func (o *observer) ask(c amqp.Command) amqp.Reply {
	c.Channel = observerChannel
	return o.Do([]amqp.Command{c})[0]
}

// compare asks for the presence of each queue. It returns the first queue that differs from the recorded truth, or nil.
func (o *observer) compare(queues []watched, truth *[lock.MaxLocks]monitor.Truth) (*watched, presence, error) {
	for i := range queues {
		w := &queues[i]
		has, err := o.look(w)
		if err != nil || has&w.expected(truth) == 0 {
			return w, has, err
		}
	}
	return nil, 0, nil
}

// look asks the broker for a queue's presence by a passive declare. If that would count as a use, look publishes a
// message instead that expires at once (FACTS B17). This shows only whether the queue exists.
func (o *observer) look(w *watched) (presence, error) {
	if w.expires {
		r := o.ask(amqp.Command{Method: amqp.BasicPublish, Queue: w.queue, Flags: amqp.Mandatory | amqp.Expiring})
		switch {
		case r.Kind != amqp.Ack && r.Kind != amqp.Nack:
			return 0, fmt.Errorf("looking at queue %s: got %s", o.names.Name(w.queue), r)
		case r.Returned > 0:
			return absent, nil
		}
		return present, nil
	}
	r := o.ask(amqp.Command{Method: amqp.QueueDeclare, Queue: w.queue, Flags: amqp.Passive})
	switch {
	case r.Kind == amqp.OK:
		return common, nil
	case r.Kind == amqp.ChannelClosed && r.Code == amqp.NotFound:
		return absent, o.ready()
	case r.Kind == amqp.ChannelClosed && r.Code == amqp.ResourceLocked:
		return exclusive, o.ready()
	}
	return 0, fmt.Errorf("looking at queue %s: got %s", o.names.Name(w.queue), r)
}
