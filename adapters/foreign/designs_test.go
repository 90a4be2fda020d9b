package foreign_test

import (
	"context"
	"flag"
	"syscall"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/internal/enginetest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
	amqplocks "github.com/lockproof/lockproof/testdata/targets/golang"
	"github.com/lockproof/lockproof/testdata/targets/golang/mutexes"
	"github.com/lockproof/lockproof/testdata/targets/golang/semaphores"
	"github.com/lockproof/lockproof/testdata/targets/golang/several"
)

var executions = flag.Int("executions", 0, "of each right design, and at most of each wrong one; 0 is a few")

// design is a way to build a lock, with clients in Go that this test judges.
type design struct {
	name string
	kind lock.Kind
	new  inprocess.New
	// contract is the set of promises that the lock makes in addition to safety.
	contract property.Set
	// rare says that the design is wrong, but that finding it takes more executions than this test runs by default.
	rare bool
}

// mutexOf is a mutex of the given design. waits says that its clients may wait for the lock.
func mutexOf(name string, d mutexes.Design, waits bool) design {
	return design{name: name, kind: lock.Mutex, new: func(ctx context.Context, url string) (inprocess.Lock, error) {
		c, err := mutexes.New(ctx, url, d)
		if _, fences := d.(mutexes.Fenced); fences {
			return mutexes.Fencing{Mutex: c}, err
		}
		if waits {
			return c, err
		}
		return plainMutex{c}, err
	}}
}

// plainMutex is a mutex whose clients do not wait.
type plainMutex struct{ inprocess.Lock }

// moody is a mutex that refuses every second acquire, although the lock is free.
type moody struct {
	plainMutex
	acquires int
}

func (m *moody) Acquire(ctx context.Context, name string) (int, error) {
	slot, err := m.plainMutex.Acquire(ctx, name)
	if m.acquires++; slot > 0 && m.acquires%2 == 0 {
		return 0, m.Release(ctx, name, slot)
	}
	return slot, err
}

// slowToNotice is a mutex whose client returns errors for 20 ms after it has lost its connection, and only then
// reconnects.
type slowToNotice struct {
	*mutexes.Mutex
	notices time.Time
}

func (m *slowToNotice) Acquire(ctx context.Context, name string) (int, error) {
	if !m.Connected() && m.notices.IsZero() {
		m.notices = time.Now().Add(20 * time.Millisecond)
	}
	if time.Now().Before(m.notices) {
		return 0, syscall.EPIPE
	}
	m.notices = time.Time{}
	return m.Mutex.Acquire(ctx, name)
}

// slowToNoticeMutex is a mutex by an exclusive queue whose client notices a lost connection late.
func slowToNoticeMutex(ctx context.Context, url string) (inprocess.Lock, error) {
	c, err := mutexes.New(ctx, url, mutexes.Queue{})
	return plainMutex{&slowToNotice{Mutex: c}}, err
}

// moodyMutex is a mutex by an exclusive queue that refuses every second acquire.
func moodyMutex(ctx context.Context, url string) (inprocess.Lock, error) {
	c, err := mutexes.New(ctx, url, mutexes.Queue{})
	return &moody{plainMutex: plainMutex{c}}, err
}

// semaphoreOf is a semaphore of the given design.
func semaphoreOf(name string, d semaphores.Design) design {
	return design{name: name, kind: lock.Semaphore, new: enginetest.Semaphore(d)}
}

// guided is the semaphore of the amqp-locks guidelines, which makes all promises.
func guided(name string, bug amqplocks.Bug) design {
	return design{name: name, kind: lock.Semaphore, contract: property.Promises, new: func(ctx context.Context, url string) (inprocess.Lock, error) {
		c, err := amqplocks.NewNamed(ctx, url, amqplocks.Naming{A: "%[1]s-A-%[2]d", B: "%[1]s-B-%[2]d"}, bug)
		return enginetest.Certain{Client: c}, err
	}}
}

// severalOf is a mutex of which a client can hold several at once, under different names.
func severalOf(name string, d several.Design, bug several.Bug) design {
	return design{name: name, kind: lock.Mutex, new: func(ctx context.Context, url string) (inprocess.Lock, error) {
		c, err := several.New(ctx, url, d, bug)
		return severalClient{c}, err
	}}
}

// severalClient adapts a client to lockproof's interface.
type severalClient struct{ *several.Client }

// rare marks a wrong design that takes many executions to find.
func rare(d design) design {
	d.rare = true
	return d
}

var rightDesigns = []design{
	guided("guidelines", amqplocks.NoBug),
	semaphoreOf("tokens", semaphores.Tokens{}),
	semaphoreOf("tokens with headers", semaphores.Tokens{InHeader: true}),
	semaphoreOf("tokens alike", semaphores.Tokens{Alike: true}),
	semaphoreOf("tokens, fenced", semaphores.Fenced{}),
	semaphoreOf("tokens with limits", semaphores.Limited{}),
	semaphoreOf("consumers", semaphores.Consumers{}),
	semaphoreOf("consumers with limits, no slots", semaphores.Counted{}),
	semaphoreOf("exchanges", semaphores.Exchanges{}),
	mutexOf("exclusive queue", mutexes.Queue{}, false),
	mutexOf("exclusive queue, a connection for each hold", mutexes.Queue{ConnectionEach: true}, false),
	mutexOf("exclusive queue and a connection that looks", mutexes.Queue{Prober: true}, false),
	mutexOf("exclusive queue, asked for first", mutexes.Queue{AsksFirst: true}, false),
	mutexOf("token", mutexes.Token{}, false),
	mutexOf("subscribed token", mutexes.Token{Subscribed: true}, false),
	mutexOf("token, its consumer stays", mutexes.Token{Standing: true}, false),
	mutexOf("token, single active consumer", mutexes.Token{Standing: true, Single: true}, false),
	mutexOf("token in a quorum queue", mutexes.Token{Quorum: true}, false),
	mutexOf("token, published anew in a transaction", mutexes.Token{InTransaction: true}, false),
	mutexOf("token, a connection for each hold", mutexes.Token{ConnectionEach: true}, false),
	mutexOf("exclusive consumer", mutexes.Consumer{}, false),
	mutexOf("active consumer", mutexes.Active{}, false),
	mutexOf("exclusive queue that is waited for", mutexes.Queue{}, true),
	mutexOf("exclusive queue with fencing tokens", mutexes.Fenced{}, false),
	{name: "exclusive queue, every other acquire refused", kind: lock.Mutex, new: moodyMutex},
	{name: "exclusive queue, slow to notice a lost connection", kind: lock.Mutex, new: slowToNoticeMutex},
	severalOf("several queues", several.Queue{}, several.NoBug),
	severalOf("several tokens", several.Token{}, several.NoBug),
	severalOf("several tokens, tidy", several.Tidy{}, several.NoBug),
}

var wrongDesigns = []design{
	guided("guidelines, release closes channel", amqplocks.ReleaseClosesChannel),
	guided("guidelines, locked is success", amqplocks.LockedIsSuccess),
	semaphoreOf("token acknowledged", semaphores.Tokens{Acknowledged: true}),
	semaphoreOf("token acknowledged, then published", semaphores.Tokens{AckThenPublish: true}),
	semaphoreOf("token published, then acknowledged", semaphores.Tokens{PublishThenAck: true}),
	semaphoreOf("token without acknowledgement", semaphores.Tokens{NoAck: true}),
	semaphoreOf("tokens made twice", semaphores.Tokens{Twice: true}),
	semaphoreOf("token from memory", semaphores.Tokens{FromMemory: true}),
	semaphoreOf("token alike acknowledged", semaphores.Tokens{Alike: true, Acknowledged: true}),
	rare(semaphoreOf("tokens alike made twice", semaphores.Tokens{Alike: true, Twice: true})),
	semaphoreOf("tokens alike taken all at once", semaphores.Tokens{Alike: true, All: true}),
	semaphoreOf("count ages", semaphores.Tokens{SizeAges: true}),
	semaphoreOf("consumer not cancelled", semaphores.Consumers{NotCancelled: true}),
	semaphoreOf("consumer from memory", semaphores.Consumers{FromMemory: true}),
	rare(semaphoreOf("first exchanges removed", semaphores.Exchanges{RemovesFirst: true})),
	semaphoreOf("fencing tokens counted by slot", semaphores.Fenced{BySlot: true}),
	semaphoreOf("limits ignored", semaphores.Limited{Ignores: true}),
	mutexOf("locked is success", mutexes.Queue{LockedIsSuccess: true}, false),
	mutexOf("release closes channel", mutexes.Queue{ClosesChannel: true}, false),
	mutexOf("queue is not exclusive", mutexes.Queue{NotExclusive: true}, false),
	mutexOf("token unguarded", mutexes.Token{Unguarded: true}, false),
	mutexOf("mutex token acknowledged", mutexes.Token{Acknowledged: true}, false),
	mutexOf("token discarded", mutexes.Token{Discarded: true}, false),
	mutexOf("token of a quorum queue, with a delivery limit", mutexes.Token{Quorum: true, LimitedTo: 1}, false),
	mutexOf("consumer is not exclusive", mutexes.Consumer{NotExclusive: true}, false),
	mutexOf("mutex consumer not cancelled", mutexes.Consumer{NotCancelled: true}, false),
	mutexOf("waiting consumer is success", mutexes.Active{Subscribed: true}, false),
	mutexOf("active consumer not cancelled", mutexes.Active{NotCancelled: true}, false),
	mutexOf("connection of a hold kept", mutexes.Queue{ConnectionEach: true, Pooled: true}, false),
	rare(mutexOf("locked is held", mutexes.Queue{LockedIsHeld: true}, false)),
	rare(mutexOf("verify asks the other connection", mutexes.Queue{AsksProber: true}, false)),
	mutexOf("single active consumer is taken for granted", mutexes.Token{Standing: true, Single: true, Assumes: true}, false),
	mutexOf("fencing tokens counted by each client", mutexes.Fenced{CountedByClient: true}, false),
	severalOf("several queues, last only", several.Queue{}, several.LastOnly),
	severalOf("several queues, one flag", several.Queue{}, several.OneFlag),
	severalOf("several tokens age", several.Token{}, several.Ages),
}

// judged runs executions of a design until one violates what the design promises, but at most most. It returns that
// execution, or nil, and its number.
func (d *design) judged(t *testing.T, seed uint64, most int) (found *foreign.Execution, execution int) {
	t.Helper()
	runner := runnerOf(t, d.kind, d.name, func(url string) (inprocess.Lock, error) { return d.new(t.Context(), url) })
	return d.judgedBy(t, runner, seed, most)
}

// judgedBy is judged with a given runner.
func (d *design) judgedBy(t *testing.T, runner *foreign.Runner, seed uint64, most int) (found *foreign.Execution, execution int) {
	t.Helper()
	target := amqplock.References[0]
	if d.kind == lock.Mutex {
		target = amqplock.References[1]
	}
	source := sim.NewSource(sim.Space{Target: target}, seed)
	for i := range most {
		sc := runner.Playable(source.External(i, runner.Traits()))
		x, err := runner.Run(t.Context(), &sc)
		if err != nil {
			t.Fatalf("scenario %d: %v", i+1, err)
		}
		if x.Found&^(property.Promises&^d.contract) != 0 {
			return x, i + 1
		}
	}
	return nil, most + 1
}

// No right design is found to violate anything. Nothing is declared about how the locks are held.
func TestRightDesigns(t *testing.T) {
	for _, d := range rightDesigns {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			n := max(*executions, 25)
			if testing.Short() && *executions == 0 {
				n = 5
			}
			if x, i := d.judged(t, 1, n); x != nil {
				t.Errorf("execution %d: %v\n%s", i, x.Violations, drawn(x))
			}
		})
	}
}

// Every wrong design is found to violate something. Nothing is declared about how the locks are held.
func TestWrongDesigns(t *testing.T) {
	for _, d := range wrongDesigns {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			if d.rare && *executions == 0 {
				t.Skip("skipped: it takes some hundred executions; -executions 1000 has them")
			}
			x, i := d.judged(t, 1, max(*executions, 150))
			if x == nil {
				t.Fatalf("nothing is violated in %d executions", i-1)
			}
			t.Logf("execution %d: %v", i, x.Found.Names())
		})
	}
}
