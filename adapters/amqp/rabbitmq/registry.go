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

// A killed run leaves its things on the broker. AMQP does not list queues, so runs on a shared broker keep a registry
// there, by which the next run finds the things of a killed one:
//
//   - the queue lockproof.registry has an entry for each run, with the prefix of the run's own queues;
//   - the run's queue "alive" is exclusive to its connection, so it is gone as soon as the run is;
//   - its queue "notes" names the queues and exchanges that the run or its clients are about to make, before they do.
//
// A run is dead if its queue alive is gone, and still gone after a while. The run that can declare that name has it
// alone, so two runs never tidy up after the same one. A run that loses its connection loses the proof that it lives,
// and has to end.
//
// Any user of the broker can write an entry and notes. An entry therefore proves its mark by a secret, so that it claims
// no name of another program, and a note deletes only a name with the mark of its own run. Other names may belong to
// another program by now. Only the run that saw them made deletes them: if they have existed since then, no other run is
// alive, and nobody consumes. Later runs leave them and say so. A run has the registry to itself by an exclusive queue
// while it reads it, and deletes it if it is empty at the end.

// registryQueue has an entry for each run.
const registryQueue = "lockproof.registry"

// lockLimit is how long a run waits for others to let go of the registry.
const lockLimit = 20 * time.Second

// registerLimit is how long the broker may take to answer all that a run asks before it begins, whatever its heart beats.
const registerLimit = 2 * time.Minute

// deadFor is how long a run must seem dead before another one tidies up after it.
const deadFor = time.Second

// registryHeartbeat has the broker wait long for a run that stands still, such as on a laptop that sleeps. A connection
// whose program has ended it notices at once.
const registryHeartbeat = time.Minute

// entry is a run in the registry.
type entry struct {
	Lockproof string    `json:"lockproof"` // entryFormat
	Mark      string    `json:"mark"`      // what the run's own queues' names begin with
	Secret    string    `json:"secret"`    // of the mark
	Began     time.Time `json:"began"`
}

const entryFormat = "run 2"

func (e *entry) alive() string { return e.Mark + "alive" }
func (e *entry) notes() string { return e.Mark + "notes" }

// thing is what can be left on a broker: one of the two.
type thing struct {
	Queue    string `json:"queue,omitempty"`
	Exchange string `json:"exchange,omitempty"`
}

// marked reports whether the thing can be nobody's but lockproof's.
func (t thing) marked() bool { return stress.Marked(t.name()) }

// name is what the thing is called.
func (t thing) name() string { return cmp.Or(t.Queue, t.Exchange) }

// one reports whether it is one thing: a queue or an exchange.
func (t thing) one() bool { return (t.Queue == "") != (t.Exchange == "") }

// registration is this run in the registry.
type registration struct {
	entry
	registry string // the queue
	conn     *amqp091.Connection

	mu      sync.Mutex
	notes   *amqp091.Channel
	kept    map[thing]bool // that may be there, by our doing
	before  map[thing]bool // that were there before
	noted   int            // notes on the broker
	closing bool
	lost    error
}

// Tidied is what a run has found of those before it.
type Tidied struct {
	Runs int      // dead runs that were tidied up after
	Left []string // what was not deleted, and why, for people to read
}

// Register enters this run in the registry of the broker and tidies up after runs that are dead. Until Stop, what is noted
// is deleted by whoever comes next, should we be killed. lost is called if the run must end: the broker takes it for dead.
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

// lock has no other run of lockproof's read or delete the registry until unlock.
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

// unlock lets others have the registry. A connection that is closed has let go of it.
func (r *registration) unlock() error {
	if r.conn.IsClosed() {
		return nil
	}
	return r.remove([]thing{{Queue: r.lockQueue()}})
}

func (r *registration) lockQueue() string { return r.registry + ".lock" }

// enter makes the entry: first what proves that we live, last what names are noted in.
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

// publishEntry writes the entry, and waits until the broker has it.
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

// watch tells of the loss of the connection.
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

// cmpError is why a connection was closed, where that was said.
func cmpError(why *amqp091.Error) error {
	if why == nil {
		return amqp091.ErrClosed
	}
	return why
}

// note writes down a thing that is about to be made, unless it was there before. The broker has the note before it has
// whatever is written to it after this returns, as far as a killed program's words reach it at all.
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

// notesKept is how many notes of what is gone are not worth throwing away.
const notesKept = 1000

// write writes a note. A failure means that the connection is lost, and the run ends. The caller holds mu.
func (r *registration) write(t thing) {
	body, err := json.Marshal(t)
	if err == nil && r.notes.Publish("", r.entry.notes(), false, false, message(body)) == nil {
		r.noted++
	}
}

// rewrite notes what there may be anew, and throws older notes away. mu is held.
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

// exists reports whether a thing is there, as far as can be told. mu is held.
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

// forget takes back notes of things that are gone: others may make what has such a name from now on. Notes that are left on
// the broker do no harm.
func (r *registration) forget(queues []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, q := range queues {
		delete(r.kept, thing{Queue: q})
	}
}

// Note registers a queue or an exchange before it is made, so that this run or the next one deletes it at the end. An
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

// registration is this run in the broker's registry, nil where it is in none.
func (b *Broker) registration() *registration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.registered
}

// Prefix begins the names of a set of queues on the broker. If the broker has a registry, it is this run's mark, by
// which other runs know the owner.
func (b *Broker) Prefix() string {
	if r := b.registration(); r != nil {
		return r.Mark + strings.ToLower(rand.Text()[:6]) + "."
	}
	return stress.Prefix()
}

// ours reports whether this run made a queue that clients have declared. A broker of our own has no other users.
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
