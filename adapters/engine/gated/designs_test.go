package gated_test

import (
	"context"
	"crypto/sha1"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/enginetest"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	amqplocks "github.com/lockproof/lockproof/testdata/targets/golang"
	"github.com/lockproof/lockproof/testdata/targets/golang/semaphores"
)

// designed is a semaphore of some design, in Go.
type designed struct {
	name   string
	new    func(ctx context.Context, url string) (inprocess.Lock, error)
	judged []property.Property // that have to be judged of a right one
	breaks []property.Property // that a wrong one violates, any of these
	late   bool                // it takes long until a wrong one is found out, and another has a bug of the same kind
}

// guided is the guidelines' semaphore with queues of other names.
func guided(a, b string, bug amqplocks.Bug) func(context.Context, string) (inprocess.Lock, error) {
	return func(ctx context.Context, url string) (inprocess.Lock, error) {
		c, err := amqplocks.NewNamed(ctx, url, amqplocks.Naming{A: a, B: b}, bug)
		return enginetest.Certain{Client: c}, err
	}
}

// called is the same with the lock's name in them as something writes it.
func called(write func(string) string) func(context.Context, string) (inprocess.Lock, error) {
	return func(ctx context.Context, url string) (inprocess.Lock, error) {
		c, err := amqplocks.NewNamed(ctx, url, amqplocks.Naming{A: "lock:%[1]s:%[2]d", B: "holder:%[1]s:%[2]d"}, amqplocks.NoBug)
		return renaming{enginetest.Certain{Client: c}, write}, err
	}
}

// renaming calls all otherwise.
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

// byGuidelines are the properties of the guidelines' semaphores, without those that take more scenarios than these tests
// have, and bySlots those of semaphores of other designs.
var (
	byGuidelines = []property.Property{
		property.MutualExclusion, property.Linearizable, property.NoPhantomSlot, property.HonestVerify, property.StaleBeliefEnds,
		property.ContiguousSlots, property.ExactCount, property.AdminExclusion, property.RemovalDrains, property.EffectiveRelease,
		property.CrashFrees, property.NoLeak, property.Progress, property.CheapAcquire, property.CheapVerify, property.MinimalDriver,
	}
	bySlots = []property.Property{
		property.MutualExclusion, property.Linearizable, property.NoPhantomSlot, property.HonestVerify, property.ContiguousSlots,
		property.ExactCount, property.EffectiveRelease, property.NoLeak, property.Progress,
	}
	byHistory = []property.Property{property.MutualExclusion, property.Linearizable, property.StaleBeliefEnds, property.Progress}
	byPermits = slices.DeleteFunc(slices.Clone(bySlots), func(p property.Property) bool { return p == property.NoPhantomSlot })
)

var rightSemaphores = []designed{
	{name: "jobs-A-1", new: guided("%[1]s-A-%[2]d", "%[1]s-B-%[2]d", amqplocks.NoBug), judged: byGuidelines},
	{name: "slots first", new: guided("%03[2]d.slot.%[1]s", "%03[2]d.holder.%[1]s", amqplocks.NoBug), judged: byGuidelines},
	{name: "a hash of the name", new: called(hash), judged: bySlots},
	{name: "tokens", new: enginetest.Semaphore(semaphores.Tokens{}), judged: bySlots},
	{name: "tokens with headers", new: enginetest.Semaphore(semaphores.Tokens{InHeader: true}), judged: bySlots},
	{name: "tokens alike", new: enginetest.Semaphore(semaphores.Tokens{Alike: true}), judged: byPermits},
	{name: "consumers", new: enginetest.Semaphore(semaphores.Consumers{}), judged: bySlots},
	{name: "tokens alike, added and removed", new: enginetest.Semaphore(account(semaphores.Account{})), judged: byPermits},
	{name: "exchanges", new: enginetest.Semaphore(semaphores.Exchanges{}), judged: byHistory},
	{name: "tokens, fenced", new: enginetest.Semaphore(semaphores.Fenced{}), judged: append(bySlots[:len(bySlots):len(bySlots)], property.FencingMonotone)},
	{name: "tokens with limits", new: enginetest.Semaphore(semaphores.Limited{}), judged: append(bySlots[:len(bySlots):len(bySlots)], property.LimitRespected)},
	{name: "consumers with limits, no slots", new: enginetest.Semaphore(semaphores.Counted{}),
		judged: append(byHistory[:len(byHistory):len(byHistory)], property.LimitRespected)},
}

// account has messages that are all alike.
func account(a semaphores.Account) semaphores.Account {
	a.Alike = true
	return a
}

var overLimit = []property.Property{property.LimitRespected}

var wrongSemaphores = []designed{
	{name: "jobs-A-1, release closes channel", new: guided("%[1]s-A-%[2]d", "%[1]s-B-%[2]d", amqplocks.ReleaseClosesChannel),
		breaks: []property.Property{property.EffectiveRelease}, late: true},
	{name: "jobs-A-1, locked is success", new: guided("%[1]s-A-%[2]d", "%[1]s-B-%[2]d", amqplocks.LockedIsSuccess), breaks: exclusion},
	{name: "names run together", new: guided("%[1]s%[2]dA", "%[1]s%[2]dB", amqplocks.NoBug), breaks: []property.Property{property.NameSafety}},
	{name: "token acknowledged", new: enginetest.Semaphore(semaphores.Tokens{Acknowledged: true}), breaks: []property.Property{property.EffectiveRelease}},
	{name: "token acknowledged, then published", new: enginetest.Semaphore(semaphores.Tokens{AckThenPublish: true}), breaks: []property.Property{property.CrashFrees}},
	{name: "token published, then acknowledged", new: enginetest.Semaphore(semaphores.Tokens{PublishThenAck: true}), breaks: []property.Property{property.MutualExclusion, property.NoLeak}},
	{name: "token without acknowledgement", new: enginetest.Semaphore(semaphores.Tokens{NoAck: true}), breaks: []property.Property{property.CrashFrees}},
	{name: "tokens made twice", new: enginetest.Semaphore(semaphores.Tokens{Twice: true}), breaks: []property.Property{property.MutualExclusion, property.NoLeak}},
	{name: "token from memory", new: enginetest.Semaphore(semaphores.Tokens{FromMemory: true}), breaks: staleness, late: true},
	{name: "token asked for on another channel", new: enginetest.Semaphore(semaphores.Tokens{OtherChannel: true}), breaks: staleness, late: true},
	{name: "token alike acknowledged", new: enginetest.Semaphore(semaphores.Tokens{Alike: true, Acknowledged: true}), breaks: []property.Property{property.EffectiveRelease}, late: true},
	{name: "token alike acknowledged, then published", new: enginetest.Semaphore(semaphores.Tokens{Alike: true, AckThenPublish: true}), breaks: []property.Property{property.CrashFrees}, late: true},
	{name: "token alike published, then acknowledged", new: enginetest.Semaphore(semaphores.Tokens{Alike: true, PublishThenAck: true}), breaks: []property.Property{property.ContiguousSlots}, late: true},
	{name: "token alike without acknowledgement", new: enginetest.Semaphore(semaphores.Tokens{Alike: true, NoAck: true}), breaks: []property.Property{property.CrashFrees}, late: true},
	{name: "tokens alike made twice", new: enginetest.Semaphore(semaphores.Tokens{Alike: true, Twice: true}), breaks: []property.Property{property.ContiguousSlots}, late: true},
	{name: "token alike from memory", new: enginetest.Semaphore(semaphores.Tokens{Alike: true, FromMemory: true}), breaks: staleness, late: true},
	{name: "tokens alike taken all at once", new: enginetest.Semaphore(semaphores.Tokens{Alike: true, All: true}), breaks: []property.Property{property.NoLeak}},
	{name: "count ages", new: enginetest.Semaphore(semaphores.Tokens{SizeAges: true}), breaks: []property.Property{property.ExactCount}},
	{name: "jobs-A-1, no second look", new: guided("%[1]s-A-%[2]d", "%[1]s-B-%[2]d", amqplocks.NoSecondLook),
		breaks: []property.Property{property.RemovalDrains, property.Linearizable}},
	{name: "consumer is not exclusive", new: enginetest.Semaphore(semaphores.Consumers{NotExclusive: true}), breaks: exclusion},
	{name: "consumer not cancelled", new: enginetest.Semaphore(semaphores.Consumers{NotCancelled: true}), breaks: []property.Property{property.EffectiveRelease}, late: true},
	{name: "consumer from memory", new: enginetest.Semaphore(semaphores.Consumers{FromMemory: true}), breaks: staleness},
	{name: "removal of what is held", new: enginetest.Semaphore(account(semaphores.Account{Taken: true})),
		breaks: []property.Property{property.ExactCount, property.ContiguousSlots}},
	{name: "first exchanges removed", new: enginetest.Semaphore(semaphores.Exchanges{RemovesFirst: true}), late: true, breaks: []property.Property{property.Linearizable}},
	{name: "nothing added to two exchanges", new: enginetest.Semaphore(semaphores.Exchanges{NoneOfTwo: true}), late: true, breaks: []property.Property{property.Progress}},
	{name: "exchanges remembered", new: enginetest.Semaphore(semaphores.Exchanges{Remembers: true}), late: true, breaks: []property.Property{property.Linearizable}},
	{name: "fencing tokens drawn before a slot is had", new: enginetest.Semaphore(semaphores.Fenced{DrawnFirst: true}), breaks: unfenced},
	{name: "fencing tokens counted by slot", new: enginetest.Semaphore(semaphores.Fenced{BySlot: true}), breaks: unfenced, late: true},
	{name: "limits looked at first", new: enginetest.Semaphore(semaphores.Limited{LooksFirst: true}), breaks: overLimit},
	{name: "limits of what was counted first", new: enginetest.Semaphore(semaphores.Limited{CountsFirst: true}), breaks: overLimit, late: true},
	{name: "limits ignored", new: enginetest.Semaphore(semaphores.Limited{Ignores: true}), breaks: overLimit, late: true},
	{name: "limits of consumers looked at first", new: enginetest.Semaphore(semaphores.Counted{LooksFirst: true}), breaks: overLimit},
	{name: "refused consumer is success", new: enginetest.Semaphore(semaphores.Consumers{Refusal: true}), breaks: exclusion},
}

func (d *designed) prove(t *testing.T, on gated.Broker, scenarios int, until property.Set) *engine.Result {
	t.Helper()
	res, err := gated.Prove(t.Context(), gated.Config{
		Starter: inprocess.Starter{Name: d.name, New: d.new}, Kind: lock.Semaphore, On: on, Seed: 1, Scenarios: scenarios, Until: until,
	})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// Of a library that writes names in lower case, locks whose names have capitals are known by their queues as well.
func TestLowerCase(t *testing.T) {
	t.Parallel()
	runner := runnerOf(t, lock.Semaphore, external.Timing{}, called(strings.ToLower))
	x := play(t, runner, runner.Playable(scenario.Scenario{
		Locks:   []scenario.Lock{{Name: "jobs-1-A", Slots: 1}},
		Clients: []scenario.Client{{Ops: []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Verify}}}},
	}))
	if x.Found != 0 {
		t.Errorf("%v\n%s", x.Violations, enginetest.Drawn(t, x.Trace))
	}
}

// Semaphores of several designs and with queues of any name are accused of nothing while they are right, and judged by
// what the broker has of them.
func TestRightSemaphores(t *testing.T) {
	t.Parallel()
	for _, d := range rightSemaphores {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			t.Run("simulated", func(t *testing.T) { d.holds(t, enginetest.Simulated(t), 60) })
			t.Run("rabbitmq", func(t *testing.T) {
				if testing.Short() {
					t.Skip("skipped: -short leaves out the examples on a real broker")
				}
				d.holds(t, enginetest.Real(t), 15)
			})
		})
	}
}

func (d *designed) holds(t *testing.T, on gated.Broker, scenarios int) {
	res := d.prove(t, on, scenarios, 0)
	for _, p := range res.Report.Properties {
		if p.Violation != nil {
			t.Errorf("%s is violated: %s\n%s", p.Property, p.Violation.Detail, p.Violation.Diagram)
		}
		if slices.Contains(d.judged, p.Property) && (p.Skip != "" || p.Checked == 0 && on.URL == "") {
			t.Errorf("%s is not judged: %s", p.Property, p.Skip)
		}
	}
	if verdict, _ := res.Report.Verdict(res.Report.Result(property.MutualExclusion)); verdict != report.Passed {
		t.Errorf("mutual-exclusion: %s", verdict)
	}
	t.Log(res.Report.Design)
}

// Wrong ones are found out, by what names their bug, in an execution that replays.
func TestWrongSemaphores(t *testing.T) {
	t.Parallel()
	for _, d := range wrongSemaphores {
		t.Run(d.name, func(t *testing.T) {
			if testing.Short() && d.late {
				t.Skip("skipped: -short leaves out what takes long")
			}
			t.Parallel()
			res := d.prove(t, enginetest.Simulated(t), 1000, setOf(d.breaks))
			for _, ce := range res.Counterexamples("") {
				if !slices.Contains(d.breaks, ce.Property) || ce.Suspected {
					continue
				}
				t.Logf("%s, first seen in execution %d: %s", ce.Property, ce.Origin.Scenario, ce.Violation.Detail)
				replays(t, res, ce.Property, inprocess.Starter{Name: d.name, New: d.new})
				return
			}
			t.Errorf("none of %v is violated in %d executions", d.breaks, res.Report.Scenarios)
		})
	}
}

func setOf(all []property.Property) (set property.Set) {
	for _, p := range all {
		set = set.With(p)
	}
	return set
}
