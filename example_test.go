package lockproof_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockproof/lockproof"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	amqplocks "github.com/lockproof/lockproof/testdata/targets/golang"
)

// A library's own test. It has a subtest for each property, and prints the shortest execution that violates a property.
func ExampleTest() {
	mySemaphore := lockproof.Go("my semaphore", func(ctx context.Context, url string) (lockproof.Lock, error) {
		return amqplocks.NewDialing(ctx, url, lockproof.Dial, amqplocks.NoBug) // works without Dial too, but slower
	})
	_ = func(t *testing.T) { // func TestSemaphore(t *testing.T)
		lockproof.Test(t, mySemaphore, lockproof.Sample{})
	}
}

// A lock written in Go with a bug: a client believes that it owns a queue that belongs to another client.
func ExampleGo() {
	mine := lockproof.Go("mine", func(ctx context.Context, url string) (lockproof.Lock, error) {
		return amqplocks.NewWith(ctx, url, amqplocks.LockedIsSuccess)
	})
	res, err := lockproof.Prove(context.Background(), mine, lockproof.Sample{Options: lockproof.Options{Properties: []lockproof.Property{lockproof.MutualExclusion}, First: true}, Executions: 100})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Judgement(lockproof.MutualExclusion).Verdict)
	// Output: violated
}

// A lock in any language, as a shell command. This command is no lock: it prints a text instead of JSON-RPC.
func ExampleExec() {
	_, err := lockproof.Prove(context.Background(), lockproof.Exec("echo I am no lock"), lockproof.Sample{Executions: 1})
	var broken *lockproof.ProtocolError
	if errors.As(err, &broken) {
		why, _, _ := strings.Cut(broken.Why, ":")
		fmt.Println(why)
	}
	// Output:
	// printed "I am no lock" to standard output
}

// Prove finds a counterexample, and the program prints what happened and in how many steps.
func ExampleProve() {
	res, err := lockproof.Prove(context.Background(), lockproof.Mutant("locked-is-success"), lockproof.Sample{Options: lockproof.Options{Properties: []lockproof.Property{lockproof.MutualExclusion}, First: true}, Executions: 1000})
	if err != nil {
		log.Fatal(err)
	}
	for _, j := range res.Judgements {
		fmt.Printf("%s (%s): %s\n", j.Property, j.Property.Sentence(), j.Verdict)
		if c := j.Counterexample; c != nil {
			fmt.Printf("%s, in %d steps\n", c.Detail, c.Steps)
		}
	}
	// Output:
	// mutual-exclusion (no two clients hold one slot at once): violated
	// c2 and c1 hold slot 1 at once, in 8 steps
}

// A counterexample is saved to a file. Replay needs only this file.
func ExampleReplay() {
	ctx := context.Background()
	res, err := lockproof.Prove(ctx, lockproof.Mutant("locked-is-success"), lockproof.Sample{Options: lockproof.Options{First: true}, Executions: 1000})
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "lockproof")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "found.json")
	if err := res.Judgement(lockproof.MutualExclusion).Counterexample.Save(file); err != nil {
		log.Fatal(err)
	}

	c, err := lockproof.LoadCounterexample(file)
	if err != nil {
		log.Fatal(err)
	}
	again, err := lockproof.Replay(ctx, c, lockproof.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(again.Err())
	fmt.Println(again.Judgement(lockproof.MutualExclusion).Counterexample.Diagram)
	// Output:
	// violated
	// locked-is-success · jobs with 1 slot · pipeline=1
	//
	// step  c1         c2           command → reply                                   jobs
	//      │          │                                                              1:A
	//   1  ┏ acquire ─│──────────▸ publish jobs-1-A → ack                            │
	//   2  ┣──────────│──────────▸ publish jobs-1-B → NO_ROUTE                       │
	//   3  ┃          ┏ acquire ─▸ publish jobs-1-A → ack                            │
	//   4  ┃          ┣──────────▸ publish jobs-1-B → NO_ROUTE                       │
	//   5  ┃          ┣──────────▸ declare jobs-1-B exclusive → ok                   1:A B←c2
	// ▶ 6  ┣──────────┃──────────▸ declare jobs-1-B exclusive → 405 RESOURCE_LOCKED  │
	//   7  ┣──────────┃──────────▸ channel.open → ok                                 │
	// ✗ 8  ┗ holds 1 ─┃──────────▸ confirm.select → ok                               1:A B←c2
	// ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
	// ✗    mutual-exclusion: no two clients hold one slot at once
	//      c2 and c1 hold slot 1 at once
	// ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
	// ▶ where it was decided · ┏ ┗ call and return · 1:A slot 1 exists · B←c1 c1's connection holds it
}

// A CI job gets an exit code and a JUnit report.
func ExampleResult_Err() {
	res, err := lockproof.Prove(context.Background(), lockproof.Target{}, lockproof.Sample{Options: lockproof.Options{Require: []lockproof.Property{lockproof.MutualExclusion, lockproof.Linearizable}}, Executions: 1000})
	if err != nil {
		log.Fatal(err)
	}
	var junit strings.Builder
	if err := res.Write(&junit, "junit"); err != nil {
		log.Fatal(err)
	}
	switch err := res.Err(); {
	case errors.Is(err, lockproof.ErrViolated):
		fmt.Println("exit 1")
	case errors.Is(err, lockproof.ErrInconclusive):
		fmt.Println("exit 4")
	default:
		fmt.Println("exit 0:", strings.Count(junit.String(), "<testcase"), "properties")
	}
	// Output:
	// exit 0: 19 properties
}

// Explore visits every execution of two clients and an administrator. The clients acquire, verify and release two
// slots, the administrator removes one of these, and one client may die.
func ExampleExplore() {
	res, err := lockproof.Explore(context.Background(), lockproof.Reference(lockproof.Semaphore), lockproof.Bounds{Options: lockproof.Options{Properties: []lockproof.Property{lockproof.MutualExclusion, lockproof.NoLeak}}})
	if err != nil {
		log.Fatal(err)
	}
	for _, j := range res.Judgements {
		fmt.Println(j.Property, j.Verdict)
	}
	fmt.Println(res.States, "states")
	// Output:
	// mutual-exclusion proved
	// no-leak proved
	// 2436 states
}

// Explore proves mutual exclusion for any number of clients, any number of which may die.
func ExampleExplore_anyNumberOfClients() {
	res, err := lockproof.Explore(context.Background(), lockproof.Reference(lockproof.Semaphore), lockproof.Bounds{Options: lockproof.Options{Properties: []lockproof.Property{lockproof.MutualExclusion}}, Clients: lockproof.Any, Admins: lockproof.None, Slots: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Judgement(lockproof.MutualExclusion).Verdict)
	// Output:
	// proved
}

// Explore finds the shortest execution in which two clients hold one slot. No execution within the bounds has fewer
// steps.
func ExampleExplore_shortest() {
	res, err := lockproof.Explore(context.Background(), lockproof.Mutant("locked-is-success"), lockproof.Bounds{
		Options: lockproof.Options{First: false, Properties: []lockproof.Property{lockproof.MutualExclusion}},
		Admins:  lockproof.None,
		Slots:   1,
		Crashes: lockproof.None,
		Calls:   "acquire",
	})
	if err != nil {
		log.Fatal(err)
	}
	c := res.Judgement(lockproof.MutualExclusion).Counterexample
	fmt.Println(c.Steps, "steps, least:", c.Least)
	// Output:
	// 12 steps, least: true
}

// A design choice, and the property that it violates: here an acquire returns success without a verify.
func ExampleTarget_With() {
	t := lockproof.Reference(lockproof.Semaphore).With("verify-first", "false").With("pipeline", "0")
	res, err := lockproof.Explore(context.Background(), t, lockproof.Bounds{
		Options:    lockproof.Options{Properties: []lockproof.Property{lockproof.NoPhantomSlot, lockproof.RemovalDrains}},
		Clients:    1,
		Admins:     1,
		Slots:      1,
		Crashes:    lockproof.None,
		Calls:      "acquire",
		AdminCalls: "remove:1",
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, j := range res.Judgements {
		fmt.Println(j.Property, j.Verdict)
	}
	// Output:
	// no-phantom-slot proved
	// removal-drains violated
}

// A semaphore with slots 1 and 3, but without slot 2. An acquire looks only at slot 1, since its scan ends at the
// gap. An add of one slot creates slot 2. Then there are three slots.
func ExampleExplore_fromHoles() {
	res, err := lockproof.Explore(context.Background(), lockproof.Target{}, lockproof.Bounds{
		Options:    lockproof.Options{Properties: []lockproof.Property{lockproof.ContiguousSlots, lockproof.Progress}},
		Start:      []int{1, 3},
		Crashes:    lockproof.None,
		AdminCalls: "add:1",
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, j := range res.Judgements {
		fmt.Println(j.Property, j.Verdict, j.Counterexample.Detail)
	}
	// Output:
	// contiguous-slots violated c1: there are more or fewer slots than administered
	// progress violated c2: acquire did not find a slot that was free all along
}

// A custom property: the semaphore hands out its slots in their order.
func ExampleAlways() {
	inOrder := lockproof.Always("in-order", func(v lockproof.View) error {
		for _, h := range v.Locks[0].Holders {
			if h.Slot == 2 && len(v.Locks[0].Holders) == 1 {
				return fmt.Errorf("c%d has slot 2, and nobody has slot 1", h.Client)
			}
		}
		return nil
	})
	res, err := lockproof.Explore(context.Background(), lockproof.Target{}, lockproof.Bounds{
		Options: lockproof.Options{Own: []lockproof.Own{inOrder}, Properties: []lockproof.Property{"in-order"}},
		Admins:  lockproof.None,
		Crashes: lockproof.None,
		Calls:   "acquire,release",
	})
	if err != nil {
		log.Fatal(err)
	}
	j := res.Judgement("in-order")
	fmt.Println(j.Verdict)
	fmt.Println(j.Counterexample.Detail, "after", j.Counterexample.Steps, "steps")
	// Output:
	// violated
	// c2 has slot 2, and nobody has slot 1 after 12 steps
}

// A custom property that some execution must show. If no explored execution shows it, the verdict is violated.
func ExampleSometimes() {
	full := lockproof.Sometimes("full", func(v lockproof.View) bool { return len(v.Locks[0].Holders) == len(v.Locks[0].Slots) })
	for _, clients := range []int{1, 2} {
		res, err := lockproof.Explore(context.Background(), lockproof.Target{}, lockproof.Bounds{Options: lockproof.Options{Own: []lockproof.Own{full}, Properties: []lockproof.Property{"full"}}, Clients: clients, Admins: lockproof.None})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(clients, "clients:", res.Judgement("full").Verdict)
	}
	// Output:
	// 1 clients: violated
	// 2 clients: proved
}

// unasked is the reference semaphore, except that an acquire claims a slot without first looking for a holder.
type unasked struct{ *amqplock.Protocol }

func (u unasked) Apply(m *amqplock.Machine, r amqp.Reply) {
	u.Protocol.Apply(m, r)
	if m.Phase == amqplock.ScanningB {
		m.Phase = amqplock.Claiming
	}
}

// A variant of the reference semaphore: a state machine that embeds it. Explore shows which property the variant
// violates, and in how few steps.
func ExampleProtocol() {
	mine := lockproof.Protocol("unasked", lockproof.Semaphore, func(reference *amqplock.Protocol) amqplock.Implementation {
		return unasked{reference}
	})
	res, err := lockproof.Explore(context.Background(), mine.With("pipeline", "0"), lockproof.Bounds{
		Options: lockproof.Options{Properties: []lockproof.Property{lockproof.MutualExclusion, lockproof.CheapAcquire}},
		Admins:  lockproof.None,
		Slots:   1,
		Crashes: lockproof.None,
		Calls:   "acquire",
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, j := range res.Judgements {
		fmt.Println(j.Property, j.Verdict)
		if c := j.Counterexample; c != nil {
			fmt.Println(c.Detail, "in", c.Steps, "steps")
		}
	}
	// Output:
	// mutual-exclusion proved
	// cheap-acquire violated
	// c2's acquire broke a channel by a command of its own in 18 steps
}

// An exploration that begins in the last state of a counterexample. There, two administrators without a mutex have left
// a hole among the slots. From this state an administrator adds a slot.
func ExampleExplore_fromStep() {
	ctx, t := context.Background(), lockproof.Reference(lockproof.Semaphore).With("admin-mutex", "false")
	o := lockproof.Options{Properties: []lockproof.Property{lockproof.ContiguousSlots}}
	res, err := lockproof.Explore(ctx, t, lockproof.Bounds{
		Options: o, Clients: lockproof.None, Admins: 2, Crashes: lockproof.None, AdminCalls: "remove:1,add:1",
	})
	if err != nil {
		log.Fatal(err)
	}
	found := res.Judgement(lockproof.ContiguousSlots).Counterexample
	res, err = lockproof.Explore(ctx, lockproof.Target{}, lockproof.Bounds{Options: o, From: found, After: found.Steps, AdminCalls: "add:1", Crashes: lockproof.None})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found.Detail)
	fmt.Println(res.Judgement(lockproof.ContiguousSlots).Counterexample.Detail)
	// Output:
	// c2: slot 1: there is a hole
	// c1: there are more or fewer slots than administered
}

// Check judges a recorded history in Jepsen's format, with one event in each line.
func ExampleCheck() {
	history := `
		{:process 0, :type :invoke, :f :acquire, :value nil}
		{:process 0, :type :ok,     :f :acquire, :value nil}
		{:process 1, :type :invoke, :f :acquire, :value nil}
		{:process 1, :type :ok,     :f :acquire, :value nil}`
	res, err := lockproof.Check(strings.NewReader(history), lockproof.Options{})
	if err != nil {
		log.Fatal(err)
	}
	j := res.Judgement(lockproof.Linearizable)
	fmt.Println(j.Verdict)
	fmt.Println(j.Counterexample.Detail)
	// Output:
	// violated
	// c1 was granted the lock (events 2 to 3), but c0 had it: it was granted at event 1 and not given back
}

// Each mutant is a reference lock with one bug, and violates a property. Mutants show that the checks find bugs.
func ExampleMutants() {
	fmt.Println(lockproof.Mutants()["locked-is-success"])
	// Output: mutual-exclusion
}

// A sample with fixed numbers of clients and executions, in which a client dies during a tenth of all operations.
func ExampleOptions() {
	res, err := lockproof.Prove(context.Background(), lockproof.Reference(lockproof.PersistentMutex), lockproof.Sample{Seed: 7, Executions: 500, Clients: 3, Admins: lockproof.None, Restarts: lockproof.None, CrashShare: 0.1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Err(), res.Executions, res.Judgement(lockproof.SurvivesRestart).Reason)
	// Output:
	// <nil> 500 never exercised: no execution put it to the test
}

// Write prints the same summary (the card) as the command line does.
func ExampleResult_Write() {
	res, err := lockproof.Prove(context.Background(), lockproof.Reference(lockproof.Mutex), lockproof.Sample{Options: lockproof.Options{Properties: []lockproof.Property{lockproof.MutualExclusion}}, Executions: 200})
	if err != nil {
		log.Fatal(err)
	}
	res.Elapsed = 0
	var card strings.Builder
	if err := res.Write(&card, "card"); err != nil {
		log.Fatal(err)
	}
	for line := range strings.Lines(card.String()) {
		if strings.Contains(line, "✓ passed") {
			fmt.Println(strings.Fields(line)[:3])
		}
	}
	// Output:
	// [✓ passed mutual-exclusion]
}
