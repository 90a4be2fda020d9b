package rabbitmq

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/stress"
)

// run is another run of lockproof that has an entry in the registry.
type run struct {
	entry
	got amqp091.Delivery // its entry; no other run receives it until it is acknowledged or the channel closes
}

// reading is the content of the registry. No other run receives these messages until the channel closes.
type reading struct {
	others []run
	own    *amqp091.Delivery
	alien  bool // the registry contains other messages than entries
}

// mostRead is the maximum number of messages that are read from a queue, because any program may write there. A run
// rewrites its notes before there are so many.
const mostRead = 100_000

// runs reads all entries of the registry.
func (r *registration) runs(ch *amqp091.Channel) (all reading, err error) {
	for range mostRead {
		got, ok, err := ch.Get(r.registry, false)
		if err != nil || !ok {
			return all, err
		}
		var e entry
		switch err := json.Unmarshal(got.Body, &e); {
		case err != nil || e.Lockproof != entryFormat || !stress.Proved(e.Mark, e.Secret):
			all.alien = true
		case e.Mark == r.Mark:
			all.own = &got
		default:
			all.others = append(all.others, run{e, got})
		}
	}
	all.alien = true // only another program writes so many messages
	return all, nil
}

// tidy deletes what dead runs have left.
func (r *registration) tidy(ctx context.Context, found *Tidied) error {
	ch, err := r.conn.Channel()
	if err != nil {
		return err
	}
	defer ch.Close() // returns the unacknowledged entries to the registry
	all, err := r.runs(ch)
	if err != nil {
		return err
	}
	dead := slices.DeleteFunc(slices.Clone(all.others), func(o run) bool { return r.there(o.alive()) })
	if len(dead) == 0 {
		return nil
	}
	sleep(ctx, deadFor)
	dead = slices.DeleteFunc(dead, func(o run) bool { return ctx.Err() != nil || !r.take(o.alive()) })
	var errs []error
	for _, o := range dead {
		left, err := r.retire(o)
		found.Left = append(found.Left, left...)
		if err != nil {
			errs = append(errs, fmt.Errorf("tidying up after the run of %s: %w", o.Began.Format(time.DateTime), err))
			continue
		}
		errs = append(errs, o.got.Ack(false))
		found.Runs++
	}
	return errors.Join(errs...)
}

// there reports whether a queue exists. It may be exclusive to another connection.
func (r *registration) there(queue string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.exists(thing{Queue: queue})
}

// take declares an exclusive queue on this run's connection. It is false if the queue belongs to another connection.
func (r *registration) take(queue string) bool {
	ch, err := r.conn.Channel()
	if err != nil {
		return false
	}
	defer ch.Close()
	_, err = ch.QueueDeclare(queue, false, false, true, false, nil)
	return err == nil
}

// retire deletes the marked things of a dead run. It returns those that it leaves, as text.
func (r *registration) retire(o run) (left []string, err error) {
	marked, others, err := r.notedBy(o)
	if err != nil {
		return nil, err
	}
	if err := r.remove(append(marked, thing{Queue: o.entry.notes()}, thing{Queue: o.alive()})); err != nil {
		return nil, err
	}
	return r.unproved(others), nil
}

// notedBy reads a dead run's notes. It returns the things with the run's mark, and the others.
func (r *registration) notedBy(o run) (marked, others []thing, err error) {
	if !r.there(o.notes()) {
		return nil, nil, nil
	}
	ch, err := r.conn.Channel()
	if err != nil {
		return nil, nil, err
	}
	defer ch.Close()
	all, err := read(ch, o.notes())
	for _, t := range all {
		if strings.Contains(t.name(), o.Mark) {
			marked = append(marked, t)
		} else {
			others = append(others, t)
		}
	}
	return marked, others, err
}

// unprovedSaid is the maximum number of a dead run's unmarked names that are checked and reported.
const unprovedSaid = 20

// unproved describes the things that exist but do not have the mark of the dead run that noted them.
func (r *registration) unproved(things []thing) (left []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range things[:min(len(things), unprovedSaid)] {
		if r.exists(t) {
			left = append(left, fmt.Sprintf("%s is left: a run that has ended noted it, and nothing proves that it made it; delete it if it is nobody's", t))
		}
	}
	return left
}

// String describes the thing, for example: queue "jobs".
func (t thing) String() string {
	if t.Queue != "" {
		return fmt.Sprintf("queue %q", t.Queue)
	}
	return fmt.Sprintf("exchange %q", t.Exchange)
}

// read reads notes, and leaves them in their queue.
func read(ch *amqp091.Channel, queue string) (left []thing, err error) {
	for range mostRead {
		got, ok, err := ch.Get(queue, false)
		if err != nil || !ok {
			return left, err
		}
		var t thing
		if json.Unmarshal(got.Body, &t) == nil && t.one() {
			left = append(left, t)
		}
	}
	return left, nil
}

// remove deletes things as far as possible. It is no error if one does not exist.
func (r *registration) remove(things []thing) error {
	return r.delete(things, func(ch *amqp091.Channel, t thing) error {
		if t.Queue == "" {
			return ch.ExchangeDelete(t.Exchange, false, false)
		}
		_, err := ch.QueueDelete(t.Queue, false, false, false)
		return err
	})
}

// removeUnused deletes things that have no users. If ifEmpty is set, it leaves queues with messages. The error names
// those that it leaves.
func (r *registration) removeUnused(things []thing, ifEmpty bool) error {
	return r.delete(things, func(ch *amqp091.Channel, t thing) error {
		if t.Queue == "" {
			return ch.ExchangeDelete(t.Exchange, true, false)
		}
		_, err := ch.QueueDelete(t.Queue, true, ifEmpty, false)
		return err
	})
}

// delete calls one for each thing, to delete it, and joins the errors.
func (r *registration) delete(things []thing, one func(*amqp091.Channel, thing) error) error {
	var errs []error
	var ch *amqp091.Channel
	for _, t := range things {
		var err error
		if ch == nil || ch.IsClosed() {
			if ch, err = r.conn.Channel(); err != nil {
				return errors.Join(append(errs, err)...)
			}
		}
		if err = one(ch, t); err != nil {
			errs = append(errs, fmt.Errorf("deleting %s: %w; it is left behind: delete it if it is nobody's", t, err))
		}
	}
	if ch != nil && !ch.IsClosed() {
		errs = append(errs, ch.Close())
	}
	return errors.Join(errs...)
}

// leave deletes what this run has created and removes its entry from the registry. If the registry is then empty, leave
// deletes it. What cannot be deleted is left to the next run.
func (r *registration) leave() error {
	marked, unmarked, err := r.closeNotes()
	if err != nil {
		return err
	}
	err = r.lock(context.Background())
	alone := err == nil
	ch, failed := r.conn.Channel()
	if failed != nil {
		return errors.Join(err, failed, r.conn.Close())
	}
	var all reading
	if alone {
		all, err = r.runs(ch)
		alone = err == nil && !slices.ContainsFunc(all.others, func(o run) bool { return r.there(o.alive()) })
	}
	err = errors.Join(err, r.remove(append(marked, thing{Queue: r.entry.notes()})))
	if alone {
		err = errors.Join(err, r.removeUnused(unmarked, false))
	} else {
		err = errors.Join(err, shared(unmarked))
	}
	if err == nil || all.own != nil {
		err = errors.Join(err, r.depart(ch, all))
	}
	return errors.Join(err, r.unlock(), r.conn.Close())
}

// closeNotes stops the notes. It returns the things that this run may have created, with and without its mark.
func (r *registration) closeNotes() (marked, unmarked []thing, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closing = r.lost == nil
	for t := range r.kept {
		if t.marked() {
			marked = append(marked, t)
		} else {
			unmarked = append(unmarked, t)
		}
	}
	return marked, unmarked, r.lost
}

// shared is an error that names unmarked things which are left because another live run may use them.
func shared(things []thing) error {
	var errs []error
	for _, t := range things {
		errs = append(errs, fmt.Errorf("%s is left: another run is alive that may use it; delete it if it is nobody's", t))
	}
	return errors.Join(errs...)
}

// depart removes this run's entry from the registry, unless another run has removed it.
func (r *registration) depart(ch *amqp091.Channel, all reading) error {
	if all.own == nil {
		return nil
	}
	err := errors.Join(all.own.Ack(false), ch.Close())
	if len(all.others) == 0 && !all.alien {
		_ = r.removeUnused([]thing{{Queue: r.registry}}, true) // deletes the registry unless it is used
	}
	return err
}
