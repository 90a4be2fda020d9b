package queue_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/sample"
	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
	"github.com/lockproof/lockproof/cmd/lockproof/campaign/queue"
	"github.com/lockproof/lockproof/internal/enginetest"
)

// plan decodes a campaign's file for a test.
func plan(t testing.TB, text string, args ...any) *campaign.Plan {
	t.Helper()
	p, err := campaign.Decode(fmt.Appendf(nil, text, args...))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// single returns the report of a single machine about a target's first scenarios.
func single(t testing.TB, target string, scenarios int) string {
	t.Helper()
	c := sample.Config{Sampling: engine.Sampling{Seed: 1, Scenarios: scenarios}}
	var err error
	if c.Target, err = engine.TargetNamed(target); err != nil {
		t.Fatal(err)
	}
	res, err := sample.Prove(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return enginetest.Card(t, res)
}

const sampling = `{"lockproof": "campaign", "version": 1, "name": "night", "target": {"name": %q}, "sample": {},
	"budget": {"executions": %d}, "shard": %d, "lease": "1s"}`

// many skips a test of many executions with -short.
func many(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped: -short leaves out many executions in turn")
	}
}

// TestSampleAsOneMachine checks that a campaign's report is byte for byte that of a single machine. Running the
// campaign again when it is over must give the same report.
func TestSampleAsOneMachine(t *testing.T) {
	many(t)
	dir := filepath.Join(t.TempDir(), "queue")
	want := single(t, "locked-is-success", 800)
	for _, workers := range []int{3, 1} {
		done := 0
		out, err := queue.Run(t.Context(), campaign.RunConfig{
			Plan: plan(t, sampling, "locked-is-success", 800, 20), Server: campaign.Server{Dir: dir}, Workers: workers,
			Watch: func(s *campaign.Status) { done = s.Done },
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := enginetest.Card(t, out.Result); got != want {
			t.Fatalf("the campaign comes to\n%s\none machine to\n%s", got, want)
		}
		if done != 40 {
			t.Errorf("%d shards are done, expected 40", done)
		}
	}
	if s, err := queue.Look(t.Context(), campaign.Server{Dir: dir}, ""); err != nil || s.Over != "all shards are done" || s.Executions != 800 {
		t.Errorf("the status is %+v, %v", s, err)
	}
}

// TestInterrupted checks that a resumed campaign does not repeat shards whose results are stored.
func TestInterrupted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "queue")
	p := plan(t, sampling, "semaphore", 2000, 20)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := campaign.RunConfig{Plan: p, Server: campaign.Server{Dir: dir}, Workers: 2, Watch: func(*campaign.Status) { cancel() }}
	out, err := queue.Run(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	before := out.Result.Report.Scenarios
	if !out.Result.Report.Interrupted || before == 2000 {
		t.Fatalf("%d scenarios, interrupted: %v", before, out.Result.Report.Interrupted)
	}
	c.Watch = nil
	if out, err = queue.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if got, want := enginetest.Card(t, out.Result), single(t, "semaphore", 2000); got != want {
		t.Fatalf("the campaign comes to\n%s\none machine to\n%s", got, want)
	}
}

// TestStops checks that a campaign which stops at a violation stops at the same one as a single machine, for any number
// of workers.
func TestStops(t *testing.T) {
	many(t)
	target, err := engine.TargetNamed("retries-forever")
	if err != nil {
		t.Fatal(err)
	}
	c := sample.Config{Target: target, Sampling: engine.Sampling{Seed: 1, Scenarios: 10000}}
	for _, workers := range []int{1, 3} {
		p := plan(t, `{"lockproof": "campaign", "version": 1, "name": "stops", "target": {"name": "retries-forever"},
			"sample": {"properties": ["progress", "linearizable"]}, "budget": {"executions": 10000}, "stop": {"violation": ["any"]}, "shard": 512}`)
		out, err := queue.Run(t.Context(), campaign.RunConfig{Plan: p, Server: campaign.Server{Dir: filepath.Join(t.TempDir(), "queue")}, Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		c.Properties = c.Properties.With(out.Result.Report.Properties[0].Property).With(out.Result.Report.Properties[1].Property)
		c.Until = c.Properties
		res, err := sample.Prove(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := enginetest.Card(t, out.Result), enginetest.Card(t, res); got != want {
			t.Fatalf("%d workers come to\n%s\none machine to\n%s", workers, got, want)
		}
	}
}

// TestStopsWithoutNewCoverage checks that a campaign which stops after some shards without new coverage ends with the
// same shard for any number of workers.
func TestStopsWithoutNewCoverage(t *testing.T) {
	many(t)
	scenarios := 0
	for _, workers := range []int{1, 3} {
		p := plan(t, `{"lockproof": "campaign", "version": 1, "name": "stops", "target": {"name": "mutex"},
			"sample": {}, "budget": {"executions": 20000}, "stop": {"no_new_coverage": 4}, "shard": 100}`)
		out, err := queue.Run(t.Context(), campaign.RunConfig{Plan: p, Server: campaign.Server{Dir: filepath.Join(t.TempDir(), "queue")}, Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		n := out.Result.Report.Scenarios
		if n >= 20000 || scenarios != 0 && n != scenarios {
			t.Errorf("%d workers end after %d scenarios; one after %d, of 20000", workers, n, scenarios)
		}
		scenarios = n
	}
}

// TestPlans checks that the error for an invalid campaign file is one line.
func TestPlans(t *testing.T) {
	head := `{"lockproof": "campaign", "version": 1, "name": "night"`
	for text, says := range map[string]string{
		`{`:                       "unexpected EOF",
		`{"lockproof": "report"}`: `lockproof: found "report"`,
		`{"lockproof": "campaign", "version": 9}`:                    "version: found 9",
		`{"lockproof": "campaign", "version": 1, "name": "A night"}`: `name "A night"`,
		head + `}`:                            "expected one of sample, mutants, configurations and sweep",
		head + `, "sample": {}, "colour": 1}`: "colour",
		head + `, "sample": {}, "target": {"name": "sofa"}}`:                                               `target "sofa"`,
		head + `, "sample": {"options": ["order"]}}`:                                                       "expected name=value",
		head + `, "sample": {"options": ["order=up"]}}`:                                                    "option order",
		head + `, "sample": {"strategy": "replay"}}`:                                                       "expected random or pct",
		head + `, "sample": {"properties": ["sofa"]}}`:                                                     `property "sofa"`,
		head + `, "sample": {"clients": 99}}`:                                                              "clients 99",
		head + `, "sample": {}, "stop": {"violation": ["sofa"]}}`:                                          "stop: violation",
		head + `, "sample": {}, "lease": "1ms"}`:                                                           "lease 1ms",
		head + `, "sample": {}, "shard": -1}`:                                                              "shard -1",
		head + `, "sample": {}, "shard": 1, "budget": {"executions": 1000000000000}}`:                      "expected at most 100000",
		head + `, "sample": {}, "target": {"exec": "cat"}, "budget": {"executions": 9223372036854775807}}`: "budget: executions",
		head + `, "configurations": [{"clients": 1, "admins": 2147483648}]}`:                               "admins 2147483648",
		head + `, "sweep": {"sizes": [{"clients": 1, "rounds": 2147483648}]}}`:                             "rounds 2147483648",
		head + `, "sweep": {"sizes": [{"clients": 1}], "faults": [{"crashes": -1}]}}`:                      "crashes -1",
		head + `, "judge": {"memory": -1}, "sweep": {"sizes": [{"clients": 1}]}}`:                          "judge: memory -1",
		head + `, "sample": {"pct_depth": 65, "strategy": "pct"}, "target": {"exec": "cat"}}`:              "depth 65",
		head + `, "sweep": {"sizes": [{"clients": 1}], "options": [` + strings.Repeat(`{"name": "order", "values": ["a","a","a","a","a","a","a","a","a","a"]},`, 6) + `{"name": "order", "values": ["a"]}]}}`: "expected at most 100000",
		head + `, "sample": {}, "budget": {"time": "night"}}`: "length of time",
	} {
		_, err := campaign.Decode([]byte(text))
		if err == nil || !bytes.Contains([]byte(err.Error()), []byte(says)) || bytes.ContainsRune([]byte(err.Error()), '\n') {
			t.Errorf("%s: %v; expected one line that says %q", text, err, says)
		}
	}
	if _, err := campaign.Load(filepath.Join(t.TempDir(), "none")); !os.IsNotExist(err) {
		t.Error(err)
	}
}
