package gated_test

import (
	"flag"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/amqp/plugin"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/subprocess/adaptercheck"
	"github.com/lockproof/lockproof/internal/enginetest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
)

// everyBug tests every bug of the examples in other languages. Without it only some bugs are tested, to show that each
// language's driver works behind the gate, because processes take long to start. The example in Go covers the designs.
var everyBug = flag.Bool("every-bug", false, "look for every bug of the examples in other languages, and give right locks several times as many scenarios")

// TestExamples runs locks in several languages, unchanged, on the simulated broker and on a real RabbitMQ behind the
// gate. The correct ones must violate nothing. Each wrong one must violate the property that its bug breaks, in an
// execution that replays.
func TestExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out the examples in several languages")
	}
	for _, e := range enginetest.Examples {
		t.Run(e.Folder, func(t *testing.T) {
			e.Need(t)
			t.Parallel()
			t.Run("check", func(t *testing.T) { check(t, &e) })
			t.Run("repeats", func(t *testing.T) { repeats(t, &e) })
			for name, on := range map[string]func(t *testing.T) gated.Server{"simulated": enginetest.Simulated, "rabbitmq": enginetest.Real} {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					on := on(t)
					t.Run("holds", func(t *testing.T) { holds(t, &e, on, 20) })
					for bug, property := range e.Breaks {
						if e.On(on, bug, *everyBug) {
							t.Run(bug, func(t *testing.T) { violates(t, &e, on, bug, property) })
						}
					}
				})
			}
		})
	}
}

// TestExamplesOnRedis does the same as TestExamples for locks with leases, on Redis servers started for the test.
func TestExamplesOnRedis(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out the examples in several languages")
	}
	for _, e := range enginetest.OnRedis {
		t.Run(e.Folder, func(t *testing.T) {
			e.Need(t)
			t.Parallel()
			on := enginetest.Redis(t, 1)
			t.Run("holds", func(t *testing.T) {
				holds(t, &e, on, 80)
			})
			for bug, property := range e.Breaks {
				t.Run(bug, func(t *testing.T) {
					if bug == enginetest.HalfIsEnough {
						on = enginetest.Redis(t, 3)
					}
					violates(t, &e, on, bug, property)
				})
			}
		})
	}
}

func check(t *testing.T, e *enginetest.Example) {
	if e.Command == "" {
		t.Skip("skipped: it is no program")
	}
	var out strings.Builder
	p := adaptercheck.Printer{Out: &out}
	green, err := adaptercheck.Run(t.Context(), adaptercheck.Config{Command: e.Command, Dir: e.Dir(), Stderr: t.Output()}, p.Step)
	if err != nil || !green {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// repeats runs scenarios twice, with different clients and in reverse order. Earlier scenarios must not change an
// execution.
func repeats(t *testing.T, e *enginetest.Example) {
	if e.Slow && !*everyBug {
		t.Skip("skipped: its processes take long to start, and those of others show it; -every-bug has it")
	}
	source := sim.NewSource(sim.Space{Target: amqplock.References[0]}, 5)
	n := e.Scenarios(12)
	var executions [2][]string
	for turn := range executions {
		executions[turn] = make([]string, n)
		runner, err := foreign.NewRunner(t.Context(), foreign.Config{Open: plugin.Simulated, Starter: e.Starter(t, "locked-is-success"), Kind: lock.Semaphore})
		if err != nil {
			t.Fatal(err)
		}
		defer runner.Close()
		for k := range n {
			i := k
			if turn == 1 {
				i = n - 1 - k
			}
			sc := runner.Playable(source.Scenario(i))
			x, err := runner.Run(t.Context(), &sc)
			if err != nil {
				t.Fatal(err)
			}
			executions[turn][i] = enginetest.Drawn(t, x.Trace)
		}
	}
	for i := range executions[0] {
		if executions[0][i] != executions[1][i] {
			t.Errorf("scenario %d came to two executions:\n%s\n%s", i, executions[0][i], executions[1][i])
		}
	}
}

func holds(t *testing.T, e *enginetest.Example, on gated.Server, n int) {
	if *everyBug {
		n *= 2
	}
	res := e.Prove(t, on, "", e.Scenarios(n), 0)
	for _, p := range res.Report.Properties {
		if p.Violation != nil {
			t.Errorf("%s is violated: %s\n%s", p.Property, p.Violation.Detail, p.Violation.Diagram)
		}
	}
}

// violates checks that an example with a bug violates the property. On the simulated broker it runs an example in Go
// twice: one seed must give one counterexample. Examples in other languages run only once here, because the function
// repeats tests their determinism faster.
func violates(t *testing.T, e *enginetest.Example, on gated.Server, bug string, property property.Property) {
	found := Counterexample(t, e, on, bug, property)
	if on.Shared || e.Command != "" {
		return
	}
	if again := Counterexample(t, e, on, bug, property); again != found {
		t.Errorf("one seed, two counterexamples:\n%s\n%s", found, again)
	}
}

// Counterexample finds a counterexample of p, replays it, and returns a drawing of the replay. The replay must violate
// p again.
func Counterexample(t *testing.T, e *enginetest.Example, on gated.Server, bug string, p property.Property) string {
	res := e.Prove(t, on, bug, 600, property.Set(0).With(p))
	found := enginetest.CounterexampleOf(t, res, p)
	r, err := gated.Replay(t.Context(), found, e.Starter(t, bug), on)
	if err != nil {
		t.Fatal(err)
	}
	if r.Violation == nil {
		t.Fatalf("the counterexample does not replay:\n%s", enginetest.Drawn(t, r.Trace))
	}
	t.Logf("first seen in execution %d: %s", found.Origin.Scenario, r.Violation.Explain())
	return enginetest.Drawn(t, r.Trace)
}
