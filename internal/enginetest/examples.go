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

// Example is a target in testdata/targets.
type Example struct {
	Folder string
	// Command runs its adapter, if it is a program; the name of a bug may follow.
	Command string
	// probe succeeds where there is all that it needs, and install says how that gets there.
	probe, install string
	// Kind is the type of its lock.
	Kind lock.Kind
	// Breaks are its bugs, each with the property that it breaks.
	Breaks map[string]property.Property
	// onReal are the bugs that are tried on a real broker. Those of the example in Go try what the broker does; in other languages
	// the right lock shows that a driver works with the gate.
	onReal []string
	// often are the bugs that are always tried on the simulated broker; nil is all of them.
	often []string
	// Slow says that its processes take long to start: it is given fewer scenarios, and what is found is not made smaller.
	Slow bool
}

// Scenarios is how many of n scenarios it is given.
func (e *Example) Scenarios(n int) int {
	if e.Slow {
		return n / 3
	}
	return n
}

// On reports whether a bug is looked for on a broker, by one who asks for every bug or does not.
func (e *Example) On(b gated.Server, bug string, every bool) bool {
	if b.Name != "" {
		return slices.Contains(e.onReal, bug)
	}
	return every || e.often == nil || slices.Contains(e.often, bug)
}

// SharedConnection is a bug that clients in one process alone can have.
const SharedConnection = "shared-connection"

// Examples are the examples of semaphores, in each language.
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

// The requirements of the examples in Java and in Ruby.
const (
	probeJava, installJava = "./adapter compile", "apt-get install default-jdk-headless librabbitmq-client-java"
	probeRuby, installRuby = "/usr/bin/ruby -e 'require \"bunny\"'", "apt-get install ruby ruby-bunny"
)

// MutexPrograms run mutexes, by the folder of the language: the name of a class says which.
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

// LimitedProgram runs locks in Python whose callers state how many may hold them: the name of a class says which.
var LimitedProgram = &Example{
	Folder: "python", Command: "exec /usr/bin/python3 limited_adapter.py",
	probe: "/usr/bin/python3 -c 'import pika'", install: "apt-get install python3-pika",
}

// OnRedis are mutexes on Redis, by leases. The name of a class may follow.
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

// HalfIsEnough is a bug that locks on several servers alone can have.
const HalfIsEnough = "HalfIsEnough"

// Redis is so many servers of Redis that are started for a run; without the program the test is skipped.
func Redis(t *testing.T, servers int) gated.Server {
	t.Helper()
	redistest.Program(t)
	on, err := gated.ServerOf("redis", servers)
	if err != nil {
		t.Fatal(err)
	}
	return on
}

// Simulated is the simulated broker.
func Simulated(*testing.T) (b gated.Server) { return b }

// Real is a RabbitMQ that others use as well; without one the test is skipped.
func Real(t *testing.T) gated.Server {
	b, err := rabbitmq.Start(t.Context(), rabbitmq.Options{URL: rabbitmqtest.URL(t)})
	if err != nil {
		t.Fatal(err)
	}
	return gated.Server{
		Name: b.Version, Shared: true, Open: plugin.Config{URL: b.URL, Version: b.Version, Sweep: b.Sweep}.Open,
	}
}

// Dir is where the example is, seen from the folder of any test of this module.
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

// probed has what came of the probes, by language: each is run once.
var probed sync.Map

// Missing is what keeps the example from running here, "" if nothing does.
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

// Need skips the test where something is missing, unless it is known to be there.
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

// Prove judges the example, with a bug or without.
func (e *Example) Prove(t *testing.T, on gated.Server, bug string, scenarios int, until property.Set) *engine.Result {
	c := gated.Config{Lock: gated.Lock{Starter: e.Starter(t, bug), On: on, Kind: e.Kind}, Sampling: engine.Sampling{Seed: 1, Scenarios: scenarios, Until: until}}
	if len(e.Breaks) > 0 && e.Kind == lock.Semaphore { // it is of the guidelines' design
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

// Certain says which calls of the example in Go certainly had no effect.
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

// FoundOut runs a configuration until fresh clients have shown one of the properties that end it violated. The execution is
// left as it was first seen: making it smaller takes most of the time of a run of processes.
func FoundOut(t *testing.T, c gated.Config, scenarios int) *engine.Result {
	t.Helper()
	part, err := gated.ProvePart(t.Context(), c, 0, scenarios)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // there is no time to make anything smaller
	res, err := gated.Conclude(ctx, c, part)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// CounterexampleOf is the result's counterexample of a property, which must not be suspected only.
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
