package external_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// Right locks that were accused of what others, or the schedule, had done to them.

// lockName is a name like that of the lock.
func lockName(n string) string { return n + ".lock" }

func expectRight(t *testing.T, x *external.Execution) {
	t.Helper()
	if x.Found&^external.Measured != 0 {
		t.Errorf("%v\n%s", x.Violations, drawn(x))
	}
}

func step(client uint8) scenario.Action {
	return scenario.Action{Kind: scenario.Step, Client: client}
}

// impatient gives up what is not answered within a tenth of a second, and its connection. The second of them takes its time first.
type impatient struct {
	named
	socket net.Conn
	slow   bool
}

var errImpatient = errors.New("the broker did not answer in time")

func (m *impatient) connect() (err error) {
	m.conn, err = amqp091.DialConfig(m.url, amqp091.Config{Dial: func(network, address string) (net.Conn, error) {
		c, err := net.Dial(network, address)
		m.socket = c
		return c, err
	}})
	if err == nil {
		err = m.open()
	}
	return err
}

func (m *impatient) Acquire(ctx context.Context, name string) (got int, err error) {
	if m.slow {
		time.Sleep(200 * time.Millisecond)
	}
	over, inTime := within(100*time.Millisecond, func() { got, err = m.named.Acquire(ctx, name) })
	if inTime {
		return got, err
	}
	m.socket.Close()
	<-over
	return 0, errImpatient
}

// within does something, and reports whether it takes no longer than so long; over is closed when it is over.
func within(limit time.Duration, do func()) (over chan struct{}, inTime bool) {
	over = make(chan struct{})
	go func() {
		defer close(over)
		do()
	}()
	select {
	case <-over:
		return over, true
	case <-time.After(limit):
		return over, false
	}
}

// TestAbandoned: who gives up by a clock of its own while others are waited for, and says that it does not know what became of its
// operation, has no reason to do so but that clock.
func TestAbandoned(t *testing.T) {
	made := 0
	runner := mutexRunner(t, "impatient", func(url string) (inprocess.Lock, error) {
		m := &impatient{named: named{url: url, name: lockName}, slow: made == 2} // the first makes the locks
		made++
		return m, m.connect()
	})
	x := carriedOut(t, runner, []scenario.Action{step(1), step(2), step(1)}, []scenario.Operation{acquire}, []scenario.Operation{acquire})
	expectRight(t, x)
	if len(x.Errors) == 0 {
		t.Errorf("nobody has given up\n%s", drawn(x))
	}
}

// expiring is held by who consumes an exclusive queue, which goes when it is not consumed.
type expiring struct{ named }

func (m *expiring) Acquire(_ context.Context, name string) (int, error) {
	if err := m.open(); err != nil {
		return 0, err
	}
	_, err := m.ch.QueueDeclare(m.name(name), false, false, true, false, amqp091.Table{"x-expires": int32(2000)})
	if err == nil {
		_, err = m.ch.Consume(m.name(name), "", true, false, false, false, nil)
	}
	if e, ok := errors.AsType[*amqp091.Error](err); ok && e.Code == amqp091.ResourceLocked {
		return 0, m.open()
	}
	if err != nil {
		return 0, err
	}
	m.holds = name
	return 1, nil
}

// TestRefusedConsume: a queue may be another's when it is to be consumed.
func TestRefusedConsume(t *testing.T) {
	runner := mutexRunner(t, "expiring", func(url string) (inprocess.Lock, error) {
		m := &expiring{named{url: url, name: lockName}}
		return m, m.open()
	})
	actions := []scenario.Action{step(1), {Kind: scenario.Idle, Arg: 3}, step(2), step(1), step(1), step(1)}
	expectRight(t, carriedOut(t, runner, actions, []scenario.Operation{acquire}, []scenario.Operation{acquire}))
}

// keepingNotes has a channel to write down what it did, and waits for no answer to that.
type keepingNotes struct {
	named
	notes *amqp091.Channel
}

func (m *keepingNotes) open() (err error) {
	if err = m.named.open(); err == nil && (m.notes == nil || m.notes.IsClosed()) {
		m.notes, err = m.conn.Channel()
	}
	return err
}

func (m *keepingNotes) note() error {
	return m.notes.Publish("amq.fanout", "", false, false, amqp091.Publishing{})
}

// noting is held by who consumes a queue exclusively. Who verifies it writes that down.
type noting struct{ keepingNotes }

func (m *noting) Acquire(_ context.Context, name string) (int, error) {
	if err := m.open(); err != nil {
		return 0, err
	}
	_, err := m.ch.QueueDeclare(m.name(name), false, false, false, false, nil)
	if err == nil {
		_, err = m.ch.Consume(m.name(name), "holder", true, true, false, false, nil)
	}
	if e, ok := errors.AsType[*amqp091.Error](err); ok && e.Code == amqp091.AccessRefused {
		return 0, m.open()
	}
	if err != nil {
		return 0, err
	}
	m.holds = name
	return 1, nil
}

func (m *noting) Verify(_ context.Context, name string, _ int) (bool, error) {
	if m.holds != name || m.ch.IsClosed() || m.ch.Qos(0, 0, false) != nil {
		return false, nil
	}
	return true, m.note()
}

func (m *noting) Release(_ context.Context, name string, _ int) error {
	if m.holds != name || m.ch.IsClosed() {
		return nil
	}
	m.holds = ""
	return m.ch.Cancel("holder", false)
}

// TestNoReplyIsLost: a reply that there is none of is not lost: who has its answer already gives it rightly.
func TestNoReplyIsLost(t *testing.T) {
	runner := mutexRunner(t, "noting", func(url string) (inprocess.Lock, error) {
		m := &noting{keepingNotes{named: named{url: url, name: lockName}}}
		return m, m.open()
	})
	lose := scenario.Action{Kind: scenario.Lose, Client: 1}
	for n := range 3 {
		actions := append(steps(1, 2+n), lose)
		expectRight(t, carriedOut(t, runner, actions, []scenario.Operation{acquire, {Op: lock.Verify}}))
	}
}

// auditing is held by who has an exclusive queue. Who verifies it writes that down.
type auditing struct{ keepingNotes }

func (m *auditing) Verify(_ context.Context, name string, _ int) (bool, error) {
	if err := m.named.open(); err != nil || m.holds != name {
		return false, err
	}
	if _, err := m.ch.QueueDeclarePassive(m.name(name), false, false, true, false, nil); err != nil {
		return false, err
	}
	return true, m.note()
}

// TestTrailingChannelLost: what a client sends as it answers, and waits for no answer to, may meet a channel that the schedule has
// closed: it sees that in its next operation.
func TestTrailingChannelLost(t *testing.T) {
	runner := mutexRunner(t, "auditing", func(url string) (inprocess.Lock, error) {
		m := &auditing{keepingNotes{named: named{url: url, name: lockName}}}
		return m, m.open()
	})
	for n := range 4 {
		actions := append(append(steps(1, 1+n), scenario.Action{Kind: scenario.ChannelError, Client: 1}), steps(1, 4)...)
		expectRight(t, carriedOut(t, runner, actions, []scenario.Operation{acquire, {Op: lock.Verify}, {Op: lock.Verify}}))
	}
}

// twofold is a mutex whose clients verify by another connection, which they see the end of when they use it next.
type twofold struct {
	named
	prober *amqp091.Connection
}

func (m *twofold) Verify(_ context.Context, name string, _ int) (bool, error) {
	if m.holds != name || m.conn.IsClosed() {
		return false, nil
	}
	if m.prober == nil {
		p, err := amqp091.Dial(m.url)
		if err != nil {
			return false, err
		}
		m.prober = p
	}
	ch, err := m.prober.Channel()
	if err != nil {
		m.prober = nil
		return false, err
	}
	_, err = ch.QueueDeclarePassive(m.name(name), false, false, true, false, nil)
	e, ok := errors.AsType[*amqp091.Error](err)
	return ok && e.Code == amqp091.ResourceLocked && !m.conn.IsClosed(), nil
}

// TestGoneBefore: a connection that is gone since an earlier execution befalls nobody in a later one.
func TestGoneBefore(t *testing.T) {
	runner := mutexRunner(t, "twofold", func(url string) (inprocess.Lock, error) {
		m := &twofold{named: named{url: url, name: lockName}}
		return m, m.open()
	})
	ops := []scenario.Operation{acquire, {Op: lock.Verify}, {Op: lock.Release}}
	for n := range 2 {
		actions := steps(1, 12)
		if n == 0 {
			actions = append(actions, scenario.Action{Kind: scenario.Drop, Client: 1})
		}
		expectRight(t, carriedOut(t, runner, actions, ops))
	}
}

// TestClosesCross: a client that closes a connection which the broker has ended meanwhile is told that it is closed, as some drivers
// wait for that for ever.
func TestClosesCross(t *testing.T) {
	var err error
	runner := newLeaving(t, 0, func(_ *leaving, close func() error, _ <-chan struct{}) { err = close() })
	actions := append(steps(1, 3), scenario.Action{Kind: scenario.Drop, Client: 1}, step(1))
	x := carriedOut(t, runner, actions, []scenario.Operation{acquire, {Op: lock.Release}})
	expectRight(t, x)
	if err != nil || x.Uncontrolled.Hung > 0 {
		t.Errorf("closed: %v\n%s", err, drawn(x))
	}
}

// TestClosesLate: who closes a connection is told so before its socket ends, however late: some drivers wait for that for ever.
func TestClosesLate(t *testing.T) {
	var err error
	runner := newLeaving(t, 0, func(_ *leaving, close func() error, _ <-chan struct{}) { err = close() })
	for n := range 4 {
		actions := append(steps(1, 2+n), scenario.Action{Kind: scenario.Stall, Client: 1}, scenario.Action{Kind: scenario.Arrive, Client: 1}, step(1))
		x := carriedOut(t, runner, actions, []scenario.Operation{acquire, {Op: lock.Release}})
		expectRight(t, x)
		if err != nil || x.Uncontrolled.Hung > 0 {
			t.Errorf("closed: %v\n%s", err, drawn(x))
		}
	}
}

// closingProbe is held by who has an exclusive queue. It verifies on a channel of its own, which it closes, whatever comes of that.
type closingProbe struct{ named }

func (m *closingProbe) Verify(_ context.Context, name string, _ int) (bool, error) {
	if m.holds != name || m.conn.IsClosed() {
		return false, nil
	}
	ch, err := m.conn.Channel()
	if err != nil {
		return false, nil
	}
	_, err = ch.QueueDeclarePassive(m.name(name), false, false, true, false, nil)
	_ = ch.Close()
	return err == nil, nil
}

// TestAssured: who was told within its verify that it has the lock says so rightly, though its connection is lost before it does.
func TestAssured(t *testing.T) {
	runner := mutexRunner(t, "closing its probe", func(url string) (inprocess.Lock, error) {
		m := &closingProbe{named{url: url, name: lockName}}
		return m, m.open()
	})
	for n := range 5 {
		actions := append(steps(1, n), scenario.Action{Kind: scenario.Lose, Client: 1})
		expectRight(t, carriedOut(t, runner, actions, []scenario.Operation{acquire, {Op: lock.Verify}}))
	}
}

// brief consumes a token's queue, and says no without looking whether it has been sent the token: its time is up.
type brief struct {
	channelToken
	busy time.Duration // before that
}

func (m *brief) Acquire(_ context.Context, name string) (_ int, err error) {
	if m.ch, err = m.conn.Channel(); err != nil {
		return 0, err
	}
	time.Sleep(m.busy)
	if _, err := m.ch.Consume(name+".token", "", false, false, false, false, nil); err != nil {
		return 0, err
	}
	return 0, m.ch.Close()
}

// TestBrief: who has taken a quarter of a second may have given up what it is sent just then by a clock of its own, and may say no of
// what is free. Who has taken no time at all has not.
func TestBrief(t *testing.T) {
	for busy, slow := range map[time.Duration]time.Duration{250 * time.Millisecond: 0, 0: time.Hour} {
		timing := external.Timing{Slow: slow}
		runner := timedRunner(t, lock.PersistentMutex, timing, "brief", func(url string) (inprocess.Lock, error) {
			conn, err := amqp091.Dial(url)
			return &brief{channelToken{conn: conn}, busy}, err
		})
		x, err := runner.Run(t.Context(), &scenario.Scenario{
			Locks:    []scenario.Lock{{Name: "jobs", Slots: 1}},
			Clients:  []scenario.Client{{Ops: []scenario.Operation{acquire}}},
			Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: steps(1, 4)},
		})
		if err != nil {
			t.Fatal(err)
		}
		if found := x.Found &^ external.Measured; (found == 0) != (busy > 0) {
			t.Errorf("after %v: found %v\n%s", busy, found.Names(), drawn(x))
		}
	}
}
