package rabbitmq

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/bound"
	"github.com/lockproof/lockproof/adapters/stress"
)

// A killed run leaves its things on the broker. AMQP does not list queues. Therefore runs on a shared broker keep a registry
// there, in which the next run finds the things of a killed one:
//
//  - the queue lockproof.registry has an entry for each run, with the prefix of the run's own queues;
//  - the run's queue "alive" is exclusive to its connection, so it is gone as soon as the run is;
//  - the run's queue "notes" names the queues and exchanges that the run or its clients are about to create, before they do.
//
// A run is dead if its queue alive is gone, and still gone after a while. Only one run can declare that name, so two runs
// never tidy up after the same one. A run that loses its connection loses the proof that it is alive, and has to end.
//
// Any user of the broker can write an entry and notes. Therefore an entry proves its mark by a secret, so that it cannot
// claim names of another program; and a note deletes only a name with the mark of its own run. Other names may belong to
// another program by now. Only the run that saw them created deletes them: if they have existed since then, no other run is
// alive, and they have no consumer. Later runs leave them, and report them. While a run reads the registry, it excludes
// other runs with an exclusive queue. At the end it deletes the registry if it is empty.

// registryQueue has an entry for each run.
const registryQueue = "lockproof.registry"

// lockLimit is the maximum time that a run waits for others to release the registry.
const lockLimit = 20 * time.Second

// registerLimit is the maximum time for the broker to answer everything that a run asks before it begins, even if its
// heartbeats arrive.
const registerLimit = 2 * time.Minute

// deadFor is how long a run must look dead before another one tidies up after it.
const deadFor = time.Second

// registryHeartbeat is long, so that the broker waits for a run that stands still, for example on a sleeping laptop. The
// broker notices the connection of an ended program at once.
const registryHeartbeat = time.Minute

// entry is a run in the registry.
type entry struct {
	Lockproof string    `json:"lockproof"` // entryFormat
	Mark      string    `json:"mark"`      // prefix of the names of the run's own queues
	Secret    string    `json:"secret"`    // secret that proves the mark
	Began     time.Time `json:"began"`
}

const entryFormat = "run 2"

func (e *entry) alive() string { return e.Mark + "alive" }
func (e *entry) notes() string { return e.Mark + "notes" }

// thing is something that can be left on a broker: a queue or an exchange.
type thing struct {
	Queue    string `json:"queue,omitempty"`
	Exchange string `json:"exchange,omitempty"`
}

// marked reports whether the thing can only be lockproof's.
func (t thing) marked() bool { return stress.Marked(t.name()) }

// name is the name of the thing.
func (t thing) name() string { return cmp.Or(t.Queue, t.Exchange) }

// one reports whether the thing is either a queue or an exchange, and not both.
func (t thing) one() bool { return (t.Queue == "") != (t.Exchange == "") }

// registration is this run's membership of the registry.
type registration struct {
	entry
	registry string // name of the queue
	conn     *amqp091.Connection

	mu      sync.Mutex
	notes   *amqp091.Channel
	kept    map[thing]bool // things that this run may have left
	before  map[thing]bool // things that existed before
	noted   int            // number of notes on the broker
	closing bool
	lost    error
}

// Tidied is what a run has found of earlier runs.
type Tidied struct {
	Runs int      // dead runs that it tidied up after
	Left []string // what it did not delete, with the reasons, as text
}

// Register enters this run in the registry of the broker, and tidies up after runs that are dead. If this process is killed
// before Stop, the next run deletes what is noted. lost is called if the run must end because the broker takes it for dead.
func (b *Broker) Register(ctx context.Context, lost func(error)) (found Tidied, err error) {
	mark, secret := stress.Proof()
	r := &registration{
		entry: entry{entryFormat, mark, secret, time.Now().UTC()}, registry: cmp.Or(b.registry, registryQueue),
		kept: make(map[thing]bool), before: make(map[thing]bool),
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("keeping account on the broker of what is made there: %w", err)
		}
	}()
	if r.conn, err = open(ctx, b.URL, amqp091.Config{Heartbeat: registryHeartbeat, FrameSize: frameSize}); err != nil {
		return found, err
	}
	hurry := time.AfterFunc(registerLimit, func() { _ = r.conn.CloseDeadline(time.Now().Add(greetLimit)) })
	defer func() {
		if !hurry.Stop() && err != nil {
			err = fmt.Errorf("the broker has not answered within %v: %w: %w", registerLimit, bound.ErrServer, err)
		}
	}()
	if err := r.lock(ctx); err != nil {
		return found, errors.Join(err, r.conn.Close())
	}
	defer func() { err = errors.Join(err, r.unlock()) }()
	if err := r.enter(ctx); err != nil {
		return found, errors.Join(err, r.conn.Close())
	}
	go r.watch(lost)
	b.mu.Lock()
	b.registered = r
	b.mu.Unlock()
	return found, r.tidy(ctx, &found)
}

// lock prevents other runs of lockproof from reading or deleting the registry until unlock.
func (r *registration) lock(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lockLimit)
	defer cancel()
	for !r.take(r.lockQueue()) {
		if r.conn.IsClosed() {
			return amqp091.ErrClosed
		}
		if ctx.Err() != nil {
			return fmt.Errorf("waiting for queue %s, which another run has to itself: %w; try again when it has ended", r.lockQueue(), ctx.Err())
		}
		sleep(ctx, 20*pollPause)
	}
	return nil
}

// unlock releases the registry. A closed connection has released it already.
func (r *registration) unlock() error {
	if r.conn.IsClosed() {
		return nil
	}
	return r.remove([]thing{{Queue: r.lockQueue()}})
}

func (r *registration) lockQueue() string { return r.registry + ".lock" }

// enter makes the entry. It creates the queue alive first, and the queue notes last.
func (r *registration) enter(ctx context.Context) (err error) {
	if r.notes, err = r.conn.Channel(); err != nil {
		return err
	}
	if _, err = r.notes.QueueDeclare(r.alive(), false, false, true, false, nil); err != nil {
		return err
	}
	if err = r.publishEntry(ctx); err != nil {
		return err
	}
	_, err = r.notes.QueueDeclare(r.entry.notes(), true, false, false, false, nil)
	return err
}

// publishEntry writes the entry, and waits until the broker has confirmed it.
func (r *registration) publishEntry(ctx context.Context) error {
	ch, err := r.conn.Channel()
	if err != nil {
		return err
	}
	defer ch.Close()
	if _, err := ch.QueueDeclare(r.registry, true, false, false, false, nil); err != nil {
		return err
	}
	if err := ch.Confirm(false); err != nil {
		return err
	}
	body, err := json.Marshal(r.entry)
	if err != nil {
		return err
	}
	confirm, err := ch.PublishWithDeferredConfirmWithContext(ctx, "", r.registry, false, false, message(body))
	if err != nil {
		return err
	}
	if ok, err := confirm.WaitContext(ctx); err != nil || !ok {
		return errors.Join(errors.New("the broker did not take the entry"), err)
	}
	return nil
}

func message(body []byte) amqp091.Publishing {
	return amqp091.Publishing{DeliveryMode: amqp091.Persistent, ContentType: "application/json", Body: body}
}

// watch reports the loss of the connection.
func (r *registration) watch(lost func(error)) {
	why := <-r.conn.NotifyClose(make(chan *amqp091.Error, 1))
	r.mu.Lock()
	closing := r.closing
	if !closing {
		r.lost = fmt.Errorf("the broker took this run for dead, so that another may tidy up after it: %w; run it again", cmpError(why))
	}
	err := r.lost
	r.mu.Unlock()
	if !closing {
		lost(err)
	}
}

// cmpError is the reason why a connection was closed, if one was given.
func cmpError(why *amqp091.Error) error {
	if why == nil {
		return amqp091.ErrClosed
	}
	return why
}

// note notes a thing that is about to be created, unless it existed before. The broker receives the note before anything
// that is written to it after note returns, as far as the writes of a killed program arrive at all.
func (r *registration) note(t thing) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept[t] || r.before[t] {
		return
	}
	if !t.marked() && r.exists(t) {
		r.before[t] = true
		return
	}
	r.kept[t] = true
	r.write(t)
	if r.noted > 2*len(r.kept)+notesKept {
		r.rewrite()
	}
}

// notesKept is the number of notes about deleted things that are tolerated before rewriting.
const notesKept = 1000

// write writes a note. A failure means that the connection is lost, and the run ends. mu is held.
func (r *registration) write(t thing) {
	body, err := json.Marshal(t)
	if err == nil && r.notes.Publish("", r.entry.notes(), false, false, message(body)) == nil {
		r.noted++
	}
}

// rewrite writes notes of everything that may exist, and deletes older notes. mu is held.
func (r *registration) rewrite() {
	older := r.noted
	for t := range r.kept {
		r.write(t)
	}
	for range older {
		if _, ok, err := r.notes.Get(r.entry.notes(), true); err != nil || !ok {
			return
		}
		r.noted--
	}
}

// exists reports whether a thing exists, as far as known. mu is held.
func (r *registration) exists(t thing) bool {
	ch, err := r.conn.Channel()
	if err != nil {
		return true
	}
	defer ch.Close()
	if t.Queue != "" {
		_, err = ch.QueueDeclarePassive(t.Queue, false, false, false, false, nil)
	} else {
		err = ch.ExchangeDeclarePassive(t.Exchange, "direct", false, false, false, false, nil)
	}
	var closed *amqp091.Error
	return !errors.As(err, &closed) || closed.Code != amqp091.NotFound
}

// forget removes notes of things that are gone, as others may create things with those names from now on. Notes that stay on
// the broker do no harm.
func (r *registration) forget(queues []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, q := range queues {
		delete(r.kept, thing{Queue: q})
	}
}

// Note registers a queue or an exchange before it is created, so that this run or the next one deletes it at the end. An
// existing one is not registered.
func (b *Broker) Note(queue, exchange string) {
	if r := b.registration(); r != nil {
		r.note(thing{queue, exchange})
	}
}

// Forget removes queues that are known to be gone.
func (b *Broker) Forget(queues []string) {
	if r := b.registration(); r != nil {
		r.forget(queues)
	}
}

// registration is this run's registration on the broker, nil if there is none.
func (b *Broker) registration() *registration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.registered
}

// Prefix begins the names of a set of queues on the broker. If the broker has a registry, the prefix is this run's mark, by
// which other runs know the owner.
func (b *Broker) Prefix() string {
	if r := b.registration(); r != nil {
		return r.Mark + strings.ToLower(rand.Text()[:6]) + "."
	}
	return stress.Prefix()
}

// ours reports whether this run created a queue that clients have declared. A broker of our own has no other users.
func (b *Broker) ours(queue string) bool {
	t := thing{Queue: queue}
	if t.marked() || b.CanRestart() {
		return true
	}
	r := b.registration()
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.kept[t]
}
