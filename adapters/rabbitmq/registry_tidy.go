package rabbitmq

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// run is another run in the registry.
type run struct {
	entry
	got amqp091.Delivery // its entry, which is ours until it is acknowledged or the channel closed
}

// runs are all others in the registry, which nobody else sees until the channel is closed, and our own entry.
func (r *registration) runs(ch *amqp091.Channel) (others []run, own *amqp091.Delivery, err error) {
	for {
		got, ok, err := ch.Get(r.registry, false)
		if err != nil || !ok {
			return others, own, err
		}
		var e entry
		switch json.Unmarshal(got.Body, &e); {
		case e.Mark == r.Mark:
			own = &got
		case e.Lockproof == entryFormat && stillMarked(e.Mark):
			others = append(others, run{e, got})
		}
	}
}

// stillMarked reports whether a mark is one: what is deleted by it must be lockproof's.
func stillMarked(mark string) bool { return thing{Queue: mark}.marked() }

// tidy deletes what dead runs have left, and returns how many they were.
func (r *registration) tidy(ctx context.Context) (tidied int, err error) {
	ch, err := r.conn.Channel()
	if err != nil {
		return 0, err
	}
	defer ch.Close() // entries that stay are put back
	all, _, err := r.runs(ch)
	if err != nil {
		return 0, err
	}
	dead := slices.DeleteFunc(slices.Clone(all), func(o run) bool { return r.there(o.alive()) })
	if len(dead) == 0 {
		return 0, nil
	}
	sleep(ctx, deadFor)
	dead = slices.DeleteFunc(dead, func(o run) bool { return ctx.Err() != nil || !r.take(o.alive()) })
	var errs []error
	for _, o := range dead {
		if err := r.retire(o, len(dead) == len(all)); err != nil {
			errs = append(errs, fmt.Errorf("tidying up after the run of %s: %w", o.Began.Format(time.DateTime), err))
			continue
		}
		errs = append(errs, o.got.Ack(false))
		tidied++
	}
	return tidied, errors.Join(errs...)
}

// there reports whether a queue is there, whoever has it.
func (r *registration) there(queue string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.exists(thing{Queue: queue})
}

// take declares a queue that is to be ours alone, and is false where it is somebody else's.
func (r *registration) take(queue string) bool {
	ch, err := r.conn.Channel()
	if err != nil {
		return false
	}
	defer ch.Close()
	_, err = ch.QueueDeclare(queue, false, false, true, false, nil)
	return err == nil
}

// retire deletes what a dead run has left. alone says that no other run is alive, so that nobody uses what carries no mark.
func (r *registration) retire(o run, alone bool) error {
	notes, err := r.conn.Channel()
	if err != nil {
		return err
	}
	defer notes.Close()
	var left []thing
	if r.there(o.notes()) {
		if left, err = read(notes, o.notes()); err != nil {
			return err
		}
	}
	stays := slices.ContainsFunc(left, func(t thing) bool { return !t.marked() }) && !alone
	if stays {
		left = slices.DeleteFunc(left, func(t thing) bool { return !t.marked() })
	} else {
		left = append(left, thing{Queue: o.notes()})
	}
	err = r.remove(append(left, thing{Queue: o.alive()}))
	if err == nil && stays {
		err = errors.New("what carries no mark of lockproof's may be used by a run that is alive; the next one that is alone deletes it")
	}
	return err
}

// read reads notes. They stay until their queue is deleted.
func read(ch *amqp091.Channel, queue string) (left []thing, err error) {
	for {
		got, ok, err := ch.Get(queue, false)
		if err != nil || !ok {
			return left, err
		}
		var t thing
		if json.Unmarshal(got.Body, &t) == nil && t != (thing{}) {
			left = append(left, t)
		}
	}
}

// remove deletes things, whether or not they are there, as far as it can.
func (r *registration) remove(things []thing) error {
	var errs []error
	var ch *amqp091.Channel
	for _, t := range things {
		var err error
		if ch == nil || ch.IsClosed() {
			if ch, err = r.conn.Channel(); err != nil {
				return errors.Join(append(errs, err)...)
			}
		}
		if t.Queue != "" {
			_, err = ch.QueueDelete(t.Queue, false, false, false)
		} else {
			err = ch.ExchangeDelete(t.Exchange, false, false)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("deleting %s: %w; it is left behind", t.Queue+t.Exchange, err))
		}
	}
	if ch != nil {
		errs = append(errs, ch.Close())
	}
	return errors.Join(errs...)
}

// leave deletes what this run has made, and takes it out of the registry. What it has to leave behind, the next run finds.
func (r *registration) leave() error {
	r.mu.Lock()
	r.closing = r.lost == nil
	lost := r.lost
	var left []thing
	for t := range r.kept {
		left = append(left, t)
	}
	r.mu.Unlock()
	if lost != nil {
		return lost
	}
	ch, err := r.conn.Channel()
	if err != nil {
		return errors.Join(err, r.conn.Close())
	}
	others, own, err := r.runs(ch)
	if err == nil && slices.ContainsFunc(left, func(t thing) bool { return !t.marked() }) && slices.ContainsFunc(others, func(o run) bool { return r.there(o.alive()) }) {
		left, own = slices.DeleteFunc(left, func(t thing) bool { return !t.marked() }), nil
	} else {
		left = append(left, thing{Queue: r.entry.notes()})
	}
	if err == nil {
		err = r.remove(left)
	}
	if err == nil && own != nil {
		err = own.Ack(false)
	}
	return errors.Join(err, ch.Close(), r.conn.Close())
}
