package lockproof_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockproof/lockproof"
	"github.com/lockproof/lockproof/adapters/process"
	"github.com/lockproof/lockproof/adapters/process/adaptercheck"
	"github.com/lockproof/lockproof/model/spec"
)

// example is a target in testdata/targets that is a program.
type example struct {
	folder string
	// command runs its adapter; the name of a bug may follow.
	command string
	// probe succeeds where there is all that it needs, and install says how that gets there.
	probe, install string
	// breaks are its bugs, each with the property that it breaks.
	breaks map[string]spec.Property
}

var examples = []example{
	{
		folder: "python", command: "exec /usr/bin/python3 adapter.py",
		probe: "/usr/bin/python3 -c 'import pika'", install: "apt-get install python3-pika",
		breaks: map[string]spec.Property{
			"not-mandatory":          spec.Linearizable,
			"return-ignored":         spec.Linearizable,
			"verify-reconnects":      spec.StaleBeliefEnds,
			"release-closes-channel": spec.EffectiveRelease,
			"no-cleanup":             spec.Linearizable,
			"locked-is-success":      spec.MutualExclusion,
		},
	},
	{
		folder: "node", command: "exec node adapter.js",
		probe: "node -e 'require(\"amqplib\")'", install: "npm ci in testdata/targets/node",
		breaks: map[string]spec.Property{
			"return-ignored":         spec.Linearizable,
			"verify-reconnects":      spec.StaleBeliefEnds,
			"release-closes-channel": spec.EffectiveRelease,
			"locked-is-success":      spec.MutualExclusion,
		},
	},
}

// Locks written in other languages, as they are: the correct ones hold, and each wrong one violates the
// property that its bug breaks, in an execution that replays.
func TestExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out the examples in other languages")
	}
	for _, e := range examples {
		t.Run(e.folder, func(t *testing.T) {
			e.need(t)
			t.Run("check", e.check)
			t.Run("holds", e.holds)
			for bug, property := range e.breaks {
				t.Run(bug, func(t *testing.T) { e.violates(t, bug, property) })
			}
		})
	}
}

func (e *example) dir() string { return filepath.Join("testdata", "targets", e.folder) }

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

func (e *example) check(t *testing.T) {
	var out strings.Builder
	p := adaptercheck.Printer{Out: &out}
	green, err := adaptercheck.Run(t.Context(), adaptercheck.Config{Command: e.command, Dir: e.dir(), Stderr: t.Output()}, p.Step)
	if err != nil || !green {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// prove judges the example, with a bug or without.
func (e *example) prove(t *testing.T, bug string, seed uint64, scenarios int, until spec.PropertySet) *lockproof.Result {
	res, err := lockproof.ProveForeign(t.Context(), lockproof.ForeignConfig{
		Starter: e.starter(t, bug), Seed: seed, Scenarios: scenarios, Until: until,
	})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func (e *example) starter(t *testing.T, bug string) *process.Starter {
	return &process.Starter{Command: strings.TrimSpace(e.command + " " + bug), Dir: e.dir(), Stderr: t.Output()}
}

func (e *example) holds(t *testing.T) {
	res := e.prove(t, "", 1, 100, 0)
	for _, p := range res.Report.Properties {
		if p.Violation != nil {
			t.Errorf("%s is violated: %s\n%s", p.Property, p.Violation.Detail, p.Violation.Diagram)
		}
	}
}

// exampleSeeds is how many are tried. A driver that does not always do the same may keep what was seen once from
// being seen again.
const exampleSeeds = 6

func (e *example) violates(t *testing.T, bug string, property spec.Property) {
	for seed := range uint64(exampleSeeds) {
		res := e.prove(t, bug, seed+1, 400, spec.PropertySet(0).With(property))
		for _, ce := range res.Counterexamples("") {
			r, err := lockproof.ReplayForeign(t.Context(), ce, e.starter(t, bug), lockproof.ForeignBroker{})
			if err != nil {
				t.Fatal(err)
			}
			if ce.Property == property && r.Violation != nil {
				t.Logf("first seen in execution %d of seed %d: %s", ce.Origin.Scenario, seed+1, r.Violation.Explain())
				return
			}
		}
		t.Logf("seed %d: no counterexample of %s that replays, in %d executions", seed+1, property, res.Report.Scenarios)
	}
	t.Errorf("%s is not violated", property)
}
