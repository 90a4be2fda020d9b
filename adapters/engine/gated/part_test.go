package gated_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/internal/enginetest"
	"github.com/lockproof/lockproof/internal/foreigntest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/property"
)

// TestExternalPartsAddUp checks that parts of a run which were written, read and merged give the report of the whole
// run. An execution that is run again because it seems too expensive must count once.
func TestExternalPartsAddUp(t *testing.T) {
	t.Parallel()
	for name, judged := range map[string][]property.Property{
		"locked-is-success": {property.MutualExclusion, property.HonestVerify, property.Linearizable},
		"channel-each":      {property.CheapAcquire, property.NoLeak},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name == "channel-each" {
				t.Skip("skipped: -short leaves out what costs are measured of")
			}
			target, err := engine.TargetNamed(name)
			if err != nil {
				t.Fatal(err)
			}
			// Pipelining is turned off: after a crash, the number of pipelined commands at the gate depends on the
			// client.
			options := amqplock.Table.Edit(amqplock.DefaultOptions(), func(o *amqplock.Options) { o.Pipeline = 0 })
			c := gated.Config{
				Lock: gated.Lock{
					Starter: foreigntest.Machines{Target: target, Options: target.Settled(options)}, Kind: target.Kind,
					Demands: property.Promises,
				},
				Sampling: engine.Sampling{Seed: 1, Scenarios: 60, Workers: 1}, // the default is one per processor
			}
			if testing.Short() {
				c.Scenarios = 30
			}
			for _, p := range judged {
				c.Properties = c.Properties.With(p)
			}
			whole, err := gated.Prove(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			res, err := gated.Conclude(t.Context(), c, merged(t, c))
			if err != nil {
				t.Fatal(err)
			}
			if whole.Report.Result(judged[0]).Violation == nil || len(whole.Report.Wire) == 0 {
				t.Errorf("%v is not violated, or nothing went over the wire", judged[0])
			}
			whole.Report.Uncontrolled, res.Report.Uncontrolled = nil, nil
			if got, want := enginetest.Card(t, res), enginetest.Card(t, whole); got != want {
				t.Errorf("parts come to\n%s\nthe whole run to\n%s", got, want)
			}
		})
	}
}

// merged runs the parts of a run, writes and reads each as JSON, and merges them.
func merged(t *testing.T, c gated.Config) *gated.Part {
	t.Helper()
	sum := new(gated.Part)
	for _, cut := range [][2]int{{c.Scenarios * 2 / 3, c.Scenarios}, {0, 13}, {13, c.Scenarios * 2 / 3}} {
		p, err := gated.ProvePart(t.Context(), c, cut[0], cut[1])
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		read := new(gated.Part)
		if err := json.Unmarshal(data, read); err != nil {
			t.Fatal(err)
		}
		sum.Merge(read)
	}
	return sum
}

// FuzzPart reads arbitrary data as a part. The data must either be refused, or be merged and reported without a crash.
func FuzzPart(f *testing.F) {
	target, err := engine.TargetNamed("locked-is-success")
	if err != nil {
		f.Fatal(err)
	}
	c := gated.Config{
		Lock:     gated.Lock{Starter: foreigntest.Machines{Target: target, Options: target.Settled(amqplock.DefaultOptions())}, Kind: target.Kind},
		Sampling: engine.Sampling{Seed: 1, Scenarios: 20, Workers: 1}, Judging: engine.Judging{Properties: property.Set(0).With(property.MutualExclusion).With(property.HonestVerify)},
	}
	part, err := gated.ProvePart(f.Context(), c, 0, 20)
	if err != nil {
		f.Fatal(err)
	}
	data, err := json.Marshal(part)
	if err != nil {
		f.Fatal(err)
	}
	var raw []byte
	if err := json.Unmarshal(data, &raw); err != nil {
		f.Fatal(err)
	}
	if err := part.Check(c, 0, 20); err != nil || part.Reproduced() == 0 {
		f.Fatalf("%v; %v is reproduced", err, part.Reproduced())
	}
	f.Add(raw)
	f.Add(raw[:len(raw)/2])
	f.Add([]byte(nil))
	over, cancel := context.WithCancel(context.Background())
	cancel()
	f.Fuzz(func(t *testing.T, raw []byte) {
		data, err := json.Marshal(raw)
		if err != nil {
			t.Fatal(err)
		}
		read := new(gated.Part)
		if json.Unmarshal(data, read) != nil || read.Check(c, 0, 20) != nil {
			return
		}
		sum := new(gated.Part)
		sum.Merge(read)
		if _, err := gated.Conclude(over, c, sum); err != nil {
			t.Error(err)
		}
	})
}
