package rabbitmq_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
)

// registryTest is a broker on which runs use a registry queue of the test's own. conn checks what is on the broker.
type registryTest struct {
	t        *testing.T
	url      string
	registry string
	conn     *amqp091.Connection
}

func newRegistryTest(t *testing.T) *registryTest {
	url := rabbitmqtest.URL(t)
	conn, err := amqp091.Dial(url)
	if err != nil {
		t.Fatal(err)
	}
	r := &registryTest{t, url, stress.Prefix() + "registry", conn}
	t.Cleanup(func() {
		r.do(func(ch *amqp091.Channel) error { _, err := ch.QueueDelete(r.registry, false, false, false); return err })
		conn.Close()
	})
	return r
}

func (r *registryTest) do(what func(*amqp091.Channel) error) error {
	ch, err := r.conn.Channel()
	if err != nil {
		r.t.Fatal(err)
	}
	defer ch.Close()
	return what(ch)
}

// register registers a run on the broker at url. It returns how many dead runs that run has tidied up after. It fails
// the test if the run could not delete everything that they left.
func (r *registryTest) register(url string, lost func(error)) (b *rabbitmq.Broker, tidied int) {
	r.t.Helper()
	b, found := r.find(url, lost)
	if len(found.Left) > 0 {
		r.t.Errorf("left: %q", found.Left)
	}
	return b, found.Runs
}

// find registers a run on the broker at url, and returns what it has done about the remains of earlier runs.
func (r *registryTest) find(url string, lost func(error)) (b *rabbitmq.Broker, found rabbitmq.Tidied) {
	r.t.Helper()
	b = (&rabbitmq.Broker{URL: url}).InRegistry(r.registry)
	found, err := b.Register(r.t.Context(), lost)
	if err != nil {
		r.t.Fatal(err)
	}
	return b, found
}

func (r *registryTest) stop(b *rabbitmq.Broker) {
	r.t.Helper()
	if err := b.Stop(); err != nil {
		r.t.Error(err)
	}
}

func (r *registryTest) declare(queue string) {
	r.t.Helper()
	if err := r.do(func(ch *amqp091.Channel) error {
		_, err := ch.QueueDeclare(queue, true, false, false, false, nil)
		return err
	}); err != nil {
		r.t.Fatal(err)
	}
}

// exists reports whether a queue or, if queue is "", an exchange exists.
func (r *registryTest) exists(queue, exchange string) bool {
	r.t.Helper()
	err := r.do(func(ch *amqp091.Channel) (err error) {
		if queue != "" {
			_, err = ch.QueueDeclarePassive(queue, false, false, false, false, nil)
		} else {
			err = ch.ExchangeDeclarePassive(exchange, "fanout", false, false, false, false, nil)
		}
		return err
	})
	var closed *amqp091.Error
	if err != nil && (!errors.As(err, &closed) || closed.Code != amqp091.NotFound) {
		r.t.Fatal(err)
	}
	return err == nil
}

// entries is the number of entries in the registry, except those that a run is just reading.
func (r *registryTest) entries() (n int) {
	r.t.Helper()
	if err := r.do(func(ch *amqp091.Channel) error {
		q, err := ch.QueueDeclarePassive(r.registry, false, false, false, false, nil)
		n = q.Messages
		return err
	}); err != nil {
		var closed *amqp091.Error
		if !errors.As(err, &closed) || closed.Code != amqp091.NotFound {
			r.t.Fatal(err)
		}
	}
	return n
}

// A run deletes what a killed run has left. It does not delete what belongs to a live run, or what existed before.
func TestRegistryTidies(t *testing.T) {
	t.Parallel()
	r := newRegistryTest(t)
	proxy, err := wire.ProxyTo(r.url)
	if err != nil {
		t.Fatal(err)
	}
	server, err := wire.Listen("127.0.0.1:0", wire.Config{Backend: proxy})
	if err != nil {
		t.Fatal(err)
	}
	url, err := server.URLFor(r.url)
	if err != nil {
		t.Fatal(err)
	}
	lost := make(chan error, 1)
	killed, _ := r.register(url, func(err error) { lost <- err })
	alive, tidied := r.register(r.url, func(err error) { t.Error(err) })
	if tidied != 0 {
		t.Errorf("tidied up after %d runs, of which none is dead", tidied)
	}
	left, exchange, kept, theirs := killed.Prefix()+"left", killed.Prefix()+"exchange", alive.Prefix()+"kept", "theirs."+r.registry[10:40]
	r.declare(theirs)
	defer r.do(func(ch *amqp091.Channel) error { _, err := ch.QueueDelete(theirs, false, false, false); return err })
	killed.Note(left, "")
	killed.Note("", exchange)
	killed.Note(theirs, "")
	alive.Note(kept, "")
	r.declare(left)
	r.declare(kept)
	if err := r.do(func(ch *amqp091.Channel) error {
		return ch.ExchangeDeclare(exchange, "fanout", true, false, false, false, nil)
	}); err != nil {
		t.Fatal(err)
	}
	server.Close() // as the kernel closes a killed program's sockets
	if err := <-lost; err == nil || killed.Stop() == nil {
		t.Error("a run that the broker takes for dead is not told")
	}

	next, tidied := r.register(r.url, func(err error) { t.Error(err) })
	if tidied != 1 || r.exists(left, "") || r.exists("", exchange) || !r.exists(kept, "") || !r.exists(theirs, "") {
		t.Errorf("tidied up after %d runs; left %v, exchange %v, kept %v, theirs %v", tidied, r.exists(left, ""), r.exists("", exchange), r.exists(kept, ""), r.exists(theirs, ""))
	}
	r.stop(next)
	r.stop(alive)
	if r.exists(kept, "") || r.entries() != 0 {
		t.Errorf("runs that have ended leave %d entries; kept %v", r.entries(), r.exists(kept, ""))
	}
}

// A queue without a mark is deleted only by the run that saw it created, and only if no other run is alive. Later runs
// leave it.
func TestRegistryUnmarked(t *testing.T) {
	t.Parallel()
	r := newRegistryTest(t)
	first, _ := r.register(r.url, func(error) {})
	second, _ := r.register(r.url, func(error) {})
	both, own := "both."+r.registry[10:40], "own."+r.registry[10:40]
	defer r.do(func(ch *amqp091.Channel) error { _, err := ch.QueueDelete(both, false, false, false); return err })
	first.Note(both, "")
	r.declare(both)
	second.Note(both, "")
	second.Note(own, "")
	r.declare(own)
	if err := first.Stop(); err == nil || !strings.Contains(err.Error(), both) || !r.exists(both, "") {
		t.Fatalf("deleted while another run uses it, or not said: %v", err)
	}
	if err := second.Sweep([]string{both}); err != nil || !r.exists(both, "") {
		t.Errorf("deleted by who has not made it: %v", err)
	}
	r.stop(second)
	if r.exists(own, "") {
		t.Error("left by the run that has made it and is alone")
	}
	third, tidied := r.register(r.url, func(error) {})
	if tidied != 0 || !r.exists(both, "") {
		t.Errorf("tidied up after %d runs, exists %v", tidied, r.exists(both, ""))
	}
	r.stop(third)
	if n := r.entries(); n != 0 {
		t.Errorf("%d entries are left", n)
	}
}

// A queue without a mark that a killed run has created is reported and not deleted: another program may have deleted
// and created it since.
func TestRegistryMadeAnew(t *testing.T) {
	t.Parallel()
	r := newRegistryTest(t)
	killed, _ := r.register(r.url, func(error) {})
	name := "fixed." + r.registry[10:40]
	killed.Note(name, "")
	r.declare(name)
	killed.Drop()
	if err := r.do(func(ch *amqp091.Channel) error { _, err := ch.QueueDelete(name, false, false, false); return err }); err != nil {
		t.Fatal(err)
	}
	r.declare(name) // another program's queue
	defer r.do(func(ch *amqp091.Channel) error { _, err := ch.QueueDelete(name, false, false, false); return err })
	next, found := r.find(r.url, func(error) {})
	if !r.exists(name, "") || found.Runs != 1 || len(found.Left) != 1 || !strings.Contains(found.Left[0], name) {
		t.Errorf("there %v, tidied up after %d runs, left %q", r.exists(name, ""), found.Runs, found.Left)
	}
	r.stop(next)
	if n := r.entries(); n != 0 || !r.exists(name, "") {
		t.Errorf("%d entries are left; there %v", n, r.exists(name, ""))
	}
}

// Notes of deleted queues do not accumulate on the broker.
func TestRegistryForgets(t *testing.T) {
	t.Parallel()
	r := newRegistryTest(t)
	b, _ := r.register(r.url, func(error) {})
	stays := stress.Prefix() + "stays"
	b.Note(stays, "")
	r.declare(stays)
	prefix := stress.Prefix()
	for i := range 2500 {
		name := prefix + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676))
		b.Note(name, "")
		b.Forget([]string{name})
	}
	if n := b.Noted(); n == 0 || n > 1100 {
		t.Errorf("%d notes of one queue that is there", n)
	}
	r.stop(b)
	if r.exists(stays, "") {
		t.Error("a queue is left that was noted before the others")
	}
}

// publish sends a message to a queue.
func (r *registryTest) publish(queue string, body any) {
	r.t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.do(func(ch *amqp091.Channel) error {
		if err := ch.Confirm(false); err != nil {
			return err
		}
		c, err := ch.PublishWithDeferredConfirm("", queue, false, false, amqp091.Publishing{Body: data})
		if err == nil {
			c.Wait()
		}
		return err
	}); err != nil {
		r.t.Fatal(err)
	}
}

// Forged notes delete only names with the mark of their own, ended run. The other names are left, and reported once.
func TestRegistryForged(t *testing.T) {
	t.Parallel()
	r := newRegistryTest(t)
	theirs, alive := "theirs."+r.registry[10:40], stress.Prefix()+"jobs-1-A"
	forged, secret := stress.Proof()
	unproved := stress.Prefix()
	for _, q := range []string{theirs, alive, r.registry, forged + "notes", forged + "jobs", unproved + "notes", unproved + "jobs"} {
		r.declare(q)
		defer r.do(func(ch *amqp091.Channel) error { _, err := ch.QueueDelete(q, false, false, false); return err })
	}
	exchange := "exchange." + theirs
	if err := r.do(func(ch *amqp091.Channel) error {
		return ch.ExchangeDeclare(exchange, "fanout", true, false, false, false, nil)
	}); err != nil {
		t.Fatal(err)
	}
	defer r.do(func(ch *amqp091.Channel) error { return ch.ExchangeDelete(exchange, false, false) })
	r.publish(r.registry, map[string]any{"lockproof": "run 2", "mark": forged, "secret": secret})
	r.publish(r.registry, map[string]any{"lockproof": "run 2", "mark": unproved, "secret": secret})
	r.publish(unproved+"notes", map[string]string{"queue": unproved + "jobs"})
	for _, note := range []map[string]string{
		{"queue": theirs}, {"exchange": exchange}, {"queue": alive}, {"queue": theirs, "exchange": forged}, {"queue": forged + "jobs"},
	} {
		r.publish(forged+"notes", note)
	}
	b, found := r.find(r.url, func(err error) { t.Error(err) })
	if !r.exists(theirs, "") || !r.exists("", exchange) || !r.exists(alive, "") {
		t.Errorf("deleted by a forged note: theirs there %v, exchange there %v, another run's there %v", r.exists(theirs, ""), r.exists("", exchange), r.exists(alive, ""))
	}
	if !r.exists(unproved+"jobs", "") {
		t.Error("deleted by a mark that nothing proves")
	}
	if found.Runs != 1 || r.exists(forged+"jobs", "") || len(found.Left) != 3 || !strings.Contains(strings.Join(found.Left, "\n"), theirs) {
		t.Errorf("tidied up after %d runs, its own still there %v; left %q", found.Runs, r.exists(forged+"jobs", ""), found.Left)
	}
	r.stop(b)
	b, _ = r.register(r.url, func(err error) { t.Error(err) }) // fails if anything is reported again
	r.stop(b)
}

// The last run deletes the registry and its other queues.
func TestRegistryGoesAway(t *testing.T) {
	t.Parallel()
	r := newRegistryTest(t)
	first, _ := r.register(r.url, func(err error) { t.Error(err) })
	second, _ := r.register(r.url, func(err error) { t.Error(err) })
	marks := []string{first.Mark(), second.Mark()}
	r.stop(first)
	if !r.exists(r.registry, "") {
		t.Error("the registry is deleted while a run is in it")
	}
	r.stop(second)
	for _, q := range []string{r.registry, r.registry + ".lock", marks[0] + "notes", marks[1] + "notes"} {
		if r.exists(q, "") {
			t.Errorf("%s is left", q)
		}
	}
}

// A queue without a mark is not deleted if it has a consumer, or if it was gone for some time.
func TestRegistryUsed(t *testing.T) {
	t.Parallel()
	r := newRegistryTest(t)
	used, again := "used."+r.registry[10:40], "again."+r.registry[10:40]
	b, _ := r.register(r.url, func(err error) { t.Error(err) })
	b.Note(used, "")
	b.Note(again, "")
	b.Forget([]string{again})
	for _, q := range []string{used, again} {
		r.declare(q)
		defer r.do(func(ch *amqp091.Channel) error { _, err := ch.QueueDelete(q, false, false, false); return err })
	}
	ch, err := r.conn.Channel()
	if err == nil {
		_, err = ch.Consume(used, "", false, false, false, false, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer ch.Close()
	if err := b.Sweep([]string{again}); err != nil {
		t.Error(err)
	}
	if err := b.Stop(); err == nil || !strings.Contains(err.Error(), used) {
		t.Errorf("a queue that is left is not said: %v", err)
	}
	if !r.exists(used, "") || !r.exists(again, "") {
		t.Errorf("deleted: used there %v, again there %v", r.exists(used, ""), r.exists(again, ""))
	}
	if r.exists(r.registry, "") {
		t.Error("the registry is left")
	}
}

// An unregistered run deletes only queues with marked names, as it does not know what existed before.
func TestSweepUnregistered(t *testing.T) {
	t.Parallel()
	r := newRegistryTest(t)
	theirs, marked := "theirs."+r.registry[10:40], stress.Prefix()+"jobs"
	for _, q := range []string{theirs, marked} {
		r.declare(q)
		defer r.do(func(ch *amqp091.Channel) error { _, err := ch.QueueDelete(q, false, false, false); return err })
	}
	if err := (&rabbitmq.Broker{URL: r.url}).Sweep([]string{theirs, marked}); err != nil {
		t.Error(err)
	}
	if !r.exists(theirs, "") || r.exists(marked, "") {
		t.Errorf("theirs there %v, marked there %v", r.exists(theirs, ""), r.exists(marked, ""))
	}
}
