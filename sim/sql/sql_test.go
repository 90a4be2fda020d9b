package sql_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/question"
	"github.com/lockproof/lockproof/sim/search"
	_ "github.com/lockproof/lockproof/sim/sql"
)

var (
	survives = flag.Int("survives", 1000, "how many executions each reference has to survive")
	dies     = flag.Int("dies", 4000, "in how many executions each mutant has to break its property")
	whole    = flag.Bool("whole", false, "explore the master form as well, which takes minutes")
)

func backends(t *testing.T) (all []*lock.Backend) {
	for _, name := range []string{"mariadb", "postgres"} {
		b, err := lock.BackendNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	return all
}

// found returns the properties that random executions of a target violate. It stops early once a property in until is
// violated.
func found(target *lock.Target, executions int, until property.Set) (all property.Set) {
	var r sim.Runner
	source := sim.NewSource(sim.Space{Target: target}, 1)
	of := property.Of(target)
	for i := 0; i < executions && (until == 0 || all&until == 0); i++ {
		s := source.Scenario(i)
		for _, v := range r.Trace(target, &s, property.Weak).Violations {
			all |= of & property.Set(0).With(v.Property)
		}
	}
	return all
}

// TestSampled: in random executions the reference locks violate nothing, and each mutant violates its property. Some
// mutants have the faults of published libraries, FACTS H2, H3, H4, H5, H6, H7, H8.
func TestSampled(t *testing.T) {
	for _, b := range backends(t) {
		for _, target := range b.References {
			if all := found(target, *survives, 0); all != 0 {
				t.Errorf("%s violates %v", target.Name, all.Names())
			}
		}
		for _, target := range b.Mutants {
			p, err := property.Named(target.Breaks)
			if err != nil {
				t.Fatal(err)
			}
			if breaks := property.Set(0).With(p); found(target, *dies, breaks)&breaks == 0 {
				t.Errorf("%s does not violate %s in %d executions", target.Name, target.Breaks, *dies)
			}
		}
	}
}

// TestLimitsDiffer: if leases are counted under the lock on the master row, each client's stated limit is respected.
// The mutant limits-differ fails only because its slots have numbers.
func TestLimitsDiffer(t *testing.T) {
	for _, b := range backends(t) {
		target := *b.References[0]
		target.Traits |= lock.Limits
		if all := found(&target, *survives, 0); all != 0 {
			t.Errorf("%s, limits of callers: violates %v", target.Name, all.Names())
		}
	}
}

// with returns the target with further options fixed.
func with(t *testing.T, b *lock.Backend, target *lock.Target, options map[string]string) *lock.Target {
	t.Helper()
	other := *target
	other.Fix = func(o lock.Options) lock.Options {
		o = target.Fix(o)
		for name, value := range options {
			var err error
			if o, err = o.With(name, value); err != nil {
				t.Fatal(err)
			}
		}
		return o
	}
	return &other
}

// TestSerializable: the option isolation=serializable is refused for PostgreSQL, since it is not modelled.
func TestSerializable(t *testing.T) {
	for _, b := range backends(t) {
		_, err := b.Defaults.With("isolation", "serializable")
		if refused := err != nil && strings.Contains(err.Error(), "not modelled"); refused != (b.Name == "postgres") {
			t.Errorf("%s: %v", b.Name, err)
		}
	}
}

// TestLockWait: an acquire may fail if all its attempts found the row locked. Here the owner of the row lock has
// crashed, and the server has not detected it.
func TestLockWait(t *testing.T) {
	for _, b := range backends(t) {
		target, acquire := b.References[1], []scenario.Operation{{Op: lock.Acquire}}
		options, err := target.Settled(b.Defaults).With("lock-wait", "4")
		if err != nil {
			t.Fatal(err)
		}
		bounds := sim.Bounds{
			Target: target, Options: options, Locks: []scenario.Lock{{Name: "jobs", Slots: 1}}, Clients: []scenario.Client{{Ops: acquire}, {Ops: acquire}},
			Faults: sim.FaultBounds{Crashes: 1, Late: true}, Properties: 1 << property.Progress,
		}
		if res := search.Run(t.Context(), bounds, search.Options{Workers: 1, Reductions: search.AllReductions}); res.Stop != search.Finished || res.Found != 0 {
			t.Errorf("%s: %v, violates %v", target.Name, res.Stop, res.Found.Names())
		}
	}
}

// TestRows: rows that an acquire adds and a release deletes are safe if each missing row is added before the
// transaction. Adding rows within the transaction is safe if no client locks gaps: on MariaDB at READ COMMITTED, and on
// PostgreSQL.
func TestRows(t *testing.T) {
	for _, b := range backends(t) {
		levels := map[string][]string{"each": {"read-committed"}, "within": {"read-committed"}}
		if b.Name == "postgres" {
			levels["within"] = append(levels["within"], "repeatable-read")
		}
		for rows, all := range levels {
			for _, level := range all {
				options := map[string]string{"rows": rows, "released": "delete", "isolation": level, "retries": "3"}
				if all := found(with(t, b, b.References[1], options), *survives, 0); all != 0 {
					t.Errorf("%s, %v: violates %v", b.References[1].Name, options, all.Names())
				}
			}
		}
	}
}

// TestRefreshes: in the slot form, a refresh may revive a lease that has ended, since clients stop believing by their
// own clocks. If the refresh had to wait, its row is then free or another client's. In the master form this is wrong:
// see the mutant refresh-by-token.
func TestRefreshes(t *testing.T) {
	for _, b := range backends(t) {
		target := b.References[1]
		if all := found(with(t, b, target, map[string]string{"refreshes": "owned"}), *survives, 0); all != 0 {
			t.Errorf("%s, refreshes=owned: violates %v", target.Name, all.Names())
		}
	}
}

// pins has the numbers of states for two clients that acquire and release, one of which also refreshes, with one fault
// of one kind.
var pins = map[string]int{
	"mariadb-slots, 1 crash": 10386, "mariadb-slots, 1 dropped connection": 11279, "mariadb-slots, 1 lost reply": 6849, "mariadb-slots, 1 broker restart": 4018,
	"mariadb-master, 1 crash": 1081269, "mariadb-master, 1 dropped connection": 1482725, "mariadb-master, 1 lost reply": 1177663, "mariadb-master, 1 broker restart": 292809,
	"postgres-master, 1 crash": 1081269, "postgres-master, 1 dropped connection": 1482725, "postgres-master, 1 lost reply": 1177663, "postgres-master, 1 broker restart": 292809,
	"postgres-slots, 1 crash": 9926, "postgres-slots, 1 dropped connection": 10763, "postgres-slots, 1 lost reply": 6696, "postgres-slots, 1 broker restart": 3918,
}

// explored searches all executions, and reports any violation as an error.
func explored(t *testing.T, bounds sim.Bounds) *search.Result {
	t.Helper()
	res := search.Run(t.Context(), bounds, search.Options{Workers: 1, Reductions: search.AllReductions})
	if res.Stop != search.Finished || res.Found != 0 {
		t.Errorf("%s, %s: %v, violates %v", bounds.Target.Name, bounds.Faults.String(), res.Stop, res.Found.Names())
	}
	return res
}

// TestExploredWitness: in the slot form, the monitor has a linearization of every execution within bounds, whatever
// fault happens.
func TestExploredWitness(t *testing.T) {
	for _, b := range backends(t) {
		for _, target := range b.References {
			if target.Traits.Has(lock.Permits) {
				continue // this form has a thousand times as many states
			}
			for _, fault := range []sim.FaultBounds{{Crashes: 1, Late: true}, {Drops: 1}, {Lost: 1}, {Restarts: 1}} {
				calls := scenario.Client{Ops: []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Refresh}, {Op: lock.Release}}}
				res := explored(t, sim.Bounds{
					Target: target, Options: target.Settled(b.Defaults), Locks: []scenario.Lock{{Name: "jobs", Slots: 1}},
					Clients: []scenario.Client{calls, calls}, Faults: fault, Properties: 1 << property.Linearizable,
				})
				if res.Unwitnessed > 0 {
					t.Errorf("%s, %s: %d operations ended in executions that are no witness", target.Name, fault.String(), res.Unwitnessed)
				}
			}
		}
	}
}

// TestExplored searches all executions of the reference locks within bounds: two clients, one of which refreshes, and
// one fault of each kind. The numbers of states are compared with fixed numbers.
func TestExplored(t *testing.T) {
	const a, f, r = lock.Acquire, lock.Refresh, lock.Release
	faults := []sim.FaultBounds{{Crashes: 1, Late: true}, {Drops: 1}, {Lost: 1}, {Restarts: 1}}
	for _, b := range backends(t) {
		for _, target := range b.References {
			if target.Traits.Has(lock.Permits) && !*whole {
				continue
			}
			for _, fault := range faults {
				bounds := sim.Bounds{
					Target: target, Options: target.Settled(b.Defaults), Locks: []scenario.Lock{{Name: "jobs", Slots: 1}},
					Clients: []scenario.Client{{Ops: []scenario.Operation{{Op: a}, {Op: f}, {Op: r}}}, {Ops: []scenario.Operation{{Op: a}, {Op: r}}}},
					Faults:  fault, Properties: property.Of(target) &^ (1 << property.Linearizable),
				}
				res := explored(t, bounds)
				name := target.Name + ", " + fault.String()
				if want := pins[name]; want != int(res.States) {
					t.Errorf("%s: %d states, expected %d", name, res.States, want)
				}
			}
		}
	}
}

// TestAsManyAsMay: leases of the master form have no slot numbers. Two clients may hold a lock of two places, even if
// one believes longer than its lease lasts. A third client violates mutual exclusion.
func TestAsManyAsMay(t *testing.T) {
	options := map[string]string{"deadline": "never", "lease": "14", "retries": "0"}
	for _, b := range backends(t) {
		target := with(t, b, b.References[0], options)
		acquires := scenario.Client{Ops: []scenario.Operation{{Op: lock.Acquire}}}
		s := scenario.Scenario{Locks: []scenario.Lock{{Name: "jobs", Slots: 2}}, Options: target.Settled(b.Defaults), Clients: slices.Repeat([]scenario.Client{acquires}, 3)}
		s.Schedule.Strategy = scenario.Replay
		for clients := 1; clients <= 3; clients++ {
			for range 6 {
				s.Schedule.Actions = append(s.Schedule.Actions, scenario.Action{Kind: scenario.Step, Client: uint8(clients)})
			}
			if clients == 1 {
				s.Schedule.Actions = append(s.Schedule.Actions, scenario.Action{Kind: scenario.Advance, Arg: 14})
			}
			tr := new(sim.Runner).Trace(target, &s, property.Weak)
			believe := 0
			for _, e := range tr.History.Events {
				if e.F == history.F(lock.Acquire) && e.Held {
					believe++
				}
			}
			if _, excludes := sim.Violating(tr, property.MutualExclusion); believe != clients || excludes != (clients > 2) {
				t.Errorf("%s: %d clients believe in two places, and exclude each other: %v", target.Name, believe, excludes)
			}
		}
	}
}

// TestSaidOnce: no two answers to questions have a sentence in common.
func TestSaidOnce(t *testing.T) {
	for _, b := range backends(t) {
		_, set, err := question.Of(b.Name)
		if err != nil {
			t.Fatal(err)
		}
		said := make(map[string]int)
		for i, q := range set.Questions {
			for _, sentence := range strings.SplitAfter(q.Answer, ". ") {
				if first, again := said[sentence]; again {
					t.Errorf("%s: question %d says as %d does: %q", b.Name, i+1, first, sentence)
				}
				said[sentence] = i + 1
			}
		}
	}
}

// TestNumberOfPermit: the simulation gives a number to each lease of the master form, which no client sees. In each
// case one client's lease has ended, and the other client has got its number. Then the first client's refresh extends
// its lease, or claims to without doing so, or its release fails. With two places, the two clients never violate mutual
// exclusion.
func TestNumberOfPermit(t *testing.T) {
	const a, f, r = lock.Acquire, lock.Refresh, lock.Release
	step := func(client uint8, n int) []scenario.Action {
		return slices.Repeat([]scenario.Action{{Kind: scenario.Step, Client: client}}, n)
	}
	for _, c := range []struct {
		on      string // the only server, "" for both; PostgreSQL aborts a transaction by a timeout
		options map[string]string
		then    lock.Op
		held    int // number of times that a client is told that it holds the lock
		actions [][]scenario.Action
	}{
		{"", map[string]string{"refreshes": "owned", "locking": "nowait", "lease": "5", "retries": "0"}, f, 3,
			[][]scenario.Action{step(1, 7), step(2, 6), step(1, 3)}},
		{"mariadb", map[string]string{"locking": "skip-locked", "lease": "7", "lock-wait": "2", "on-timeout": "proceed", "retries": "0", "isolation": "repeatable-read"}, f, 3,
			[][]scenario.Action{step(1, 7), step(2, 2), step(1, 1), step(2, 2), step(1, 2), step(2, 2), {{Kind: scenario.Advance, Arg: 1}}, step(1, 2)}},
		{"", map[string]string{"deadline": "never", "lease": "7", "lock-wait": "3", "retries": "0"}, r, 2,
			[][]scenario.Action{step(1, 6), {{Kind: scenario.Advance, Arg: 14}}, step(2, 2), step(1, 2), step(2, 4), step(1, 2)}},
	} {
		for _, b := range backends(t) {
			if c.on != "" && c.on != b.Name {
				continue
			}
			target := with(t, b, b.References[0], c.options)
			s := scenario.Scenario{Locks: []scenario.Lock{{Name: "jobs", Slots: 2}}, Options: target.Settled(b.Defaults),
				Clients: []scenario.Client{{Ops: []scenario.Operation{{Op: a}, {Op: c.then}}}, {Ops: []scenario.Operation{{Op: a}}}}}
			s.Schedule = scenario.Schedule{Strategy: scenario.Replay, Actions: slices.Concat(c.actions...)}
			tr := new(sim.Runner).Trace(target, &s, property.Weak)
			held := 0
			for _, e := range tr.History.Events {
				if e.Held {
					held++
				}
			}
			if _, excludes := sim.Violating(tr, property.MutualExclusion); held != c.held || excludes {
				t.Errorf("%s, %v: %d times held, and exclude each other: %v", target.Name, c.options, held, excludes)
			}
		}
	}
}

// TestRefreshInVain: a refresh that ignores the server's error says that the client holds the lock, although it has
// extended nothing. The lease may still last at the reply, or may have ended while the refresh waited for its row.
func TestRefreshInVain(t *testing.T) {
	step := func(client uint8, n int) []scenario.Action {
		return slices.Repeat([]scenario.Action{{Kind: scenario.Step, Client: client}}, n)
	}
	for _, b := range backends(t) {
		for _, wait := range []uint32{3, 6} { // the lease ends 5 ms after the refresh is sent
			target := with(t, b, b.References[1], map[string]string{
				"clock": "statement", "deadline": "never", "on-timeout": "proceed", "lease": "7", "lock-wait": fmt.Sprint(wait), "retries": "0",
			})
			s := scenario.Scenario{Locks: []scenario.Lock{{Name: "jobs", Slots: 1}}, Options: target.Settled(b.Defaults),
				Clients: []scenario.Client{{Ops: []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Refresh}}}, {Ops: []scenario.Operation{{Op: lock.Acquire}}}}}
			s.Schedule = scenario.Schedule{Strategy: scenario.Replay, Actions: slices.Concat(
				step(1, 2), step(2, 2), step(1, 3), []scenario.Action{{Kind: scenario.Advance, Arg: wait}}, step(1, 1))}
			tr := new(sim.Runner).Trace(target, &s, property.Weak)
			if _, lied := sim.Violating(tr, property.RenewalHonest); !lied {
				t.Errorf("%s, lock-wait %d: a refresh that timed out says that the lease is extended", target.Name, wait)
			}
		}
	}
}
