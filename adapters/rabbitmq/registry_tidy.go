package rabbitmq

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/stress"
)

// run is another run in the registry.
type run struct {
	entry
	got amqp091.Delivery // its entry, which is ours until it is acknowledged or the channel closed
}

// reading is what is in the registry, which nobody else sees until the channel is closed.
type reading struct {
	others []run
	own    *amqp091.Delivery
	alien  bool // there are messages that are no entries
}

// runs are all in the registry.
func (r *registration) runs(ch *amqp091.Channel) (all reading, err error) {
	for {
		got, ok, err := ch.Get(r.registry, false)
		if err != nil || !ok {
			return all, err
		}
		var e entry
		switch err := json.Unmarshal(got.Body, &e); {
		case err != nil || e.Lockproof != entryFormat || !stress.IsPrefix(e.Mark):
			all.alien = true
		case e.Mark == r.Mark:
			all.own = &got
		default:
			all.others = append(all.others, run{e, got})
		}
	}
}

// tidy deletes what dead runs have left.
func (r *registration) tidy(ctx context.Context, found *Tidied) error {
	ch, err := r.conn.Channel()
	if err != nil {
		return err
	}
	defer ch.Close() // entries that stay are put back
	all, err := r.runs(ch)
	if err != nil {
		return err
	}
	found.Left = append(found.Left, r.closeAccounts(&all)...)
	dead := slices.DeleteFunc(slices.Clone(all.others), func(o run) bool { return r.there(o.alive()) })
	if len(dead) == 0 {
		return nil
	}
	sleep(ctx, deadFor)
	dead = slices.DeleteFunc(dead, func(o run) bool { return ctx.Err() != nil || !r.take(o.alive()) })
	var errs []error
	for _, o := range dead {
		left, err := r.retire(o, len(dead) == len(all.others))
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

// retire deletes what a dead run has left, and says what it leaves there for good. alone says that no other run is alive, so
// that nobody uses what carries no mark.
func (r *registration) retire(o run, alone bool) (left []string, err error) {
	marked, unproved, err := r.notedBy(o)
	if err != nil {
		return nil, err
	}
	account, err := accountOf(r.accounts, o.Mark, r.place)
	if err != nil {
		return nil, err
	}
	var proved map[thing]bool
	if account != nil {
		defer account.file.Close()
		if proved, err = account.things(); err != nil {
			return nil, err
		}
	}
	if len(proved) > 0 && !alone {
		err = errors.New("what carries no mark of lockproof's may be used by a run that is alive; the next one that is alone deletes it")
		return nil, errors.Join(r.remove(append(marked, thing{Queue: o.alive()})), err)
	}
	if err := r.remove(append(marked, thing{Queue: o.entry.notes()}, thing{Queue: o.alive()})); err != nil {
		return nil, err
	}
	left = r.removeUnused(slices.Collect(maps.Keys(proved)), true)
	if account != nil {
		err = account.file.Remove()
	}
	return append(left, r.unproved(unproved, proved)...), err
}

// closeAccounts deletes the accounts of ended runs that the registry does not know any more: maybe it is another broker's, so
// that what is there by such a name is nobody's for certain.
func (r *registration) closeAccounts(all *reading) (left []string) {
	files, _ := os.ReadDir(r.accounts)
	for _, f := range files {
		mark := f.Name()
		if !stress.IsPrefix(mark) || mark == r.Mark || slices.ContainsFunc(all.others, func(o run) bool { return o.Mark == mark }) {
			continue
		}
		a, err := accountOf(r.accounts, mark, r.place)
		if err != nil || a == nil {
			continue
		}
		things, err := a.things()
		if err != nil || things == nil {
			_ = a.file.Close()
			continue
		}
		left = append(left, r.unproved(slices.Collect(maps.Keys(things)), nil)...)
		_ = a.file.Remove() // the next run finds it otherwise
	}
	return left
}

// notedBy are the things that a dead run's notes name: those that carry its mark, and others.
func (r *registration) notedBy(o run) (marked, unproved []thing, err error) {
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
			unproved = append(unproved, t)
		}
	}
	return marked, unproved, err
}

// unprovedSaid is how many names of a dead run's that are not proved are looked for and said.
const unprovedSaid = 20

// unproved says which things are there that notes name and no account does.
func (r *registration) unproved(things []thing, proved map[thing]bool) (left []string) {
	said := 0
	for _, t := range things {
		if proved[t] || said == unprovedSaid {
			continue
		}
		said++
		r.mu.Lock()
		if r.exists(t) {
			left = append(left, fmt.Sprintf("%s is left: a run that has ended noted it, and nothing proves that it made it; delete it if it is nobody's", t))
		}
		r.mu.Unlock()
	}
	return left
}

// String is the thing in words.
func (t thing) String() string {
	if t.Queue != "" {
		return fmt.Sprintf("queue %q", t.Queue)
	}
	return fmt.Sprintf("exchange %q", t.Exchange)
}

// read reads notes. They stay until their queue is deleted.
func read(ch *amqp091.Channel, queue string) (left []thing, err error) {
	for {
		got, ok, err := ch.Get(queue, false)
		if err != nil || !ok {
			return left, err
		}
		var t thing
		if json.Unmarshal(got.Body, &t) == nil && t.one() {
			left = append(left, t)
		}
	}
}

// remove deletes things, whether or not they are there, as far as it can.
func (r *registration) remove(things []thing) error {
	return r.delete(things, func(ch *amqp091.Channel, t thing) error {
		if t.Queue == "" {
			return ch.ExchangeDelete(t.Exchange, false, false)
		}
		_, err := ch.QueueDelete(t.Queue, false, false, false)
		return err
	})
}

// removeUnused deletes what nobody uses and, if it has to be so, what is empty. It says what it leaves.
func (r *registration) removeUnused(things []thing, ifEmpty bool) (left []string) {
	for _, t := range things {
		err := r.delete([]thing{t}, func(ch *amqp091.Channel, t thing) error {
			if t.Queue == "" {
				return ch.ExchangeDelete(t.Exchange, true, false)
			}
			_, err := ch.QueueDelete(t.Queue, true, ifEmpty, false)
			return err
		})
		if err != nil {
			left = append(left, err.Error()+"; delete it if it is nobody's")
		}
	}
	return left
}

// delete deletes things in some way.
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
			errs = append(errs, fmt.Errorf("deleting %s: %w; it is left behind", t, err))
		}
	}
	if ch != nil && !ch.IsClosed() {
		errs = append(errs, ch.Close())
	}
	return errors.Join(errs...)
}

// leave deletes what this run has made, and takes it out of the registry, which it deletes if nothing is in it. What it has
// to leave behind, the next run finds.
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
	stays := len(unmarked) > 0 && !alone
	if !stays {
		marked = append(marked, thing{Queue: r.entry.notes()})
	}
	err = errors.Join(err, r.remove(marked))
	if err == nil && !stays {
		err = r.depart(ch, all, unmarked)
	}
	r.mu.Lock()
	r.keepAccount()
	r.mu.Unlock()
	return errors.Join(err, r.unlock(), r.conn.Close())
}

// closeNotes ends the writing of notes, and returns the things that this run may have made.
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

// depart deletes what carries no mark, and all that speaks of this run.
func (r *registration) depart(ch *amqp091.Channel, all reading, unmarked []thing) (err error) {
	if left := r.removeUnused(unmarked, false); len(left) > 0 {
		err = errors.New(strings.Join(left, "; "))
	}
	if r.account != nil {
		err, r.account = errors.Join(err, r.account.file.Remove()), nil
	}
	if all.own == nil { // somebody else has taken it out
		return err
	}
	err = errors.Join(err, all.own.Ack(false), ch.Close())
	if len(all.others) == 0 && !all.alien {
		r.removeUnused([]thing{{Queue: r.registry}}, true) // what is in use stays
	}
	return err
}
