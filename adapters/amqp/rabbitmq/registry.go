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

// If a run of lockproof is killed, its queues and exchanges remain on the broker, and AMQP cannot list queues. Runs on
// a shared broker therefore have a registry there, in which the next run finds what a killed run has left:
//
//  - the queue lockproof.registry has an entry for each run, with the prefix of the run's own queues;
//  - the run's queue "alive" is exclusive to its connection, so it is gone as soon as the run is;
//  - the run's queue "notes" names the queues and exchanges that the run or its clients are about to create.
//
// A run is dead if its queue alive is gone, and still gone after a while. The run that tidies up after it first
// declares that queue as an exclusive queue of its own. Only one run can do that, so two runs never tidy up after the
// same one. A run that loses its connection loses the proof that it is alive, and has to end.
//
// Any user of the broker can write entries and notes. An entry therefore proves its mark by a secret, so that it cannot
// claim names of another program. A note deletes only a name with the mark of its own run. Other names may belong to
// another program by now. They are deleted only by the run that saw them created, and only if they have existed since
// then, no other run is alive, and they have no consumer. Later runs report them and leave them. While a run reads the
// registry, it excludes other runs with an exclusive queue. At the end it deletes the registry if it is empty.

// registryQueue is the queue with an entry for each run.
const registryQueue = "lockproof.registry"

// lockLimit is the maximum time that a run waits for others to release the registry.
const lockLimit = 20 * time.Second

// registerLimit is the maximum time for a run to register. A broker that only sends heartbeats is given up after it.
const registerLimit = 2 * time.Minute

// deadFor is how long a run must appear dead before another run deletes what it has left.
const deadFor = time.Second

// registryHeartbeat is long, so that the broker does not close the connection of a run that stands still, for example
// on a sleeping laptop. If the program ends, the broker notices at once.
const registryHeartbeat = time.Minute

// entry is the message in the registry that stands for a run.
type entry struct {
	Lockproof string    `json:"lockproof"` // format of the entry: entryFormat
	Mark      string    `json:"mark"`      // prefix of the names of the run's own queues
	Secret    string    `json:"secret"`    // proves that the run chose the mark
	Began     time.Time `json:"began"`
}

const entryFormat = "run 2"

func (e *entry) alive() string { return e.Mark + "alive" }
func (e *entry) notes() string { return e.Mark + "notes" }

// thing is a queue or an exchange that a run may leave on a broker. One of its names is "".
type thing struct {
	Queue    string `json:"queue,omitempty"`
	Exchange string `json:"exchange,omitempty"`
}

// marked reports whether the name has the form of lockproof's marks, so that no other program uses it.
func (t thing) marked() bool { return stress.Marked(t.name()) }

// name is the name of the queue or the exchange.
func (t thing) name() string { return cmp.Or(t.Queue, t.Exchange) }

// one reports whether the thing is either a queue or an exchange, and not both.
func (t thing) one() bool { return (t.Queue == "") != (t.Exchange == "") }

// registration is this run's entry in the registry, with its notes.
type registration struct {
	entry
	registry string // name of the registry's queue
	conn     *amqp091.Connection

	mu      sync.Mutex
	notes   *amqp091.Channel
	kept    map[thing]bool // things that this run has noted and that may still exist
	before  map[thing]bool // things that existed before this run, so they are not its own
	noted   int            // number of messages in the queue notes
	closing bool
	lost    error
}

// Tidied says what a run has done about the remains of earlier runs.
type Tidied struct {
	Runs int      // number of dead runs whose things were deleted
	Left []string // things that were not deleted, each with the reason
}

// Register enters this run in the broker's registry, and deletes what dead runs have left. If this process is killed
// before Stop, the next run deletes what is noted. lost is called if the connection to the registry is lost, because
// other runs then take this one for dead.
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

// enter registers the run. It creates the queue alive first, then the entry, then the queue notes.
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

// watch calls lost when the connection ends, unless this run has closed it.
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

// cmpError is the reason why a connection was closed, or a general error if the broker gave none.
func cmpError(why *amqp091.Error) error {
	if why == nil {
		return amqp091.ErrClosed
	}
	return why
}

// note writes a note about a thing that is about to be created, unless the thing existed before. The note is written to
// the socket before note returns. If the caller creates the thing only after that, the broker receives the note first,
// even if this process is killed in between.
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

// notesKept is the number of outdated notes on the broker beyond which the notes are rewritten.
const notesKept = 1000

// write writes a note to the broker. If that fails, the connection is lost, and the run ends. The caller must hold mu.
func (r *registration) write(t thing) {
	body, err := json.Marshal(t)
	if err == nil && r.notes.Publish("", r.entry.notes(), false, false, message(body)) == nil {
		r.noted++
	}
}

// rewrite writes a note for each thing that may exist, and then deletes the older notes. The caller must hold mu.
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

// exists reports whether a thing exists on the broker. It is true if that cannot be found out. The caller must hold mu.
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

// forget records that queues are gone, so that this run does not delete them later: another program may create queues
// of these names. Their notes on the broker do no harm.
func (r *registration) forget(queues []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, q := range queues {
		delete(r.kept, thing{Queue: q})
	}
}

// Note registers a queue or an exchange that is about to be created. This run deletes it at the end or, if it is
// killed, the next run does. A queue or exchange that already exists is not registered.
func (b *Broker) Note(queue, exchange string) {
	if r := b.registration(); r != nil {
		r.note(thing{queue, exchange})
	}
}

// Forget removes deleted queues from those that this run has to delete.
func (b *Broker) Forget(queues []string) {
	if r := b.registration(); r != nil {
		r.forget(queues)
	}
}

// registration is this run's registration on the broker; nil if there is none.
func (b *Broker) registration() *registration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.registered
}

// Prefix is a new prefix for names of queues. If this run is registered, it begins with the run's mark, by which other
// runs recognise the owner.
func (b *Broker) Prefix() string {
	if r := b.registration(); r != nil {
		return r.Mark + strings.ToLower(rand.Text()[:6]) + "."
	}
	return stress.Prefix()
}

// ours reports whether this run may delete a queue: its name is marked, the run has noted it, or the broker was started
// by this run.
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
