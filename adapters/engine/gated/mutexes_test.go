package gated_test

import (
	"context"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/internal/enginetest"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/testdata/targets/golang/mutexes"
)

// mutex is an example of a mutex: in Go, or the name of a class in another language.
type mutex struct {
	name   string
	design mutexes.Design
	// in is the folder of the language, if it is not Go.
	in string
	// breaks is what a wrong one is to violate first, any of these; nil is whatever safety or recovery says.
	breaks property.Set
	// late says that it takes many scenarios until a wrong one is found out.
	late bool
	// missed says why a wrong one is not found out.
	missed string
	// waits says that its clients can wait for the lock.
	waits bool
	// fenced says that they give fencing tokens, too.
	fenced bool
	// alike says that a lock in Go has the same design, and another in its language the same driver. The latter is tried on
	// a real broker, and a right program in every run. -every-bug has them all on the simulated one.
	alike bool
	// simulated says that it is not tried on a real broker, where lockproof does not judge it.
	simulated bool
	// often says that a wrong one in another language is looked for in every run: its driver is what the bug is about, or
	// none in Go has it. The others are left to -every-bug.
	often bool
	// replays says that a wrong one's counterexample is replayed, as it is for one of each driver: Python's and Node's are
	// semaphores.
	replays bool
}

var rightMutexes = []mutex{
	{name: "exclusive queue", design: mutexes.Queue{}},
	{name: "exclusive queue, a connection for each hold", design: mutexes.Queue{ConnectionEach: true}},
	{name: "exclusive queue and a connection that looks", design: mutexes.Queue{Prober: true}},
	{name: "exclusive queue, asked for first", design: mutexes.Queue{AsksFirst: true}},
	{name: "token", design: mutexes.Token{}},
	{name: "subscribed token", design: mutexes.Token{Subscribed: true}},
	{name: "token, its consumer stays", design: mutexes.Token{Standing: true}},
	{name: "token, single active consumer", design: mutexes.Token{Standing: true, Single: true}},
	{name: "token in a quorum queue", design: mutexes.Token{Quorum: true}, simulated: true},
	{name: "subscribed token of a quorum queue", design: mutexes.Token{Subscribed: true, Quorum: true}, simulated: true},
	{name: "token of a quorum queue, single active consumer", design: mutexes.Token{Standing: true, Single: true, Quorum: true}, simulated: true},
	{name: "token, published anew in a transaction", design: mutexes.Token{InTransaction: true}},
	{name: "token, a connection for each hold", design: mutexes.Token{ConnectionEach: true}},
	{name: "exclusive consumer", design: mutexes.Consumer{}},
	{name: "active consumer", design: mutexes.Active{}},
	{name: "token that is waited for", design: mutexes.Token{Subscribed: true}, waits: true},
	{name: "exclusive queue that is waited for", design: mutexes.Queue{}, waits: true},
	{name: "exclusive queue with fencing tokens", design: mutexes.Fenced{}, fenced: true},
	{name: "ExclusiveQueue", in: "python", alike: true},
	{name: "ConnectionForEachHold", in: "python", alike: true},
	{name: "AutoDelete", in: "python"},
	{name: "ReplyQueue", in: "python"},
	{name: "TwoConnections", in: "python"},
	{name: "Token", in: "python", alike: true},
	{name: "TransientToken", in: "python"},
	{name: "SubscribedToken", in: "python", alike: true},
	{name: "ExclusiveConsumer", in: "python", alike: true},
	{name: "DeadLetterToken", in: "python"},
	{name: "CountingToken", in: "python"},
	{name: "PooledToken", in: "python", alike: true},
	{name: "FencedQueue", in: "python", alike: true},
	{name: "LengthOfQueue", in: "python", alike: true},
	{name: "ExclusiveConsumer", in: "node", alike: true},
	{name: "FencedConsumer", in: "node", alike: true},
	{name: "Token", in: "node"},
	{name: "ActiveConsumer", in: "node", alike: true},
	{name: "ExclusiveQueue", in: "java", waits: true},
	{name: "ExclusiveConsumer", in: "java", alike: true, waits: true},
	{name: "ActiveConsumer", in: "java", alike: true, waits: true},
	{name: "Token", in: "java", alike: true, waits: true},
	{name: "ExclusiveQueue", in: "ruby", alike: true},
	{name: "Token", in: "ruby", alike: true},
	{name: "SubscribedToken", in: "ruby", waits: true},
	{name: "ExclusiveConsumer", in: "ruby", alike: true},
}

// Each of these is what bugs of one kind violate.
var (
	exclusion = set(property.MutualExclusion, property.LimitRespected)
	unfenced  = set(property.FencingMonotone)
	staleness = set(property.StaleBeliefEnds, property.MutualExclusion, property.LimitRespected)
)

func set(all ...property.Property) (out property.Set) {
	for _, p := range all {
		out = out.With(p)
	}
	return out
}

// wrong is what a lock is found out by.
const wrong = property.Safety | property.Recovery

var wrongMutexes = []mutex{
	{name: "locked is success", design: mutexes.Queue{LockedIsSuccess: true}, breaks: exclusion},
	{name: "release closes channel", design: mutexes.Queue{ClosesChannel: true}},
	{name: "queue is not exclusive", design: mutexes.Queue{NotExclusive: true}, breaks: exclusion},
	{name: "token unguarded", design: mutexes.Token{Unguarded: true}, breaks: exclusion},
	{name: "token acknowledged", design: mutexes.Token{Acknowledged: true}},
	{name: "token discarded", design: mutexes.Token{Discarded: true}},
	{name: "token kept that came late", design: mutexes.Token{Subscribed: true, LateKept: true}, late: true},
	{name: "token of a quorum queue, with a delivery limit", design: mutexes.Token{Quorum: true, LimitedTo: 1}, replays: true},
	{name: "exclusive consumer of a quorum queue", design: mutexes.Consumer{Quorum: true}, breaks: exclusion, replays: true},
	{name: "token from memory", design: mutexes.Token{FromMemory: true}, breaks: staleness, late: true},
	{name: "consumer is not exclusive", design: mutexes.Consumer{NotExclusive: true}, breaks: exclusion},
	{name: "consumer not cancelled", design: mutexes.Consumer{NotCancelled: true}},
	{name: "consumer from memory", design: mutexes.Consumer{FromMemory: true}, breaks: staleness},
	{name: "waiting consumer is success", design: mutexes.Active{Subscribed: true}, breaks: exclusion},
	{name: "active consumer not cancelled", design: mutexes.Active{NotCancelled: true}},
	{name: "active consumer from memory", design: mutexes.Active{FromMemory: true}, breaks: staleness, late: true},
	{name: "token kept that comes when its time is up", design: mutexes.Token{Subscribed: true, LateKept: true}, waits: true},
	{name: "connection of a hold kept", design: mutexes.Queue{ConnectionEach: true, Pooled: true}},
	{name: "verify asks the other connection", design: mutexes.Queue{AsksProber: true}, breaks: staleness, late: true},
	{name: "locked is held", design: mutexes.Queue{LockedIsHeld: true}, late: true},
	{name: "token fetched anew to verify", design: mutexes.Token{Refetches: true}, late: true},
	{name: "token without acknowledgement", design: mutexes.Token{Subscribed: true, NoAck: true}},
	{name: "single active consumer is taken for granted", design: mutexes.Token{Standing: true, Single: true, Assumes: true}, breaks: exclusion},
	{name: "consumer asked for on another channel", design: mutexes.Consumer{OtherChannel: true}, breaks: staleness, late: true, missed: "a channel that is closed is the one that its client uses next, and this one asks elsewhere"},
	{name: "fencing tokens drawn before the lock is had", design: mutexes.Fenced{DrawnFirst: true}, breaks: unfenced, fenced: true},
	{name: "fencing tokens counted by each client", design: mutexes.Fenced{CountedByClient: true}, breaks: unfenced, fenced: true, replays: true},
	{name: "LockedIsSuccess", in: "python", breaks: exclusion},
	{name: "ReleaseClosesChannel", in: "python"},
	{name: "ExclusiveFromMemory", in: "python"},
	{name: "ClaimsForMoment", in: "python", often: true, breaks: exclusion},
	{name: "Unguarded", in: "python", breaks: exclusion},
	{name: "Acknowledged", in: "python"},
	{name: "Republished", in: "python", often: true, breaks: exclusion},
	{name: "Reconnects", in: "python", often: true, breaks: staleness},
	{name: "TokenFromMemory", in: "python", breaks: staleness},
	{name: "StaysSubscribed", in: "python"},
	{name: "NotExclusive", in: "python", breaks: exclusion},
	{name: "RefusedIsSuccess", in: "python", breaks: exclusion},
	{name: "NotCancelled", in: "python", often: true},
	{name: "ConsumerFromMemory", in: "python", breaks: staleness},
	{name: "CommittedTwice", in: "python", often: true, breaks: exclusion},
	{name: "AsksAnyChannel", in: "python", breaks: staleness},
	{name: "CountedByClient", in: "python", breaks: unfenced, replays: true},
	{name: "DeliveryTag", in: "python", often: true, breaks: unfenced},
	{name: "CountedByRelease", in: "python", often: true, breaks: unfenced},
	{name: "DrawnFirst", in: "python", breaks: unfenced},
	{name: "NumberOfConfirm", in: "node", breaks: unfenced, replays: true},
	{name: "NotAwaited", in: "node", often: true, breaks: exclusion},
	{name: "NotExclusive", in: "node", breaks: exclusion},
	{name: "NotCancelled", in: "node"},
	{name: "FetchedForGood", in: "node", often: true},
	{name: "Acknowledged", in: "node"},
	{name: "FromMemory", in: "node", breaks: staleness},
	{name: "WaitingIsActive", in: "node", breaks: exclusion},
	{name: "StaysInLine", in: "node"},
	{name: "LockedIsSuccess", in: "java", breaks: exclusion, replays: true},
	{name: "ReleaseClosesChannel", in: "java"},
	{name: "FromMemory", in: "java", breaks: staleness},
	{name: "ArgumentsConfused", in: "java", breaks: exclusion},
	{name: "NotCancelled", in: "java"},
	{name: "WaitingIsActive", in: "java", breaks: exclusion},
	{name: "Recovers", in: "java", breaks: staleness, late: true},
	{name: "FetchedForGood", in: "java"},
	{name: "NotRequeued", in: "java"},
	{name: "LockedIsSuccess", in: "ruby", breaks: exclusion, replays: true},
	{name: "Remembered", in: "ruby", breaks: exclusion},
	{name: "ReleaseClosesChannel", in: "ruby"},
	{name: "Popped", in: "ruby"},
	{name: "Acknowledged", in: "ruby"},
	{name: "NotRequeued", in: "ruby"},
	{name: "Unguarded", in: "ruby", breaks: exclusion},
	{name: "FromMemory", in: "ruby", breaks: staleness},
	{name: "NotExclusive", in: "ruby", breaks: exclusion},
	{name: "NotCancelled", in: "ruby"},
}

// mutexClient is a mutex whose clients do not wait, as lockproof takes it.
type mutexClient struct{ inprocess.Lock }

func (m *mutex) starter(t *testing.T) foreign.Starter {
	if m.design != nil {
		return inprocess.Starter{Name: m.name, New: func(ctx context.Context, url string) (inprocess.Lock, error) {
			c, err := mutexes.New(ctx, url, m.design)
			switch {
			case m.fenced:
				return mutexes.Fencing{Mutex: c}, err
			case m.waits:
				return c, err
			}
			return mutexClient{c}, err
		}}
	}
	e := enginetest.MutexPrograms[m.in]
	e.Need(t)
	return e.Starter(t, m.name)
}

// title is the name of its test.
func (m *mutex) title() string {
	if m.in == "" || m.in == "python" {
		return m.name
	}
	return m.in + " " + m.name
}

// config is a run of a mutex.
func (m *mutex) config(t *testing.T, on gated.Server, until property.Set) gated.Config {
	return gated.Config{Lock: gated.Lock{Starter: m.starter(t), Kind: lock.Mutex, On: on}, Sampling: engine.Sampling{Seed: 1, Until: until}}
}

func (m *mutex) prove(t *testing.T, on gated.Server, scenarios int) *engine.Result {
	t.Helper()
	c := m.config(t, on, 0)
	c.Scenarios = scenarios
	res, err := gated.Prove(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	enginetest.SpeaksOfMutex(t, res)
	return res
}

// scenarios is how many of them are run of a mutex.
func (m *mutex) scenarios(t *testing.T, short, long int) int {
	switch {
	case !testing.Short():
		return long
	case m.design == nil || m.late:
		t.Skip("skipped: -short leaves out the examples in several languages, and what takes long")
	}
	return short
}

// fewer is how many of n scenarios a right one is given, unless every bug is looked for: half of them. A program gets a
// quarter, since its processes take long to start.
func (m *mutex) fewer(n int) int {
	switch {
	case *everyBug:
		return n
	case m.design == nil:
		return n / 4
	}
	return n / 2
}

// TestRightMutexes: mutexes of any design are accused of nothing while they are right.
func TestRightMutexes(t *testing.T) {
	t.Parallel()
	for _, m := range rightMutexes {
		t.Run(m.title(), func(t *testing.T) {
			if m.alike && m.design == nil && !*everyBug {
				t.Skip("skipped: processes take long to start, and other examples have the design and the driver; -every-bug has it")
			}
			t.Parallel()
			t.Run("simulated", func(t *testing.T) { m.holds(t, enginetest.Simulated(t), m.scenarios(t, 16, m.fewer(40))) })
			t.Run("rabbitmq", func(t *testing.T) {
				if m.alike || m.design == nil && !*everyBug {
					t.Skip("skipped: another example has the design or the driver, and is tried on a real broker")
				}
				if m.simulated {
					t.Skip("skipped: locks with quorum queues are judged on the simulated broker alone")
				}
				if testing.Short() {
					t.Skip("skipped: -short leaves out the examples on a real broker")
				}
				m.holds(t, enginetest.Real(t), m.fewer(10))
			})
		})
	}
}

func (m *mutex) holds(t *testing.T, on gated.Server, scenarios int) {
	res := m.prove(t, on, scenarios)
	for _, p := range res.Report.Properties {
		if p.Violation != nil {
			t.Errorf("%s is violated: %s\n%s", p.Property, p.Violation.Detail, p.Violation.Diagram)
		}
	}
	judged(t, res, property.MutualExclusion, property.Progress)
}

// Wrong ones of the same designs are found out.
func TestWrongMutexes(t *testing.T) {
	t.Parallel()
	for _, m := range wrongMutexes {
		t.Run(m.title(), func(t *testing.T) {
			if m.in != "" && !m.often && !m.replays && !*everyBug {
				t.Skip("skipped: processes take long to start; -every-bug has it")
			}
			if m.missed != "" {
				t.Skip("not found out: " + m.missed)
			}
			t.Parallel()
			res := enginetest.FoundOut(t, m.config(t, enginetest.Simulated(t), wrong), m.scenarios(t, 2000, 2000))
			enginetest.SpeaksOfMutex(t, res)
			for _, p := range res.Report.Properties {
				if p.Violation != nil && !p.Violation.Suspected && (m.breaks == 0 || m.breaks.Has(p.Property)) {
					t.Logf("%s, first seen in execution %d", p.Property, p.Violation.Scenario)
					if m.replays {
						m.replay(t, enginetest.CounterexampleOf(t, res, p.Property))
					}
					return
				}
			}
			t.Errorf("it is not found out in %d executions", res.Report.Scenarios)
		})
	}
}

// judged reports properties that no execution put to the test.
func judged(t *testing.T, res *engine.Result, all ...property.Property) {
	t.Helper()
	for _, p := range all {
		if verdict, why := res.Report.Verdict(res.Report.Result(p)); verdict != report.Passed {
			t.Errorf("%s is %s: %s", p, verdict, why)
		}
	}
}

// replay gives fresh clients the schedule of a counterexample: they violate the property as well.
func (m *mutex) replay(t *testing.T, ce *histories.Counterexample) {
	t.Helper()
	r, err := gated.Replay(t.Context(), ce, m.starter(t), gated.Server{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Violation == nil || r.Violation.Property != ce.Property {
		t.Errorf("the counterexample of %s does not replay: %v\n%s", ce.Property, r.Violation, enginetest.Drawn(t, r.Trace))
	}
}
