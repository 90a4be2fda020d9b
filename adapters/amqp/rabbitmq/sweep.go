package rabbitmq

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lockproof/lockproof/model/amqp"
)

// sweepLimit is the maximum time for deleting a run's queues.
const sweepLimit = 20 * time.Second

// Sweep deletes queues of this run, given by name, whether they exist or not. It waits for exclusive queues whose
// connections were just cut. It skips a queue that has no mark and that this run has not noted.
func (b *Broker) Sweep(queues []string) error {
	queues = slices.DeleteFunc(slices.Clone(queues), func(q string) bool { return !b.ours(q) })
	names := new(amqp.Names)
	numbers := make([]amqp.Queue, len(queues))
	for i, name := range queues {
		numbers[i] = names.Intern(name)
	}
	return b.sweep(names, numbers)
}

// note registers queues that are about to be created.
func (b *Broker) note(names *amqp.Names, queues []amqp.Queue) {
	for _, q := range queues {
		b.Note(names.Name(q), "")
	}
}

// sweep deletes queues, whether they exist or not, and forgets their notes.
func (b *Broker) sweep(names *amqp.Names, queues []amqp.Queue) error {
	if err := sweep(b.URL, names, queues); err != nil {
		return err
	}
	for _, q := range queues {
		b.Forget([]string{names.Name(q)})
	}
	return nil
}

// sweep deletes queues, whether they exist or not. It waits for exclusive queues whose connections were just cut.
func sweep(url string, names *amqp.Names, queues []amqp.Queue) error {
	ctx, cancel := context.WithTimeout(context.Background(), sweepLimit)
	defer cancel()
	o, err := newObserver(ctx, url, names)
	if err != nil {
		return fmt.Errorf("deleting the queues of a run: %w", err)
	}
	defer o.Close()
	for _, q := range queues {
		for {
			r := o.ask(amqp.Command{Method: amqp.QueueDelete, Queue: q, Flags: unlessUsed(names.Name(q))})
			if r.Kind == amqp.OK {
				break
			}
			if r.Code != amqp.ResourceLocked && r.Code != amqp.PreconditionFailed || ctx.Err() != nil {
				return fmt.Errorf("deleting queue %q: got %s; it is left behind: delete it if nobody else uses it", names.Name(q), r)
			}
			if err := o.ready(); err != nil {
				return err
			}
			sleep(ctx, pollPause)
		}
	}
	return nil
}

// unlessUsed is the flag for deleting a queue: 0 if the queue has lockproof's mark, otherwise if-unused. This run's
// clients have ended, so a remaining consumer of an unmarked queue belongs to another program.
func unlessUsed(queue string) amqp.Flags {
	if (thing{Queue: queue}).marked() {
		return 0
	}
	return amqp.IfUnused
}
