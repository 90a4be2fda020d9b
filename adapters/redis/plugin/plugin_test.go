package plugin_test

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/gate/clock"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/adapters/redis/node"
	"github.com/lockproof/lockproof/adapters/redis/plugin"
	"github.com/lockproof/lockproof/internal/gatetest"
	"github.com/lockproof/lockproof/internal/redistest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
	_ "github.com/lockproof/lockproof/sim/amqp" // needed to draw scenarios
)

// design is a way to implement a mutex on Redis, with or without a bug.
type design struct {
	name    string
	release func(ctx context.Context, l *leased, key string) error
	claim   func(ctx context.Context, l *leased, key string, lease time.Duration) (bool, error)
	verify  func(ctx context.Context, l *leased, key string) (bool, error)
	wrong   property.Set // properties that it violates; empty for a correct mutex
}

// leased is a mutex: a key with a token as its value, and a lease.
type leased struct {
	*redis.Client
	design *design
	token  string
}

func (l *leased) AcquireFor(ctx context.Context, name string, lease time.Duration) (int, error) {
	l.token = rand.Text()
	ok, err := l.design.claim(ctx, l, name, lease)
	if ok && err == nil {
		return 1, nil
	}
	return 0, err
}

func (l *leased) Acquire(ctx context.Context, name string) (int, error) {
	return l.AcquireFor(ctx, name, time.Minute)
}

func (l *leased) Verify(ctx context.Context, name string, _ int) (bool, error) {
	if l.design.verify != nil {
		return l.design.verify(ctx, l, name)
	}
	token, err := l.Get(ctx, name).Result()
	if errors.Is(err, redis.Nil) {
		err = nil
	}
	return err == nil && token == l.token, err
}

func (l *leased) Release(ctx context.Context, name string, _ int) error {
	return l.design.release(ctx, l, name)
}

// setNX acquires the key and sets its lease, in one command.
func setNX(ctx context.Context, l *leased, key string, lease time.Duration) (bool, error) {
	err := l.Do(ctx, "set", key, l.token, "nx", "px", lease.Milliseconds()).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return err == nil, err
}

var compareAndDelete = redis.NewScript(`if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`)

// own deletes a key if its value is this client's token, in one script.
func own(ctx context.Context, l *leased, key string) error {
	return compareAndDelete.Run(ctx, l, []string{key}, l.token).Err()
}

// anyone is a release with a bug: it deletes the key, whoever holds it.
func anyone(ctx context.Context, l *leased, key string) error { return l.Del(ctx, key).Err() }

// inTwo is a release with a bug: it compares the token, and then deletes the key in a second command.
func inTwo(ctx context.Context, l *leased, key string) error {
	if token, err := l.Get(ctx, key).Result(); err != nil || token != l.token {
		return nil
	}
	return l.Del(ctx, key).Err()
}

// getThenSet is an acquire with a bug: it reads whether the key exists, and then sets it in a second command.
func getThenSet(ctx context.Context, l *leased, key string, lease time.Duration) (bool, error) {
	if n, err := l.Exists(ctx, key).Result(); err != nil || n > 0 {
		return false, err
	}
	return true, l.Set(ctx, key, l.token, lease).Err()
}

// withoutLease is an acquire with a bug: it sets the lease in a second command.
func withoutLease(ctx context.Context, l *leased, key string, lease time.Duration) (bool, error) {
	ok, err := l.SetNX(ctx, key, l.token, 0).Result()
	if err != nil || !ok {
		return false, err
	}
	return true, l.PExpire(ctx, key, lease).Err()
}

var compare = redis.NewScript(`if redis.call("get", KEYS[1]) == ARGV[1] then return 1 end return 0`)

// byScript compares the key's value with this client's token, in a script that only this function uses.
func byScript(ctx context.Context, l *leased, key string) (bool, error) {
	n, err := compare.Run(ctx, l, []string{key}, l.token).Int()
	return n == 1, err
}

var designs = []design{
	{name: "right", claim: setNX, release: own},
	{name: "verifies by a script", claim: setNX, release: own, verify: byScript},
	{name: "deletes anybody's", claim: setNX, release: anyone, wrong: property.Set(0).With(property.MutualExclusion)},
	{name: "asks, then deletes", claim: setNX, release: inTwo, wrong: property.Set(0).With(property.MutualExclusion)},
	{name: "asks, then sets", claim: getThenSet, release: own, wrong: property.Set(0).With(property.MutualExclusion)},
	{name: "lease in a second command", claim: withoutLease, release: own, wrong: property.Set(0).With(property.CrashFrees)},
}

func starter(d *design) inprocess.Starter {
	return inprocess.Starter{Name: d.name, New: func(_ context.Context, url string) (inprocess.Lock, error) {
		o, err := redis.ParseURL(url)
		if err != nil {
			return nil, err
		}
		o.MaxRetries, o.PoolSize = -1, 1
		return &leased{Client: redis.NewClient(o), design: d}, nil
	}}
}

// TestDesigns: a mutex with a bug violates the expected property, and a correct one violates none.
func TestDesigns(t *testing.T) {
	for i := range designs {
		d := &designs[i]
		t.Run(d.name, func(t *testing.T) { judge(t, starter(d), 1, d.wrong) })
	}
}

// named returns the design with the given name.
func named(name string) *design {
	for i := range designs {
		if designs[i].name == name {
			return &designs[i]
		}
	}
	panic("no design " + name)
}

// runnerOf returns a runner for scenarios of a mutex on the given number of servers.
func runnerOf(t *testing.T, starter foreign.Starter, servers int) *foreign.Runner {
	t.Helper()
	return runnerFor(t, starter, servers, lock.Mutex)
}

// runnerFor returns a runner for scenarios of a lock of the given kind.
func runnerFor(t *testing.T, starter foreign.Starter, servers int, kind lock.Kind) *foreign.Runner {
	t.Helper()
	open := func() (gate.Server, error) { return plugin.Open(servers) }
	runner, err := foreign.NewRunner(t.Context(), foreign.Config{Open: open, Server: "redis", Starter: starter, Kind: kind, Names: sim.LockNames()})
	if (errors.Is(err, node.ErrNoProgram) || errors.Is(err, clock.ErrNone)) && os.Getenv(redistest.EnvRequire) == "" {
		t.Skip("skipped:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
	})
	return runner
}

// executions is the number of executions of a correct lock, and the maximum number for one with a bug.
const executions = 300

// judge runs executions of a lock on the given number of servers until it has violated all properties in wrong. For a
// correct lock, wrong is empty, and the test fails if any property is violated.
func judge(t *testing.T, starter foreign.Starter, servers int, wrong property.Set) {
	t.Helper()
	n := executions
	if testing.Short() {
		n = 100
	}
	judgeIn(t, n, starter, servers, wrong)
}

// judgeIn is like judge, with at most n executions.
func judgeIn(t *testing.T, n int, starter foreign.Starter, servers int, wrong property.Set) {
	t.Helper()
	judgeFor(t, n, runnerOf(t, starter, servers), amqplock.References[1], wrong)
}

// judgeFor is like judgeIn, for the lock that the runner runs. The parameter like is the target
// for which the scenarios are drawn.
func judgeFor(t *testing.T, n int, runner *foreign.Runner, like *lock.Target, wrong property.Set) {
	t.Helper()
	source := sim.NewSource(sim.Space{Target: like}, 1)
	var found property.Set
	for i := range n {
		sc := runner.Playable(source.External(i, runner.Traits()))
		x, err := runner.Run(t.Context(), &sc)
		if err != nil {
			t.Fatal(i, err)
		}
		bad := x.Found &^ property.Promises
		if wrong == 0 && bad != 0 {
			t.Fatalf("execution %d: %v\n%s", i, x.Violations, gatetest.Drawn(x))
		}
		if found |= bad; wrong != 0 && found&wrong == wrong {
			t.Logf("execution %d: %v\n%s", i, x.Violations, gatetest.Drawn(x))
			return
		}
	}
	if found != wrong && !testing.Short() {
		t.Errorf("found %v, not %v", found, wrong)
	}
}
