package lockproof_test

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/lockproof/lockproof"
)

// TestPage: go doc prints at most 320 lines for the API. The text mentions no command-line flag.
func TestPage(t *testing.T) {
	out, err := exec.Command("go", "doc", "-all", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	page := string(out)
	if lines := strings.Count(page, "\n"); lines > 320 {
		t.Errorf("%d lines: expected at most 320", lines)
	}
	for _, word := range []string{"--", "foreign", " our own", "somebody else"} {
		if strings.Contains(page, word) {
			t.Errorf("it says %q", word)
		}
	}
}

// prove, explore and stress return a function that calls Prove, Explore or Stress with the given arguments.
func prove(t lockproof.Target, s lockproof.Sample) func() (*lockproof.Result, error) {
	return func() (*lockproof.Result, error) { return lockproof.Prove(context.Background(), t, s) }
}

func explore(t lockproof.Target, b lockproof.Bounds) func() (*lockproof.Result, error) {
	return func() (*lockproof.Result, error) { return lockproof.Explore(context.Background(), t, b) }
}

func stress(t lockproof.Target, l lockproof.Load) func() (*lockproof.Result, error) {
	return func() (*lockproof.Result, error) { return lockproof.Stress(context.Background(), t, l) }
}

// TestInvalid: invalid options return ErrInvalid. The error text is one line and mentions no command-line flag.
func TestInvalid(t *testing.T) {
	exec := lockproof.Exec("false")
	for _, c := range []struct {
		name string
		run  func() (*lockproof.Result, error)
		want string
	}{
		{"lock type", prove(lockproof.Reference("sofa"), lockproof.Sample{}), `lock type "sofa" is not known`},
		{"lock type", prove(exec.As("sofa"), lockproof.Sample{}), `lock type "sofa" is not known`},
		{"another type", prove(lockproof.Reference(lockproof.Mutex).As(lockproof.Semaphore), lockproof.Sample{}), "it is a mutex"},
		{"mutant", explore(lockproof.Mutant("sofa"), lockproof.Bounds{}), `mutant "sofa" is not known`},
		{"no mutant", explore(lockproof.Mutant("semaphore"), lockproof.Bounds{}), `mutant "semaphore" is not known`},
		{"option", stress(lockproof.Target{}.With("sofa", "1"), lockproof.Load{Options: lockproof.Options{Server: "rabbitmq"}}), `option "sofa" is not known`},
		{"property", prove(lockproof.Target{}, lockproof.Sample{Options: lockproof.Options{Properties: []lockproof.Property{"sofa"}}}), `property "sofa" is not known`},
		{"no such property of it", prove(lockproof.Reference(lockproof.Mutex), lockproof.Sample{Options: lockproof.Options{Require: []lockproof.Property{lockproof.ExactCount}}}), "exact-count means nothing"},
		{"clients", prove(lockproof.Target{}, lockproof.Sample{Clients: -3}), "Clients -3: expected a number, None or Any"},
		{"clients", prove(exec, lockproof.Sample{Clients: 1000}), "clients 1000: expected 1 to"},
		{"any clients", prove(lockproof.Target{}, lockproof.Sample{Clients: lockproof.Any}), "any number of Clients: expected a number"},
		{"any clients", explore(exec, lockproof.Bounds{Clients: lockproof.Any}), "expected a number"},
		{"any faults", explore(lockproof.Target{}, lockproof.Bounds{Drops: lockproof.Any}), "any number"},
		{"executions", prove(exec, lockproof.Sample{Executions: -1}), "Executions -1"},
		{"executions", explore(lockproof.Target{}, lockproof.Bounds{Executions: 10}), "expected Simulate"},
		{"random executions", explore(exec, lockproof.Bounds{Simulate: 10}), "Simulate 10"},
		{"calls", explore(lockproof.Target{}, lockproof.Bounds{Calls: "sit"}), "calls \"sit\": expected operations"},
		{"slots", explore(lockproof.Target{}, lockproof.Bounds{Slots: 1000}), "1000 slots"},
		{"server", prove(lockproof.Target{}, lockproof.Sample{Options: lockproof.Options{Server: "rabbitmq"}}), "Stress uses a real one"},
		{"server", explore(exec, lockproof.Bounds{Options: lockproof.Options{Server: "rabbitmq"}}), "expected the simulated broker"},
		{"no server", stress(exec, lockproof.Load{}), "expected a server"},
		{"faults", explore(exec, lockproof.Bounds{Restarts: 1}), "Prove draws them"},
		{"contract", prove(exec.Promising("sofa"), lockproof.Sample{}), "expected guidelines, lease, mutex"},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, err := c.run()
			if res != nil || !errors.Is(err, lockproof.ErrInvalid) {
				t.Fatalf("got %v and %v, expected ErrInvalid", res, err)
			}
			if said := err.Error(); !strings.Contains(said, c.want) || strings.Contains(said, "--") || strings.Contains(said, "\n") {
				t.Errorf("it says %q, expected %q", said, c.want)
			}
		})
	}
}

// TestNoServer: Stress returns ErrNoServer if nothing listens at the server's address.
func TestNoServer(t *testing.T) {
	_, err := lockproof.Stress(t.Context(), lockproof.Target{}, lockproof.Load{Options: lockproof.Options{Server: "amqp://127.0.0.1:1/%2F"}})
	if !errors.Is(err, lockproof.ErrNoServer) || strings.Contains(err.Error(), "--") {
		t.Errorf("got %v", err)
	}
}

// TestNotConnected: Prove returns ErrNotConnected if a client never connects to the server.
func TestNotConnected(t *testing.T) {
	idle := lockproof.Go("idle", func(context.Context, string) (lockproof.Lock, error) { return idle{}, nil })
	_, err := lockproof.Prove(t.Context(), idle, lockproof.Sample{Executions: 1})
	if !errors.Is(err, lockproof.ErrNotConnected) {
		t.Errorf("got %v", err)
	}
}

// idle is a lock that does nothing.
type idle struct{}

func (idle) Acquire(context.Context, string) (int, error)      { return 1, nil }
func (idle) Verify(context.Context, string, int) (bool, error) { return true, nil }
func (idle) Release(context.Context, string, int) error        { return nil }
func (idle) Close() error                                      { return nil }

// TestDefaults: with zero values, Explore visits as many states as with all defaults written out.
func TestDefaults(t *testing.T) {
	zero, err := lockproof.Explore(t.Context(), lockproof.Target{}, lockproof.Bounds{Options: lockproof.Options{Properties: []lockproof.Property{lockproof.NoLeak}}})
	if err != nil {
		t.Fatal(err)
	}
	said, err := lockproof.Explore(t.Context(), lockproof.Reference(lockproof.Semaphore), lockproof.Bounds{Options: lockproof.Options{Properties: []lockproof.Property{lockproof.NoLeak}}, Clients: 2, Admins: 1, Slots: 2, Rounds: 1, Crashes: 1, Drops: lockproof.None})
	if err != nil {
		t.Fatal(err)
	}
	if zero.States != said.States || zero.States == 0 {
		t.Errorf("%d states by default, %d if all is said", zero.States, said.States)
	}
}

// TestUntrusted: Replay refuses a counterexample without a Target. LoadCounterexample returns such a counterexample if
// the file names a shell command.
func TestUntrusted(t *testing.T) {
	if _, err := lockproof.Replay(t.Context(), new(lockproof.Counterexample), lockproof.Options{}); !errors.Is(err, lockproof.ErrInvalid) {
		t.Errorf("got %v", err)
	}
}
