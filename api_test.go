package lockproof_test

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/lockproof/lockproof"
)

// TestPage: the documentation of the API is a page, and its sentences know of no command line.
func TestPage(t *testing.T) {
	out, err := exec.Command("go", "doc", "-all", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	page := string(out)
	if lines := strings.Count(page, "\n"); lines > 270 {
		t.Errorf("%d lines: expected at most 270", lines)
	}
	for _, word := range []string{"--", "foreign", " our own", "somebody else"} {
		if strings.Contains(page, word) {
			t.Errorf("it says %q", word)
		}
	}
}

// TestInvalid: options that make no sense are ErrInvalid, say what is wrong in one line, and name no flag.
func TestInvalid(t *testing.T) {
	ctx := context.Background()
	exec := lockproof.Exec("false")
	for _, c := range []struct {
		name string
		run  func(context.Context, lockproof.Target, lockproof.Options) (*lockproof.Result, error)
		t    lockproof.Target
		o    lockproof.Options
		want string
	}{
		{"lock type", lockproof.Prove, lockproof.Reference("sofa"), lockproof.Options{}, `lock type "sofa" is not known`},
		{"lock type", lockproof.Prove, exec.As("sofa"), lockproof.Options{}, `lock type "sofa" is not known`},
		{"another type", lockproof.Prove, lockproof.Reference(lockproof.Mutex).As(lockproof.Semaphore), lockproof.Options{}, "it is a mutex"},
		{"mutant", lockproof.Explore, lockproof.Mutant("sofa"), lockproof.Options{}, `mutant "sofa" is not known`},
		{"no mutant", lockproof.Explore, lockproof.Mutant("semaphore"), lockproof.Options{}, `mutant "semaphore" is not known`},
		{"option", lockproof.Stress, lockproof.Target{}.With("sofa", "1"), lockproof.Options{Server: "rabbitmq"}, `option "sofa" is not known`},
		{"property", lockproof.Prove, lockproof.Target{}, lockproof.Options{Properties: []lockproof.Property{"sofa"}}, `property "sofa" is not known`},
		{"no such property of it", lockproof.Prove, lockproof.Reference(lockproof.Mutex), lockproof.Options{Require: []lockproof.Property{lockproof.ExactCount}}, "exact-count means nothing"},
		{"clients", lockproof.Prove, lockproof.Target{}, lockproof.Options{Clients: -3}, "Clients -3: expected a number, None or Any"},
		{"clients", lockproof.Prove, exec, lockproof.Options{Clients: 1000}, "clients 1000: expected 1 to"},
		{"any clients", lockproof.Prove, lockproof.Target{}, lockproof.Options{Clients: lockproof.Any}, "only Explore has it"},
		{"any clients", lockproof.Explore, exec, lockproof.Options{Clients: lockproof.Any}, "expected a number"},
		{"any faults", lockproof.Explore, lockproof.Target{}, lockproof.Options{Drops: lockproof.Any}, "any number"},
		{"executions", lockproof.Prove, exec, lockproof.Options{Executions: -1}, "Executions -1"},
		{"executions", lockproof.Explore, lockproof.Target{}, lockproof.Options{Executions: 10}, "expected Simulate"},
		{"random executions", lockproof.Explore, exec, lockproof.Options{Simulate: 10}, "Simulate 10"},
		{"calls", lockproof.Explore, lockproof.Target{}, lockproof.Options{Calls: "sit"}, "calls \"sit\": expected operations"},
		{"slots", lockproof.Explore, lockproof.Target{}, lockproof.Options{Slots: 1000}, "1000 slots"},
		{"server", lockproof.Prove, lockproof.Target{}, lockproof.Options{Server: "rabbitmq"}, "Stress uses a real one"},
		{"server", lockproof.Explore, exec, lockproof.Options{Server: "rabbitmq"}, "expected the simulated broker"},
		{"no server", lockproof.Stress, exec, lockproof.Options{}, "expected a server"},
		{"faults", lockproof.Explore, exec, lockproof.Options{Restarts: 1}, "Prove draws them"},
		{"contract", lockproof.Prove, exec, lockproof.Options{Contract: "sofa"}, "expected guidelines, lease, mutex"},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, err := c.run(ctx, c.t, c.o)
			if res != nil || !errors.Is(err, lockproof.ErrInvalid) {
				t.Fatalf("got %v and %v, expected ErrInvalid", res, err)
			}
			if said := err.Error(); !strings.Contains(said, c.want) || strings.Contains(said, "--") || strings.Contains(said, "\n") {
				t.Errorf("it says %q, expected %q", said, c.want)
			}
		})
	}
}

// TestNoServer: a server that does not answer is ErrNoServer.
func TestNoServer(t *testing.T) {
	_, err := lockproof.Stress(t.Context(), lockproof.Target{}, lockproof.Options{Server: "amqp://127.0.0.1:1/%2F"})
	if !errors.Is(err, lockproof.ErrNoServer) || strings.Contains(err.Error(), "--") {
		t.Errorf("got %v", err)
	}
}

// TestNotConnected: a client that speaks to no server is ErrNotConnected.
func TestNotConnected(t *testing.T) {
	idle := lockproof.Go("idle", func(context.Context, string) (lockproof.Lock, error) { return idle{}, nil })
	_, err := lockproof.Prove(t.Context(), idle, lockproof.Options{Executions: 1})
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

// TestDefaults: a zero value is the default: the same run as one that says all of it.
func TestDefaults(t *testing.T) {
	zero, err := lockproof.Explore(t.Context(), lockproof.Target{}, lockproof.Options{Properties: []lockproof.Property{lockproof.NoLeak}})
	if err != nil {
		t.Fatal(err)
	}
	said, err := lockproof.Explore(t.Context(), lockproof.Reference(lockproof.Semaphore), lockproof.Options{
		Properties: []lockproof.Property{lockproof.NoLeak}, Clients: 2, Admins: 1, Slots: 2, Rounds: 1, Crashes: 1, Drops: lockproof.None,
	})
	if err != nil {
		t.Fatal(err)
	}
	if zero.States != said.States || zero.States == 0 {
		t.Errorf("%d states by default, %d if all is said", zero.States, said.States)
	}
}

// TestUntrusted: a counterexample without a target, as one that names a command is read, is not replayed.
func TestUntrusted(t *testing.T) {
	if _, err := lockproof.Replay(t.Context(), new(lockproof.Counterexample), lockproof.Options{}); !errors.Is(err, lockproof.ErrInvalid) {
		t.Errorf("got %v", err)
	}
}
