package gated_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/testdata/targets/golang/mutexes"
)

// runnerOf runs scenarios of locks in this process.
func runnerOf(t *testing.T, kind lock.Kind, timing external.Timing, open func(ctx context.Context, url string) (inprocess.Lock, error)) *external.Runner {
	t.Helper()
	runner, err := external.NewRunner(t.Context(), external.Config{Kind: kind, Timing: timing, Starter: inprocess.Starter{Name: t.Name(), New: open}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { runner.Close() })
	return runner
}

// waiting runs scenarios of mutexes whose clients can wait for the lock; limit is when one is taken for waiting without end.
func waiting(t *testing.T, design mutexes.Design, limit time.Duration) *external.Runner {
	t.Helper()
	return runnerOf(t, lock.Mutex, external.Timing{Limit: limit, Slow: time.Hour}, func(ctx context.Context, url string) (inprocess.Lock, error) {
		return mutexes.New(ctx, url, design)
	})
}

// contest is two clients, of which the second may wait for what the first has, if that stops after so many steps.
func contest(stops uint16, holder ...scenario.Operation) scenario.Scenario {
	return scenario.Scenario{
		Locks:    []scenario.Lock{{Name: "jobs"}},
		Clients:  []scenario.Client{{Ops: holder}, {Ops: []scenario.Operation{{Op: lock.Acquire, Arg: scenario.Waiting}}}},
		Schedule: scenario.Schedule{Strategy: scenario.PCT, Priorities: []uint8{1, 2}, Changes: []uint16{stops}},
	}
}

// TestWaiting: the others go on while a client waits for a lock, so that it is granted what is released meanwhile, and the
// same when the execution is replayed. One that does not come back when its time is up does not make progress.
func TestWaiting(t *testing.T) {
	t.Parallel()
	acquire, release := scenario.Operation{Op: lock.Acquire}, scenario.Operation{Op: lock.Release}
	runner := waiting(t, mutexes.Token{Subscribed: true}, time.Minute)
	granted, controlled := 0, 0
	for stops := range uint16(24) {
		x, again, free := twice(t, runner, contest(1+stops, acquire, release))
		if x.Found|again.Found != 0 {
			t.Errorf("stops after %d: %v %v", stops, x.Violations, again.Violations)
		}
		if !free {
			continue
		}
		controlled++
		if !slices.Equal(told(x), told(again)) {
			t.Errorf("stops after %d: %v, replayed %v", stops, told(x), told(again))
		}
		if slices.Equal(told(x), []string{"1 invoke acquire", "1 ok acquire", "2 invoke acquire", "1 invoke release", "1 ok release", "2 ok acquire"}) {
			granted++
		}
	}
	if granted == 0 && controlled == 24 {
		t.Error("nobody was granted what he waited for")
	}
	for endless, limit := range map[bool]time.Duration{false: time.Minute, true: time.Second} {
		runner := waiting(t, mutexes.Token{Subscribed: true, Endless: endless}, limit)
		x := play(t, runner, runner.Playable(contest(30, acquire)))
		if x.Found.Has(property.Progress) != endless || !endless && x.Found != 0 {
			t.Errorf("endless %v: %v", endless, x.Violations)
		}
	}
}

// TestSlowReplay: a replay waits for a client that goes on later than it did, once it has what it waited for.
func TestSlowReplay(t *testing.T) {
	t.Parallel()
	var made sync.Map
	var slow atomic.Bool
	runner := runnerOf(t, lock.Mutex, external.Timing{Slow: time.Hour}, func(_ context.Context, url string) (inprocess.Lock, error) {
		conn, err := amqp.Dial(url)
		if err != nil {
			return nil, err
		}
		ch, err := conn.Channel()
		return &lateLock{conn: conn, ch: ch, made: &made, slow: &slow}, err
	})
	acquire, release := scenario.Operation{Op: lock.Acquire}, scenario.Operation{Op: lock.Release}
	for stops := range uint16(12) {
		slow.Store(false)
		x := play(t, runner, runner.Playable(contest(4+stops, acquire, release)))
		slow.Store(true)
		again := play(t, runner, sim.Replay(x.Trace))
		if len(told(again)) != 6 {
			t.Errorf("stops after %d: %v, replayed %v", 4+stops, told(x), told(again))
		}
	}
}

// lateLock is a mutex by a message that is delivered to who waits. Its client stops waiting by a command, and may be slow to
// send it.
type lateLock struct {
	conn *amqp.Connection
	ch   *amqp.Channel
	tag  uint64
	made *sync.Map // locks that have their message
	slow *atomic.Bool
}

func (l *lateLock) Acquire(ctx context.Context, name string) (int, error) {
	return l.AcquireWithin(ctx, name, 10*time.Millisecond)
}

func (l *lateLock) AcquireWithin(ctx context.Context, name string, timeout time.Duration) (int, error) {
	if _, err := l.ch.QueueDeclare(name, true, false, false, false, nil); err != nil {
		return 0, err
	}
	if _, there := l.made.LoadOrStore(name, true); !there {
		if err := l.ch.PublishWithContext(ctx, "", name, false, false, amqp.Publishing{}); err != nil {
			return 0, err
		}
	}
	deliveries, err := l.ch.Consume(name, "holder", false, false, false, false, nil)
	if err != nil {
		return 0, err
	}
	slot := 0
	select {
	case d := <-deliveries:
		if slot, l.tag = 1, d.DeliveryTag; l.slow.Load() {
			time.Sleep(3 * lull)
		}
	case <-time.After(timeout):
	}
	if err := l.ch.Cancel("holder", false); err != nil {
		return 0, err
	}
	for d := range deliveries {
		slot, l.tag = 1, d.DeliveryTag
	}
	return slot, nil
}

// lull is for how long a client may send nothing that is not known to wait for a lock.
const lull = 20 * time.Millisecond

func (l *lateLock) Verify(context.Context, string, int) (bool, error) { return l.tag > 0, nil }

func (l *lateLock) Release(context.Context, string, int) error {
	tag := l.tag
	l.tag = 0
	return l.ch.Nack(tag, false, true)
}

func (l *lateLock) Close() error { return l.conn.Close() }

// twice plays a scenario and replays it, a few times if a client's time was up while others were at it: a machine that is
// busy enough decides then what comes first, and that is counted. It reports whether it was not so.
func twice(t *testing.T, runner *external.Runner, sc scenario.Scenario) (x, again *external.Execution, free bool) {
	t.Helper()
	for range 3 {
		x = play(t, runner, runner.Playable(sc))
		again = play(t, runner, sim.Replay(x.Trace))
		if free = x.Uncontrolled.Free() && again.Uncontrolled.Free(); free {
			break
		}
	}
	return x, again, free
}

func play(t *testing.T, runner *external.Runner, sc scenario.Scenario) *external.Execution {
	t.Helper()
	x, err := runner.Run(t.Context(), &sc)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// told is what happened, in a line for each call and answer.
func told(x *external.Execution) (lines []string) {
	for _, e := range x.History.Events {
		if e.Process == history.Nemesis {
			continue
		}
		c := history.ClientOf(e.Process, len(x.Scenario.Clients))
		lines = append(lines, string(rune('0'+c))+" "+e.Type.String()+" "+e.F.Op().String())
	}
	return lines
}

// TestTimePassesBeforeReply: time may pass while a reply is kept from a client, and nobody else is there: that its operation
// does not end meanwhile is not the client's doing.
func TestTimePassesBeforeReply(t *testing.T) {
	runner := waiting(t, mutexes.Queue{}, time.Minute)
	x := play(t, runner, runner.Playable(scenario.Scenario{
		Locks:   []scenario.Lock{{Name: "jobs"}},
		Clients: []scenario.Client{{Ops: []scenario.Operation{{Op: lock.Acquire, Arg: scenario.Waiting}}}},
		Faults:  []scenario.Fault{{Do: scenario.Stall, Client: 1, At: 1, Delay: 8}, {Do: scenario.Advance, At: 2}},
	}))
	if x.Found != 0 || len(x.Steps) < 2 {
		t.Errorf("%d steps: %v", len(x.Steps), x.Violations)
	}
}
