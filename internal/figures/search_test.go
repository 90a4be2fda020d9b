//go:build unix

package figures

import (
	"crypto/sha256"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/explore"
	"github.com/lockproof/lockproof/adapters/engine/sample"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
)

var searchFigures = []figure{
	{
		title: "Every execution, against Spin",
		about: "Spin and lockproof visit every state of the same protocol: 4 clients, 1 round, 1 administrator, 2 slots, " +
			"1 crash; mutual exclusion is judged. Spin's first case has the same states; in the others it forgets variables that are not " +
			"read again. Each is a process of its own, from start to end.",
		how: "`make bench-spin`", cores: "one core", ratio: "times as fast", times: true, once: true,
		need: func() string {
			for _, tool := range []string{"spin", "gcc"} {
				if _, err := exec.LookPath(tool); err != nil {
					return "there is no " + tool + " on this machine (Debian: apt-get install spin gcc)."
				}
			}
			return ""
		},
		round: spin,
	},
	{
		title: "Every execution, on two cores",
		about: "An exhaustive search without reductions: 3 clients, 1 round, 1 administrator, 1 slot, 1 crash, all properties. The " +
			"time on two cores is half of what both were at work, so that neighbours do not count, and waiting does not, either.",
		how: "`lockproof explore --workers`", cores: "one core and two",
		ratio: "times as fast", times: true,
		round: func(t *testing.T, s scale) (all []measured) {
			for workers := 1; workers <= 2; workers++ {
				e := configuration(s, sim.FaultBounds{Crashes: 1})
				e.Search = search.Options{Workers: workers}
				took := processor(func() { visit(t, e) })
				all = append(all, measured{name: []string{"one core", "two cores"}[workers-1], cost: took / float64(workers)})
			}
			return all
		},
	},
	reductions("without faults", sim.FaultBounds{}),
	reductions("with one crash", sim.FaultBounds{Crashes: 1}),
	reductions("with one lost reply", sim.FaultBounds{Lost: 1}),
	{
		title: "Executions drawn, run and judged",
		about: "One execution of each reference lock, drawn and judged by every property, and one step of a random walk through " +
			"the states of a semaphore, both against a SHA-256 of 1 KiB.",
		how: "`go test -bench Prove ./adapters/engine`", cores: "one core", ratio: "times as long",
		round: func(t *testing.T, s scale) []measured {
			all := []measured{{name: "SHA-256 of 1 KiB", cost: hashing(s.of(200_000, 100))}, walking(t, s.of(5000, 10))}
			for _, target := range amqplock.References {
				n := s.of(5000, 10)
				took := processor(func() {
					if _, err := sample.Prove(t.Context(), sample.Config{Target: target, Sampling: engine.Sampling{Scenarios: n, Workers: 1}}); err != nil {
						t.Fatal(err)
					}
				})
				all = append(all, measured{name: "execution: " + target.Name, cost: took / float64(n)})
			}
			return all
		},
	},
}

// configuration returns the configuration whose states are visited, with the given faults.
func configuration(s scale, faults sim.FaultBounds) explore.Exploration {
	return explore.Exploration{Workload: explore.Workload{Clients: s.of(3, 2), Rounds: 1, Admins: s.of(1, 0), Slots: 1, Faults: faults}}
}

// visit visits every state of a configuration, and returns the number of states.
func visit(t *testing.T, e explore.Exploration) int64 {
	t.Helper()
	x, err := explore.Run(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return x.Search.States
}

// reductions is a figure that compares the search with different reductions, if the given faults are possible.
func reductions(faults string, bounds sim.FaultBounds) figure {
	cases := []struct {
		name string
		search.Reductions
	}{
		{"none", search.Reductions{}},
		{"symmetry", search.Reductions{Symmetry: true}},
		{"order", search.Reductions{Order: true}},
		{"local", search.Reductions{Local: true}},
		{"all but symmetry", search.Reductions{Order: true, Local: true}},
		{"all but order", search.Reductions{Symmetry: true, Local: true}},
		{"all but local", search.Reductions{Symmetry: true, Order: true}},
		{"all", search.AllReductions},
	}
	return figure{
		title: "Reductions " + faults,
		about: "An exhaustive search with some reductions: 3 clients, 1 round, 1 administrator, 1 slot, " + faults + ", all properties.",
		how:   "`lockproof explore --reduce` with the names of reductions", cores: "one core", ratio: "times as fast", times: true,
		round: func(t *testing.T, s scale) (all []measured) {
			whole := int64(0)
			for _, c := range cases {
				e := configuration(s, bounds)
				e.Search = search.Options{Workers: 1, Reductions: c.Reductions}
				states := int64(0)
				took := processor(func() { states = visit(t, e) })
				if whole == 0 {
					whole = states
				}
				all = append(all, measured{name: c.name, cost: took, note: fmt.Sprintf("%s of the states", digits(float64(states)/float64(whole)))})
			}
			return all
		},
	}
}

// spinLine matches a line of the table that TestSpin prints: program, states, transitions, elapsed time, and
// processor time.
var spinLine = regexp.MustCompile(`(?m)^ +((?:Spin|lockproof), .*?) {2,}\d+ +\d+ +[0-9.]+s +([0-9.]+)s`)

// spin runs TestSpin, which compares the model checker Spin with our search. It has no tiny size.
func spin(t *testing.T, s scale) (all []measured) {
	if s.tiny {
		return nil
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "-count", "1", "-run", "^TestSpin$/^4-1-1-2-1$", "-v", "-timeout", "1h", "./sim/search", "-spin")
	cmd.Dir = "../.."
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, m := range spinLine.FindAllStringSubmatch(string(out), -1) {
		if name, took := m[1], m[2]; !strings.HasSuffix(name, "2 cores") {
			seconds, _ := strconv.ParseFloat(took, 64)
			all = append(all, measured{name: name, cost: seconds})
		}
	}
	if len(all) == 0 {
		t.Fatalf("TestSpin has printed no table:\n%s", out)
	}
	return all
}

// hashed is written so that the compiler does not remove the computation of hashes.
var hashed byte

// hashing returns the time to compute one hash, in seconds.
func hashing(n int) float64 {
	block := make([]byte, 1<<10)
	return processor(func() {
		for range n {
			h := sha256.Sum256(block)
			block[0] = h[0]
		}
		hashed = block[0]
	}) / float64(n)
}

// walking measures the time of one step of a random walk.
func walking(t *testing.T, walks int) measured {
	e := explore.Exploration{Workload: explore.Workload{Clients: 3, Rounds: 2, Admins: 1, Slots: 2, Faults: sim.FaultBounds{Crashes: 1}}}
	b, err := e.Bounds()
	if err != nil {
		t.Fatal(err)
	}
	steps := int64(0)
	took := processor(func() { steps = search.Walk(t.Context(), b, search.WalkOptions{Walks: walks, Workers: 1}).Steps })
	return measured{name: "step of a random walk, " + lock.Semaphore.String(), cost: took / float64(steps)}
}
