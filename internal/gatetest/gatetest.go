// Package gatetest tests small locks on servers behind the gate.
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
	_ "github.com/lockproof/lockproof/sim/amqp" // needed to draw scenarios
)

// Server is the server of a test. If it is not installed, the test is skipped. If the environment variable named by
// Require is 1, the test fails instead.
type Server struct {
	Open    func() (gate.Server, error)
	Require string
	// Executions is the number of executions of a correct lock, and the maximum number for one with bugs. 0 means
	// 300.
	Executions int
}

// missing skips the test if err says that the server is not installed, and fails it for any other error.
func (s Server) missing(t *testing.T, err error) {
	t.Helper()
	if (errors.Is(err, process.ErrMissing) || errors.Is(err, clock.ErrNone)) && os.Getenv(s.Require) != "1" {
		t.Skip("NOT TESTED:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Start starts the server for a test.
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

// Judge runs executions of a mutex until all properties in wrong were violated. The test fails if another property is
// violated, or if one in wrong never is. For a correct mutex, wrong is empty.
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

// Repeats checks that each scenario has the same execution in two consecutive runs of all scenarios. It tries a few
// times, as the machine may be busy.
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

// repeatTries is the maximum number of times that the scenarios are run again.
const repeatTries = 3

// drawn runs scenarios with new clients, and returns their executions as text.
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

// Drawn returns an execution as text, one line per step.
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
