package enginetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lockproof/lockproof/adapters/amqp/plugin"
	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/adapters/subprocess"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/draw"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
	"github.com/lockproof/lockproof/internal/redistest"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	amqplocks "github.com/lockproof/lockproof/testdata/targets/golang"
)

// Example is an example lock in testdata/targets.
type Example struct {
	Folder string
	// Command is the command that runs the example's adapter program. The name of a bug may be appended. It is "" for
	// the example in Go.
	Command string
	// probe is a command that succeeds if everything that the example needs is installed. install says how to install
	// it.
	probe, install string
	// Kind is the kind of its lock, such as a mutex.
	Kind lock.Kind
	// Breaks maps the name of each bug to the property that it violates.
	Breaks map[string]property.Property
	// onReal are the bugs that are tested on a real broker, too; "" is the example without a bug.
	onReal []string
	// often are the bugs that are always tested on the simulated broker; nil means all. The other bugs are tested
	// there only if [Example.On] is asked for every bug.
	often []string
	// Slow means that the example's processes start slowly. Then fewer scenarios are run, and counterexamples are not
	// minimised.
	Slow bool
}

// Scenarios returns the number of scenarios to run: n, or a third of that for a slow example.
func (e *Example) Scenarios(n int) int {
	if e.Slow {
		return n / 3
	}
	return n
}

// On reports whether a bug is tested on server b. every asks for all bugs, not only for those in often.
func (e *Example) On(b gated.Server, bug string, every bool) bool {
	if b.Name != "" {
		return slices.Contains(e.onReal, bug)
	}
	return every || e.often == nil || slices.Contains(e.often, bug)
}

// SharedConnection is a bug that is possible only if several clients are in one process.
const SharedConnection = "shared-connection"

// Examples are the example semaphores, one in each language.
var Examples = []Example{
	{
		Folder: "golang", probe: "true", onReal: []string{"locked-is-success", SharedConnection},
		Breaks: map[string]property.Property{
			"not-mandatory":          property.Linearizable,
			"return-ignored":         property.Linearizable,
			"verify-reconnects":      property.StaleBeliefEnds,
			"release-closes-channel": property.EffectiveRelease,
			"locked-is-success":      property.MutualExclusion,
			SharedConnection:         property.MutualExclusion,
		},
	},
	{
		Folder: "python", Command: "exec /usr/bin/python3 adapter.py",
		probe: "/usr/bin/python3 -c 'import pika'", install: "apt-get install python3-pika",
		often: []string{"locked-is-success"},
		Breaks: map[string]property.Property{
			"not-mandatory":          property.Linearizable,
			"return-ignored":         property.Linearizable,
			"verify-reconnects":      property.StaleBeliefEnds,
			"release-closes-channel": property.EffectiveRelease,
			"no-cleanup":             property.NoLeak,
			"locked-is-success":      property.MutualExclusion,
		},
	},
	{
		Folder: "node", Command: "exec node adapter.js",
		probe: "node -e 'require(\"amqplib\")'", install: "npm ci in testdata/targets/node",
		often: []string{"return-ignored"},
		Breaks: map[string]property.Property{
			"return-ignored":         property.Linearizable,
			"verify-reconnects":      property.StaleBeliefEnds,
			"release-closes-channel": property.EffectiveRelease,
			"locked-is-success":      property.MutualExclusion,
		},
	},
	{
		Folder: "java", Command: "exec ./adapter semaphore",
		probe: probeJava, install: installJava,
		often: []string{"locked-is-success"}, Slow: true,
		Breaks: map[string]property.Property{
			"return-ignored":          property.Linearizable,
			"locked-is-success":       property.MutualExclusion,
			"release-closes-channel":  property.EffectiveRelease,
			"release-without-waiting": property.Linearizable,
			"held-from-memory":        property.StaleBeliefEnds,
			"administers-anyway":      property.AdminExclusion,
		},
	},
	{
		Folder: "ruby", Command: "exec /usr/bin/ruby semaphore_adapter.rb",
		probe: probeRuby, install: installRuby, often: []string{"lowest-removed"},
		Slow: true,
		Breaks: map[string]property.Property{
			"return-ignored":         property.Linearizable,
			"locked-is-success":      property.MutualExclusion,
			"release-closes-channel": property.EffectiveRelease,
			"claims-remembered":      property.MutualExclusion,
			"lowest-removed":         property.ContiguousSlots,
			"held-from-memory":       property.StaleBeliefEnds,
		},
	},
}

// How to check for, and install, what the Java and Ruby examples need.
const (
	probeJava, installJava = "./adapter compile", "apt-get install default-jdk-headless librabbitmq-client-java"
	probeRuby, installRuby = "/usr/bin/ruby -e 'require \"bunny\"'", "apt-get install ruby ruby-bunny"
)

// MutexPrograms are example mutexes, by the folder of their language. The name of a class, appended to the command,
// selects the mutex.
var MutexPrograms = map[string]*Example{
	"python": {
		Folder: "python", Command: "exec /usr/bin/python3 mutex_adapter.py",
		probe: "/usr/bin/python3 -c 'import pika'", install: "apt-get install python3-pika",
	},
	"node": {
		Folder: "node", Command: "exec node mutex-adapter.js",
		probe: "node -e 'require(\"amqplib\")'", install: "npm ci in testdata/targets/node",
	},
	"java": {
		Folder: "java", Command: "exec ./adapter",
		probe: probeJava, install: installJava, Slow: true,
	},
	"ruby": {
		Folder: "ruby", Command: "exec /usr/bin/ruby adapter.rb",
		probe: probeRuby, install: installRuby, Slow: true,
	},
}

// LimitedProgram runs example locks in Python whose callers state how many clients may hold them. The name of a
// class, appended to the command, selects the lock.
var LimitedProgram = &Example{
	Folder: "python", Command: "exec /usr/bin/python3 limited_adapter.py",
	probe: "/usr/bin/python3 -c 'import pika'", install: "apt-get install python3-pika",
}

// OnRedis are example mutexes on Redis, with leases. The name of a class, appended to the command, selects a mutex
// with a bug.
var OnRedis = []Example{
	{
		Folder: "python", Command: "exec /usr/bin/python3 redis_adapter.py", probe: "/usr/bin/python3 -c 'import json'", install: "apt-get install python3", Kind: lock.Mutex,
		Breaks: map[string]property.Property{
			"DeletesAnybodys": property.MutualExclusion,
			"LooksFirst":      property.MutualExclusion,
			"ExpiresLater":    property.CrashFrees,
		},
	},
	{
		Folder: "node", Command: "exec node redis-adapter.js", probe: "node -e 'require(\"ioredis\")'", install: "npm ci in testdata/targets/node", Kind: lock.Mutex, Slow: true,
		Breaks: map[string]property.Property{"ComparesFirst": property.MutualExclusion, HalfIsEnough: property.MutualExclusion},
	},
}

// HalfIsEnough is a bug that only locks on several servers can have.
const HalfIsEnough = "HalfIsEnough"

// Redis returns a server configuration that starts the given number of Redis servers for each run. It skips the test
// if redis-server is not installed.
func Redis(t *testing.T, servers int) gated.Server {
	t.Helper()
	redistest.Program(t)
	on, err := gated.ServerOf("redis", servers)
	if err != nil {
		t.Fatal(err)
	}
	return on
}

// Simulated returns the configuration of the simulated broker.
func Simulated(*testing.T) (b gated.Server) { return b }

// Real returns a RabbitMQ that is shared with other tests. It skips the test if there is none.
func Real(t *testing.T) gated.Server {
	b, err := rabbitmq.Start(t.Context(), rabbitmq.Options{URL: rabbitmqtest.URL(t)})
	if err != nil {
		t.Fatal(err)
	}
	return gated.Server{
		Name: b.Version, Shared: true, Open: plugin.Config{URL: b.URL, Version: b.Version, Sweep: b.Sweep}.Open,
	}
}

// Dir returns the path of the example's folder, relative to the folder of the running test.
func (e *Example) Dir() string {
	up := "."
	for range 10 {
		if _, err := os.Stat(filepath.Join(up, "go.mod")); err == nil {
			break
		}
		up = filepath.Join(up, "..")
	}
	return filepath.Join(up, "testdata", "targets", e.Folder)
}

// probed holds the result of each probe command, so that each runs only once.
var probed sync.Map

// Missing returns what prevents the example from running on this machine; "" if nothing does.
func (e *Example) Missing() string {
	once, _ := probed.LoadOrStore(e.Folder+": "+e.probe, sync.OnceValues(func() ([]byte, error) {
		cmd := exec.Command("/bin/sh", "-c", e.probe)
		cmd.Dir = e.Dir()
		return cmd.CombinedOutput()
	}))
	if out, err := once.(func() ([]byte, error))(); err != nil {
		return fmt.Sprintf("%v; %s; it takes %s", err, out, e.install)
	}
	return ""
}

// Need skips the test if something that the example needs is missing. With LOCKPROOF_REQUIRE_EXAMPLES in the
// environment, the test fails instead.
func (e *Example) Need(t *testing.T) {
	missing := e.Missing()
	switch {
	case missing == "":
	case os.Getenv("LOCKPROOF_REQUIRE_EXAMPLES") != "":
		t.Fatalf("the %s example can't be run: %s", e.Folder, missing)
	default:
		t.Skipf("the %s example is NOT TESTED: %s", e.Folder, missing)
	}
}

// Prove runs drawn scenarios with the example, with the named bug or, if bug is "", without one. The run ends early
// when all properties in until were found violated.
func (e *Example) Prove(t *testing.T, on gated.Server, bug string, scenarios int, until property.Set) *engine.Result {
	c := gated.Config{Lock: gated.Lock{Starter: e.Starter(t, bug), On: on, Kind: e.Kind}, Sampling: engine.Sampling{Seed: 1, Scenarios: scenarios, Until: until}}
	if len(e.Breaks) > 0 && e.Kind == lock.Semaphore { // the example's design follows the guidelines
		c.Demands = property.Promises
	}
	if bug == SharedConnection {
		c.Workers = 1
	}
	if e.Slow && until != 0 {
		return FoundOut(t, c, scenarios)
	}
	res, err := gated.Prove(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func (e *Example) Starter(t testing.TB, bug string) foreign.Starter {
	if e.Command == "" {
		pool := new(amqplocks.Pool)
		return inprocess.Starter{Name: "golang example", New: func(ctx context.Context, url string) (inprocess.Lock, error) {
			if bug == SharedConnection {
				c, err := pool.New(ctx, url)
				return Certain{c}, err
			}
			c, err := amqplocks.NewDialing(ctx, url, wire.Dial, amqplocks.Bug(bug))
			return Certain{c}, err
		}}
	}
	return &subprocess.Starter{Command: strings.TrimSpace(e.Command + " " + bug), Dir: e.Dir(), Stderr: t.Output()}
}

// Certain wraps the example in Go. Its errors tell which calls certainly had no effect.
type Certain struct{ *amqplocks.Client }

func NoEffect(err error) error {
	if errors.Is(err, amqplocks.ErrBusy) {
		err = errors.Join(inprocess.ErrNoEffect, err)
	}
	return err
}

func (c Certain) Acquire(ctx context.Context, name string) (int, error) {
	slot, err := c.Client.Acquire(ctx, name)
	return slot, NoEffect(err)
}

func (c Certain) Create(ctx context.Context, name string, slots int) error {
	return NoEffect(c.Client.Create(ctx, name, slots))
}

func (c Certain) Add(ctx context.Context, name string, slots int) error {
	return NoEffect(c.Client.Add(ctx, name, slots))
}

func (c Certain) Remove(ctx context.Context, name string, slots int) error {
	return NoEffect(c.Client.Remove(ctx, name, slots))
}

func (c Certain) Destroy(ctx context.Context, name string) error {
	return NoEffect(c.Client.Destroy(ctx, name))
}

func (c Certain) Wait(ctx context.Context, name string, slot int) error {
	return NoEffect(c.Client.Wait(ctx, name, slot))
}

// FoundOut runs scenarios until a property that ends the run was found violated, and confirmed with fresh clients. It
// does not minimise the execution, since that takes long for clients in processes.
func FoundOut(t *testing.T, c gated.Config, scenarios int) *engine.Result {
	t.Helper()
	part, err := gated.ProvePart(t.Context(), c, 0, scenarios)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // cancelled, so that nothing is minimised
	res, err := gated.Conclude(ctx, c, part)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// CounterexampleOf returns the result's confirmed counterexample of a property. The test fails if there is none.
func CounterexampleOf(t *testing.T, res *engine.Result, property property.Property) *histories.Counterexample {
	t.Helper()
	for _, ce := range res.Counterexamples("") {
		if ce.Property == property && !ce.Suspected {
			return ce
		}
	}
	t.Fatalf("%s is not violated in %d executions", property, res.Report.Scenarios)
	return nil
}

func Drawn(t *testing.T, x *scenario.Trace) string {
	var b strings.Builder
	if err := draw.Draw(&b, x, style.Style{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
