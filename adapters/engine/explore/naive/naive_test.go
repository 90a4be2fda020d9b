package naive_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/explore"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
)

var (
	many     = flag.Int("naive", 0, "how many random configurations each server's models are compared on; 0 is a few")
	from     = flag.Uint64("naive-seed", 1, "the seed of the first configuration; the others' follow")
	patience = flag.Duration("naive-patience", 3*time.Second, "how long explore may take for one configuration")
	largest  = flag.Int("naive-states", 60_000, "how many states a naive model may have")
)

// configuration is a configuration on which the naive model and explore are compared.
type configuration struct {
	target                 string
	options                [][2]string
	clients, slots, admins int
	calls, adminCalls      string
	faults                 sim.FaultBounds
	leave                  property.Set // properties that are not compared
	any                    bool         // explore uses any number of clients and crashes, so it may find more
}

func (c *configuration) set(name string, value any) {
	c.options = append(c.options, [2]string{name, fmt.Sprint(value)})
}

func (c *configuration) String() string {
	s := fmt.Sprintf("lockproof explore %s --clients %d --slots %d --crashes %d --late=%v", c.target, c.clients, c.slots,
		c.faults.Crashes, c.faults.Late)
	for _, f := range []struct {
		name string
		n    int
	}{{"admins", c.admins}, {"drops", c.faults.Drops}, {"lost", c.faults.Lost}, {"restarts", c.faults.Restarts}} {
		if f.n > 0 {
			s += fmt.Sprintf(" --%s %d", f.name, f.n)
		}
	}
	if c.calls != "" {
		s += " --calls " + c.calls
	}
	if c.any {
		s += " (and --clients any --crashes any --most-slots 4)"
	}
	if c.adminCalls != "" {
		s += " --admin-calls " + c.adminCalls
	}
	for _, o := range c.options {
		s += " -o " + o[0] + "=" + o[1]
	}
	return s
}

// outcome is the result of a naive model. violated maps each violated property to a shortest violating execution.
type outcome struct {
	violated map[string][]string
	states   int
	whole    bool
}

// reached is the first step by which the search reached a state, and the state before that step.
type reached[S any] struct {
	from S
	step string
}

// visit visits states breadth first, from start, until it has seen more than most states. next calls to for every step
// that is possible in a state. broken are the properties that the step violates.
func visit[S comparable](start S, most int, next func(s S, to func(step string, s S, broken []string))) outcome {
	out := outcome{violated: map[string][]string{}, whole: true}
	seen := map[S]reached[S]{start: {}}
	queue := []S{start}
	for i := 0; i < len(queue); i++ {
		if len(seen) > most {
			out.whole = false
			break
		}
		s := queue[i]
		next(s, func(step string, to S, broken []string) {
			for _, p := range broken {
				if _, known := out.violated[p]; !known {
					out.violated[p] = append(path(seen, start, s), step)
				}
			}
			if _, known := seen[to]; !known {
				seen[to] = reached[S]{from: s, step: step}
				queue = append(queue, to)
			}
		})
	}
	out.states = len(seen)
	return out
}

// path returns the steps from the start to a state.
func path[S comparable](seen map[S]reached[S], start, s S) (steps []string) {
	for s != start {
		steps = append(steps, seen[s].step)
		s = seen[s].from
	}
	slices.Reverse(steps)
	return steps
}

// compared maps each property of a naive model to the corresponding properties of explore. If explore finds one of
// these violated, that counts as a violation of the naive model's property.
type compared map[string][]property.Property

// verdicts returns explore's verdicts on the compared properties. whole is false if the exploration is incomplete; then
// only its violations count.
func verdicts(t *testing.T, c *configuration, by compared) (violated map[string]bool, whole bool) {
	t.Helper()
	target, err := engine.TargetNamed(c.target)
	if err != nil {
		t.Fatal(err)
	}
	e := explore.Exploration{Target: target, Options: c.options, Workload: explore.Workload{
		Clients: c.clients, Slots: c.slots, Admins: c.admins,
		Rounds: 1, Faults: c.faults,
	},
		Brief: true, Search: search.Options{Reductions: search.AllReductions, Workers: 1}}
	if e.Calls, err = parsed(c.calls); err == nil {
		e.AdminCalls, err = parsed(c.adminCalls)
	}
	if err != nil {
		t.Fatal(err)
	}
	if c.any {
		e.Clients, e.Faults.Crashes, e.MostSlots = explore.AnyNumber, explore.AnyNumber, 4
	}
	for _, all := range by {
		for _, p := range all {
			if !c.leave.Has(p) {
				e.Properties = e.Properties.With(p)
			}
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), *patience)
	defer cancel()
	x, err := explore.Run(ctx, e)
	if err != nil {
		t.Fatalf("%v: %v", c, err)
	}
	violated, whole = map[string]bool{}, ctx.Err() == nil
	for name, all := range by {
		for i := range x.Report.Properties {
			p := &x.Report.Properties[i]
			verdict, _ := x.Report.Verdict(p)
			if slices.Contains(all, p.Property) {
				violated[name] = violated[name] || verdict == report.Violated
				whole = whole && verdict != report.Undecided
			}
		}
	}
	return violated, whole
}

func parsed(calls string) (ops []scenario.Operation, err error) {
	if calls == "" {
		return nil, nil
	}
	for _, call := range strings.Split(calls, ",") {
		name, arg, stated := strings.Cut(call, ":")
		if name == "acquire" && stated { // an acquire with a priority as its argument
			ops = append(ops, scenario.Operation{Op: lock.Acquire, Arg: arg[0] - '0'})
			continue
		}
		more, err := explore.ParseCalls(call)
		if err != nil {
			return nil, err
		}
		ops = append(ops, more...)
	}
	return ops, nil
}

// drawer draws a configuration. ask runs the naive model of that configuration.
type drawer func(r *rand.Rand) (c configuration, ask func(most int) outcome)

// agree compares the two models on few random configurations, or on as many as the flag -naive says. It also repeats
// the seeds in once, on which the models once disagreed.
func agree(t *testing.T, few int, by compared, draw drawer, once ...uint64) {
	switch {
	case *many > 0:
		few, once = *many, nil
	case testing.Short():
		few = 2
	}
	t.Parallel()
	var judged, left, differ int
	for i := range few + len(once) {
		seed := *from + uint64(i)
		if i >= few {
			seed = once[i-few]
		}
		c, ask := draw(rand.New(rand.NewPCG(seed, 2)))
		naive := ask(*largest)
		if !naive.whole && len(naive.violated) == 0 {
			left++
			continue
		}
		began := time.Now()
		found, whole := verdicts(t, &c, by)
		t.Logf("seed %d: %d states here, %v there, violated here %v: %v", seed, naive.states, time.Since(began).Round(time.Millisecond),
			slices.Sorted(maps.Keys(naive.violated)), &c)
		judged++
		if disagree(t, seed, &c, naive, found, whole, by) {
			differ++
		}
	}
	t.Logf("seeds %d to %d: %d configurations compared, %d disagree, %d too large here", *from, *from+uint64(few)-1, judged, differ, left)
}

// disagree fails the test for each property on which the two models have different verdicts, and reports whether there
// is one. It ignores a violation if the other model may have missed it, for example because its search was incomplete.
func disagree(t *testing.T, seed uint64, c *configuration, naive outcome, found map[string]bool, whole bool, by compared) (any bool) {
	for name := range by {
		steps, here := naive.violated[name]
		switch {
		case here == found[name], !here && (c.any || !naive.whole), here && !whole:
		case here:
			any = true
			t.Errorf("seed %d: explore does not find %s violated, the naive model does:\n%v\n  %s", seed, name, c, strings.Join(brief(steps), "\n  "))
		default:
			any = true
			t.Errorf("seed %d: explore finds %s violated, the naive model does not:\n%v", seed, name, c)
		}
	}
	return any
}

// brief joins successive milliseconds that pass into one line.
func brief(steps []string) (lines []string) {
	passed := 0
	for i, step := range steps {
		if step == "a millisecond" {
			if passed++; i+1 < len(steps) && steps[i+1] == step {
				continue
			}
			step = fmt.Sprintf("%d ms", passed)
		}
		lines, passed = append(lines, step), 0
	}
	return lines
}

// pick returns one of the values at random.
func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }
