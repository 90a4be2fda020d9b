package gated_test

import (
	"context"
	"crypto/sha1"
	"fmt"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/internal/enginetest"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	amqplocks "github.com/lockproof/lockproof/testdata/targets/golang"
	"github.com/lockproof/lockproof/testdata/targets/golang/semaphores"
)

// designed is a semaphore in Go, correct or with a bug.
type designed struct {
	name   string
	new    func(ctx context.Context, url string) (inprocess.Lock, error)
	breaks property.Set // properties of which a wrong design must violate one; 0 means any of safety or recovery
	// demands are the promises that the design's contract demands.
	demands property.Set
	late    bool // finding the bug takes long; -short skips it, because another design has a similar bug
	rare    bool // finding the bug takes over a hundred executions; only -every-bug tests it
}

// guided starts clients of the guidelines' semaphore. a and b are the formats of its queues' names.
func guided(a, b string, bug amqplocks.Bug) func(context.Context, string) (inprocess.Lock, error) {
	return func(ctx context.Context, url string) (inprocess.Lock, error) {
		c, err := amqplocks.NewNamed(ctx, url, amqplocks.Naming{A: a, B: b}, bug)
		return enginetest.Certain{Client: c}, err
	}
}

// called starts clients of the guidelines' semaphore that write the lock's name in another form, for example in lower
// case.
func called(write func(string) string) func(context.Context, string) (inprocess.Lock, error) {
	return func(ctx context.Context, url string) (inprocess.Lock, error) {
		c, err := amqplocks.NewNamed(ctx, url, amqplocks.Naming{A: "lock:%[1]s:%[2]d", B: "holder:%[1]s:%[2]d"}, amqplocks.NoBug)
		return renaming{enginetest.Certain{Client: c}, write}, err
	}
}

// renaming is a client that passes the lock's name through write in every operation.
type renaming struct {
	inner enginetest.Certain
	write func(string) string
}

func hash(name string) string { return fmt.Sprintf("%x", sha1.Sum([]byte(name)))[:12] }

func (r renaming) Acquire(ctx context.Context, name string) (int, error) {
	return r.inner.Acquire(ctx, r.write(name))
}
func (r renaming) Verify(ctx context.Context, name string, slot int) (bool, error) {
	return r.inner.Verify(ctx, r.write(name), slot)
}
func (r renaming) Release(ctx context.Context, name string, slot int) error {
	return r.inner.Release(ctx, r.write(name), slot)
}
func (r renaming) Create(ctx context.Context, name string, slots int) error {
	return r.inner.Create(ctx, r.write(name), slots)
}
func (r renaming) Destroy(ctx context.Context, name string) error {
	return r.inner.Destroy(ctx, r.write(name))
}
func (r renaming) Count(ctx context.Context, name string) (int, error) {
	return r.inner.Count(ctx, r.write(name))
}
func (r renaming) Close() error { return r.inner.Close() }

var rightSemaphores = []designed{
	{name: "jobs-A-1", new: guided("%[1]s-A-%[2]d", "%[1]s-B-%[2]d", amqplocks.NoBug), demands: property.Promises},
	{name: "slots first", new: guided("%03[2]d.slot.%[1]s", "%03[2]d.holder.%[1]s", amqplocks.NoBug), demands: property.Promises},
	{name: "a hash of the name", new: called(hash)},
	{name: "tokens", new: enginetest.Semaphore(semaphores.Tokens{})},
	{name: "tokens with headers", new: enginetest.Semaphore(semaphores.Tokens{InHeader: true})},
	{name: "tokens alike", new: enginetest.Semaphore(semaphores.Tokens{Alike: true})},
	{name: "consumers", new: enginetest.Semaphore(semaphores.Consumers{})},
	{name: "tokens alike, added and removed", new: enginetest.Semaphore(account(semaphores.Account{}))},
	{name: "exchanges", new: enginetest.Semaphore(semaphores.Exchanges{})},
	{name: "tokens, fenced", new: enginetest.Semaphore(semaphores.Fenced{})},
	{name: "tokens with limits", new: enginetest.Semaphore(semaphores.Limited{})},
	{name: "consumers with limits, no slots", new: enginetest.Semaphore(semaphores.Counted{})},
}

// account returns the design a with the option Alike: its messages have no numbers, so that every slot has the number
// 1.
func account(a semaphores.Account) semaphores.Account {
	a.Alike = true
	return a
}

var wrongSemaphores = []designed{
	{name: "jobs-A-1, release closes channel", new: guided("%[1]s-A-%[2]d", "%[1]s-B-%[2]d", amqplocks.ReleaseClosesChannel), demands: property.Promises, late: true},
	{name: "jobs-A-1, locked is success", new: guided("%[1]s-A-%[2]d", "%[1]s-B-%[2]d", amqplocks.LockedIsSuccess), demands: property.Promises, breaks: exclusion},
	{name: "names run together", new: guided("%[1]s%[2]dA", "%[1]s%[2]dB", amqplocks.NoBug), rare: true},
	{name: "token acknowledged", new: enginetest.Semaphore(semaphores.Tokens{Acknowledged: true})},
	{name: "token acknowledged, then published", new: enginetest.Semaphore(semaphores.Tokens{AckThenPublish: true})},
	{name: "token published, then acknowledged", new: enginetest.Semaphore(semaphores.Tokens{PublishThenAck: true})},
	{name: "token without acknowledgement", new: enginetest.Semaphore(semaphores.Tokens{NoAck: true})},
	{name: "tokens made twice", new: enginetest.Semaphore(semaphores.Tokens{Twice: true})},
	{name: "token from memory", new: enginetest.Semaphore(semaphores.Tokens{FromMemory: true}), breaks: staleness, late: true},
	{name: "token asked for on another channel", new: enginetest.Semaphore(semaphores.Tokens{OtherChannel: true}), breaks: staleness, late: true},
	{name: "token alike acknowledged", new: enginetest.Semaphore(semaphores.Tokens{Alike: true, Acknowledged: true}), late: true},
	{name: "token alike acknowledged, then published", new: enginetest.Semaphore(semaphores.Tokens{Alike: true, AckThenPublish: true}), late: true},
	{name: "token alike published, then acknowledged", new: enginetest.Semaphore(semaphores.Tokens{Alike: true, PublishThenAck: true}), late: true},
	{name: "token alike without acknowledgement", new: enginetest.Semaphore(semaphores.Tokens{Alike: true, NoAck: true}), late: true},
	{name: "tokens alike made twice", new: enginetest.Semaphore(semaphores.Tokens{Alike: true, Twice: true}), late: true},
	{name: "token alike from memory", new: enginetest.Semaphore(semaphores.Tokens{Alike: true, FromMemory: true}), breaks: staleness, late: true},
	{name: "tokens alike taken all at once", new: enginetest.Semaphore(semaphores.Tokens{Alike: true, All: true})},
	{name: "count ages", new: enginetest.Semaphore(semaphores.Tokens{SizeAges: true})},
	{name: "jobs-A-1, no second look", new: guided("%[1]s-A-%[2]d", "%[1]s-B-%[2]d", amqplocks.NoSecondLook), demands: property.Promises},
	{name: "consumer is not exclusive", new: enginetest.Semaphore(semaphores.Consumers{NotExclusive: true}), breaks: exclusion},
	{name: "consumer not cancelled", new: enginetest.Semaphore(semaphores.Consumers{NotCancelled: true}), late: true},
	{name: "consumer from memory", new: enginetest.Semaphore(semaphores.Consumers{FromMemory: true}), breaks: staleness},
	{name: "removal of what is held", new: enginetest.Semaphore(account(semaphores.Account{Taken: true}))},
	{name: "first exchanges removed", new: enginetest.Semaphore(semaphores.Exchanges{RemovesFirst: true}), late: true},
	{name: "nothing added to two exchanges", new: enginetest.Semaphore(semaphores.Exchanges{NoneOfTwo: true}), late: true},
	{name: "exchanges remembered", new: enginetest.Semaphore(semaphores.Exchanges{Remembers: true}), late: true},
	{name: "fencing tokens drawn before a slot is had", new: enginetest.Semaphore(semaphores.Fenced{DrawnFirst: true}), breaks: unfenced},
	{name: "fencing tokens counted by slot", new: enginetest.Semaphore(semaphores.Fenced{BySlot: true}), breaks: unfenced, late: true},
	{name: "limits looked at first", new: enginetest.Semaphore(semaphores.Limited{LooksFirst: true}), breaks: set(property.LimitRespected)},
	{name: "limits of what was counted first", new: enginetest.Semaphore(semaphores.Limited{CountsFirst: true}), breaks: set(property.LimitRespected), rare: true},
	{name: "limits ignored", new: enginetest.Semaphore(semaphores.Limited{Ignores: true}), breaks: set(property.LimitRespected), late: true},
	{name: "limits of consumers looked at first", new: enginetest.Semaphore(semaphores.Counted{LooksFirst: true}), breaks: set(property.LimitRespected)},
	{name: "refused consumer is success", new: enginetest.Semaphore(semaphores.Consumers{Refusal: true}), breaks: exclusion},
}

func (d *designed) prove(t *testing.T, on gated.Server, scenarios int, until property.Set) *engine.Result {
	t.Helper()
	res, err := gated.Prove(t.Context(), gated.Config{
		Lock: gated.Lock{Starter: inprocess.Starter{Name: d.name, New: d.new}, Kind: lock.Semaphore, On: on, Demands: d.demands}, Sampling: engine.Sampling{Seed: 1, Scenarios: scenarios, Until: until},
	})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestLowerCase checks a library that writes lock names in lower case. The gate must recognise the queues of a lock
// whose name has capitals.
func TestLowerCase(t *testing.T) {
	t.Parallel()
	runner := runnerOf(t, lock.Semaphore, foreign.Timing{}, called(strings.ToLower))
	x := play(t, runner, runner.Playable(scenario.Scenario{
		Locks:   []scenario.Lock{{Name: "jobs-1-A", Slots: 1}},
		Clients: []scenario.Client{{Ops: []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Verify}}}},
	}))
	if x.Found&wrong != 0 {
		t.Errorf("%v\n%s", x.Violations, enginetest.Drawn(t, x.Trace))
	}
}

// TestRightSemaphores checks that correct semaphores of several designs, with queues of any name, violate no property.
// Mutual exclusion and progress must have been judged.
func TestRightSemaphores(t *testing.T) {
	t.Parallel()
	for _, d := range rightSemaphores {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			t.Run("simulated", func(t *testing.T) { d.holds(t, enginetest.Simulated(t), 30) })
			t.Run("rabbitmq", func(t *testing.T) {
				if testing.Short() {
					t.Skip("skipped: -short leaves out the examples on a real broker")
				}
				d.holds(t, enginetest.Real(t), 8)
			})
		})
	}
}

func (d *designed) holds(t *testing.T, on gated.Server, scenarios int) {
	res := d.prove(t, on, scenarios, 0)
	for _, p := range res.Report.Properties {
		if p.Violation != nil {
			t.Errorf("%s is violated: %s\n%s", p.Property, p.Violation.Detail, p.Violation.Diagram)
		}
	}
	judged(t, res, property.MutualExclusion, property.Progress)
}

// TestWrongSemaphores checks that the bug of each wrong semaphore is found. The counterexample must violate a property
// that fits the bug, and must replay.
func TestWrongSemaphores(t *testing.T) {
	t.Parallel()
	for _, d := range wrongSemaphores {
		t.Run(d.name, func(t *testing.T) {
			if testing.Short() && d.late {
				t.Skip("skipped: -short leaves out what takes long")
			}
			if d.rare && !*everyBug {
				t.Skip("skipped: it takes a hundred executions and more; -every-bug has it")
			}
			t.Parallel()
			res := d.prove(t, enginetest.Simulated(t), 1000, wrong|d.demands)
			for _, ce := range res.Counterexamples("") {
				if ce.Suspected || d.breaks != 0 && !d.breaks.Has(ce.Property) {
					continue
				}
				t.Logf("%s, first seen in execution %d: %s", ce.Property, ce.Origin.Scenario, ce.Violation.Detail)
				replays(t, res, ce.Property, inprocess.Starter{Name: d.name, New: d.new})
				return
			}
			t.Errorf("it is not found out in %d executions", res.Report.Scenarios)
		})
	}
}
