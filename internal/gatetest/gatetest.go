// Package gatetest judges small locks that stand on servers behind the gate.
package gatetest

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/gate/clock"
	"github.com/lockproof/lockproof/adapters/gate/process"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
	_ "github.com/lockproof/lockproof/sim/amqp" // draws scenarios
)

// Server is a server of a test. A test is skipped where it is not installed, and fails if Require is set in the environment.
type Server struct {
	Open    func() (gate.Server, error)
	Require string
	// Executions are how many are run for a lock that is right, and for one that is not at most; 0 is 300.
	Executions int
}

// missing skips a test whose server is not there.
func (s Server) missing(t *testing.T, err error) {
	t.Helper()
	if (errors.Is(err, process.ErrMissing) || errors.Is(err, clock.ErrNone)) && os.Getenv(s.Require) != "1" {
		t.Skip("NOT TESTED:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Start starts a server for a test.
func (s Server) Start(t *testing.T) gate.Server {
	t.Helper()
	server, err := s.Open()
	s.missing(t, err)
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// Judge runs a mutex until what is wrong with it was found, and sees that nothing else is. Nothing is wrong with one that is right.
func (s Server) Judge(t *testing.T, starter foreign.Starter, wrong property.Set) {
	t.Helper()
	runner, err := foreign.NewRunner(t.Context(), foreign.Config{Open: s.Open, Starter: starter, Kind: lock.Mutex, Names: sim.LockNames()})
	s.missing(t, err)
	defer func() {
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
	}()
	n := cmp.Or(s.Executions, 300)
	if testing.Short() {
		n /= 3
	}
	source := sim.NewSource(sim.Space{Target: amqplock.References[1]}, 1)
	var found property.Set
	for i := range n {
		sc := runner.Playable(source.External(i, runner.Traits()))
		x, err := runner.Run(t.Context(), &sc)
		if err != nil {
			t.Fatal(i, err)
		}
		bad := x.Found &^ property.Promises
		if bad&^wrong != 0 {
			t.Fatalf("execution %d: %v\n%s", i, x.Violations, Drawn(x))
		}
		if found |= bad; wrong != 0 && found == wrong {
			t.Logf("execution %d: %v\n%s", i, x.Violations, Drawn(x))
			return
		}
	}
	if found != wrong && !testing.Short() {
		t.Errorf("found %v, not %v", found, wrong)
	}
}

// Repeats sees that a scenario comes to the same whenever it is run, in so many scenarios. A busy machine has a few tries.
func (s Server) Repeats(t *testing.T, starter foreign.Starter, scenarios int) {
	t.Helper()
	first := s.drawn(t, starter, scenarios)
	for range repeatTries {
		again := s.drawn(t, starter, scenarios)
		n := slices.IndexFunc(again, func(text string) bool { return !slices.Contains(first, text) })
		if n < 0 {
			return
		}
		t.Logf("scenario %d comes to something else:\n%s\n%s", n, first[n], again[n])
		first = again
	}
	t.Errorf("no two runs of %d came to the same", repeatTries+1)
}

// repeatTries is how many runs may differ from the one before, where the machine is busy.
const repeatTries = 3

// drawn is what scenarios come to, with clients of their own.
func (s Server) drawn(t *testing.T, starter foreign.Starter, scenarios int) (all []string) {
	t.Helper()
	runner, err := foreign.NewRunner(t.Context(), foreign.Config{Open: s.Open, Starter: starter, Kind: lock.Mutex, Names: sim.LockNames()})
	s.missing(t, err)
	source := sim.NewSource(sim.Space{Target: amqplock.References[1]}, 1)
	for n := range scenarios {
		sc := runner.Playable(source.External(n, runner.Traits()))
		x, err := runner.Run(t.Context(), &sc)
		if err != nil {
			t.Fatal(n, err)
		}
		all = append(all, fmt.Sprintf("scenario %d\n%s", n, Drawn(x)))
	}
	if err := runner.Close(); err != nil {
		t.Error(err)
	}
	return all
}

// Drawn is an execution in a line for each step.
func Drawn(x *foreign.Execution) string {
	var b strings.Builder
	for i, s := range x.Steps {
		fmt.Fprintf(&b, "%3d %s %d: %s → %s\n", i+1, s.Action.Kind, s.Action.Client, s.Command, s.Reply)
		for _, e := range x.History.Events[s.First : s.First+s.Events] {
			fmt.Fprintf(&b, "        %d %s %s held=%v\n", e.Process, e.Type, e.F, e.Held)
		}
	}
	return b.String()
}
