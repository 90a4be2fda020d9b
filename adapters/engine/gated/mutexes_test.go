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

// mutex is an example of a mutex. It is written in Go, or name is a class in another language.
type mutex struct {
	name   string
	design mutexes.Design
	// in is the folder of the language; "" for Go.
	in string
	// breaks are properties of which a wrong mutex must violate one; 0 means any of safety or recovery.
	breaks property.Set
	// late says that it takes many scenarios to find the bug.
	late bool
	// missed says why the bug cannot be found; "" if it can.
	missed string
	// waits says that clients of the mutex can wait for the lock.
	waits bool
	// fenced says that the mutex also gives fencing tokens.
	fenced bool
	// alike says that other examples cover this one: a lock in Go with the same design, and another with the same
	// driver. Then it is not tested on a real broker, and a program is tested only with -every-bug.
	alike bool
	// simulated says that the mutex is tested on the simulated broker only, because lockproof does not judge it on a
	// real one.
	simulated bool
	// often says that a wrong mutex in another language is tested in every run, because the bug concerns its driver, or
	// because no lock in Go has it. Other wrong mutexes need -every-bug.
	often bool
	// replays says that the counterexample of a wrong mutex is replayed. One for each driver is enough. For the drivers
	// of Python and Node, semaphores do this.
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

// Values for the field breaks. A mutex with a bug of the named kind must violate a property in the set.
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

// wrong are the properties whose violation shows that a lock is wrong.
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

// mutexClient hides that a mutex's clients can wait for the lock.
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

// title is the name of the mutex's subtest.
func (m *mutex) title() string {
	if m.in == "" || m.in == "python" {
		return m.name
	}
	return m.in + " " + m.name
}

// config returns the configuration of a run with the mutex.
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

// scenarios returns the number of scenarios to run: short with -short, otherwise long. With -short it skips examples in
// other languages.
func (m *mutex) scenarios(t *testing.T, short, long int) int {
	switch {
	case !testing.Short():
		return long
	case m.design == nil || m.late:
		t.Skip("skipped: -short leaves out the examples in several languages, and what takes long")
	}
	return short
}

// fewer returns the number of scenarios for a correct mutex: n with -every-bug, otherwise half of n. A program gets a
// quarter of n, because its processes take long to start.
func (m *mutex) fewer(n int) int {
	switch {
	case *everyBug:
		return n
	case m.design == nil:
		return n / 4
	}
	return n / 2
}

// TestRightMutexes checks that correct mutexes of every design violate no property.
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

// TestWrongMutexes checks that the bug of each wrong mutex is found.
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

// judged checks that each of these properties was judged and passed.
func judged(t *testing.T, res *engine.Result, all ...property.Property) {
	t.Helper()
	for _, p := range all {
		if verdict, why := res.Report.Verdict(res.Report.Result(p)); verdict != report.Passed {
			t.Errorf("%s is %s: %s", p, verdict, why)
		}
	}
}

// replay replays a counterexample with fresh clients, which must violate the same property.
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
