package engine_test

import (
	"encoding/json"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/foreign/foreigntest"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestExternalPartsAddUp: parts of a run of somebody else's clients that were written, read and merged come to the
// verdicts and counterexamples of the whole run.
func TestExternalPartsAddUp(t *testing.T) {
	target, err := engine.TargetNamed("locked-is-success")
	if err != nil {
		t.Fatal(err)
	}
	c := engine.ExternalConfig{
		Starter: foreigntest.Machines{Target: target, Options: target.Settled(lock.DefaultOptions())}, Kind: target.Kind,
		Seed: 1, Scenarios: 60, Workers: 1,
		Properties: property.Set(0).With(property.MutualExclusion).With(property.HonestVerify).With(property.Linearizable),
	}
	whole, err := engine.ProveExternal(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	sum := new(engine.ExternalPart)
	for _, cut := range [][2]int{{40, 60}, {0, 13}, {13, 40}} {
		p, err := engine.ProveExternalPart(t.Context(), c, cut[0], cut[1])
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		read := new(engine.ExternalPart)
		if err := json.Unmarshal(data, read); err != nil {
			t.Fatal(err)
		}
		sum.Merge(read)
	}
	res, err := engine.ConcludeExternal(t.Context(), c, sum)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*engine.Result{whole, res} {
		r.Report.Wire, r.Report.Uncontrolled = nil, nil // they write several commands in one go: how many the gate has when they crash is theirs
	}
	if got, want := card(t, res), card(t, whole); got != want {
		t.Errorf("parts come to\n%s\nthe whole run to\n%s", got, want)
	}
}
