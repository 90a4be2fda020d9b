package engine_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/adapters/rabbitmq"
	"github.com/lockproof/lockproof/adapters/rabbitmq/rabbitmqtest"
	"github.com/lockproof/lockproof/adapters/subprocess"
	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/draw"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	amqplocks "github.com/lockproof/lockproof/testdata/targets/golang"
)

// example is a target in testdata/targets.
type example struct {
	folder string
	// command runs its adapter, if it is a program; the name of a bug may follow.
	command string
	// probe succeeds where there is all that it needs, and install says how that gets there.
	probe, install string
	// breaks are its bugs, each with the property that it breaks.
	breaks map[string]property.Property
}

// sharedConnection is a bug that clients in one process alone can have.
const sharedConnection = "shared-connection"

var examples = []example{
	{
		folder: "golang", probe: "true",
		breaks: map[string]property.Property{
			"not-mandatory":          property.Linearizable,
			"return-ignored":         property.Linearizable,
			"verify-reconnects":      property.StaleBeliefEnds,
			"release-closes-channel": property.EffectiveRelease,
			"locked-is-success":      property.MutualExclusion,
			sharedConnection:         property.MutualExclusion,
		},
	},
	{
		folder: "python", command: "exec /usr/bin/python3 adapter.py",
		probe: "/usr/bin/python3 -c 'import pika'", install: "apt-get install python3-pika",
		breaks: map[string]property.Property{
			"not-mandatory":          property.Linearizable,
			"return-ignored":         property.Linearizable,
			"verify-reconnects":      property.StaleBeliefEnds,
			"release-closes-channel": property.EffectiveRelease,
			"no-cleanup":             property.NoLeak,
			"locked-is-success":      property.MutualExclusion,
		},
	},
	{
		folder: "node", command: "exec node adapter.js",
		probe: "node -e 'require(\"amqplib\")'", install: "npm ci in testdata/targets/node",
		breaks: map[string]property.Property{
			"return-ignored":         property.Linearizable,
			"verify-reconnects":      property.StaleBeliefEnds,
			"release-closes-channel": property.EffectiveRelease,
			"locked-is-success":      property.MutualExclusion,
		},
	},
}

func simulated(*testing.T) (b engine.GatedBroker) { return b }

func real(t *testing.T) engine.GatedBroker {
	b, err := rabbitmq.Start(t.Context(), rabbitmq.Options{URL: rabbitmqtest.URL(t)})
	if err != nil {
		t.Fatal(err)
	}
	return engine.GatedBroker{URL: b.URL, Version: b.Version, Sweep: b.Sweep}
}

// dir is where the example is, seen from the folder of any test of this module.
func (e *example) dir() string {
	up := "."
	for range 10 {
		if _, err := os.Stat(filepath.Join(up, "go.mod")); err == nil {
			break
		}
		up = filepath.Join(up, "..")
	}
	return filepath.Join(up, "testdata", "targets", e.folder)
}

// need skips the test where something is missing, unless it is known to be there.
func (e *example) need(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", e.probe)
	cmd.Dir = e.dir()
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
	case os.Getenv("LOCKPROOF_REQUIRE_EXAMPLES") != "":
		t.Fatalf("the %s example can't be run: %v; %s", e.folder, err, out)
	default:
		t.Skipf("the %s example is NOT TESTED: %v; it takes %s", e.folder, err, e.install)
	}
}

// prove judges the example, with a bug or without.
func (e *example) prove(t *testing.T, on engine.GatedBroker, bug string, scenarios int, until property.Set) *engine.Result {
	seed := uint64(1)
	if on.URL != "" && bug == "verify-reconnects" {
		seed = 3 // without time that passes, the first seed's 400 executions have no dropped connection at the right moment
	}
	c := engine.ExternalConfig{Starter: e.starter(t, bug), On: on, Seed: seed, Scenarios: scenarios, Until: until}
	if bug == sharedConnection {
		c.Workers = 1
	}
	res, err := engine.ProveExternal(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func (e *example) starter(t testing.TB, bug string) external.Starter {
	if e.command == "" {
		pool := new(amqplocks.Pool)
		return inprocess.Starter{Name: "golang example", New: func(ctx context.Context, url string) (inprocess.Lock, error) {
			if bug == sharedConnection {
				c, err := pool.New(ctx, url)
				return certain{c}, err
			}
			c, err := amqplocks.NewDialing(ctx, url, wire.Dial, amqplocks.Bug(bug))
			return certain{c}, err
		}}
	}
	return &subprocess.Starter{Command: strings.TrimSpace(e.command + " " + bug), Dir: e.dir(), Stderr: t.Output()}
}

// certain says which calls of the example in Go certainly had no effect.
type certain struct{ *amqplocks.Client }

func noEffect(err error) error {
	if errors.Is(err, amqplocks.ErrBusy) {
		err = errors.Join(inprocess.ErrNoEffect, err)
	}
	return err
}

func (c certain) Acquire(ctx context.Context, name string) (int, error) {
	slot, err := c.Client.Acquire(ctx, name)
	return slot, noEffect(err)
}

func (c certain) Create(ctx context.Context, name string, slots int) error {
	return noEffect(c.Client.Create(ctx, name, slots))
}

func (c certain) Add(ctx context.Context, name string, slots int) error {
	return noEffect(c.Client.Add(ctx, name, slots))
}

func (c certain) Remove(ctx context.Context, name string, slots int) error {
	return noEffect(c.Client.Remove(ctx, name, slots))
}

func (c certain) Destroy(ctx context.Context, name string) error {
	return noEffect(c.Client.Destroy(ctx, name))
}

func (c certain) Wait(ctx context.Context, name string, slot int) error {
	return noEffect(c.Client.Wait(ctx, name, slot))
}

// counterexampleOf is the result's counterexample of a property, which must not be suspected only.
func counterexampleOf(t *testing.T, res *engine.Result, property property.Property) *histories.Counterexample {
	t.Helper()
	for _, ce := range res.Counterexamples("") {
		if ce.Property == property && !ce.Suspected {
			return ce
		}
	}
	t.Fatalf("%s is not violated in %d executions", property, res.Report.Scenarios)
	return nil
}

func drawn(t *testing.T, x *scenario.Trace) string {
	var b strings.Builder
	if err := draw.Draw(&b, x, style.Style{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
