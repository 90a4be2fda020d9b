package histories

import (
	"slices"
	"testing"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// TestFingerprint: a fingerprint depends on the facts that the comment of Fingerprint lists, and on no others.
func TestFingerprint(t *testing.T) {
	for what, c := range map[string]struct {
		same   bool
		change func(*Counterexample)
	}{
		"seed":         {true, func(c *Counterexample) { c.Origin.Seed, c.Origin.Scenario, c.Origin.Command = 9, 9, "other" }},
		"tool":         {true, func(c *Counterexample) { c.Tool, c.Transcript, c.Violation.Detail = "9", nil, "other" }},
		"version":      {true, func(c *Counterexample) { c.Scenario.Target += " 0.3" }},
		"lock's name":  {true, func(c *Counterexample) { c.Scenario.Locks[0].Name = "other" }},
		"numbers":      {true, func(c *Counterexample) { slices.Reverse(c.Scenario.Clients) }},
		"order":        {true, func(c *Counterexample) { slices.Reverse(c.Scenario.Schedule.Actions) }},
		"one more":     {true, func(c *Counterexample) { c.add(scenario.Action{Kind: scenario.Step, Client: 1}) }},
		"choice":       {true, func(c *Counterexample) { c.add(scenario.Action{Kind: scenario.Choose, Client: 1, Arg: 3}) }},
		"target":       {false, func(c *Counterexample) { c.Scenario.Target += "2" }},
		"type":         {false, func(c *Counterexample) { c.Kind = lock.Mutex }},
		"option":       {false, func(c *Counterexample) { c.Origin.Options = nil }},
		"property":     {false, func(c *Counterexample) { c.Violation.Property = property.NoLeak }},
		"strict":       {false, func(c *Counterexample) { c.FailedAcquire = property.Strong }},
		"slots":        {false, func(c *Counterexample) { c.Scenario.Locks[0].Slots++ }},
		"hole":         {false, func(c *Counterexample) { c.Scenario.Locks[0].Missing = 2 }},
		"operation":    {false, func(c *Counterexample) { c.Scenario.Clients[0].Ops[0].Op = lock.Count }},
		"its argument": {false, func(c *Counterexample) { c.Scenario.Clients[0].Ops[0].Arg++ }},
		"fault":        {false, func(c *Counterexample) { c.add(scenario.Action{Kind: scenario.CrashReply, Client: 1}) }},
	} {
		base, changed := sampleCounterexample(), sampleCounterexample()
		changed.Scenario = changed.Scenario.Clone()
		c.change(changed)
		if same := base.Fingerprint() == changed.Fingerprint(); same != c.same {
			t.Errorf("%s: the fingerprint is the same: %v", what, same)
		}
	}
	if f := sampleCounterexample().Fingerprint(); len(f) != 16 {
		t.Errorf("%q has not sixteen digits", f)
	}
}

func (c *Counterexample) add(a scenario.Action) {
	c.Scenario.Schedule.Actions = append(c.Scenario.Schedule.Actions, a)
}
