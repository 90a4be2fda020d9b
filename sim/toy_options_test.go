package sim_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// TestToyOptions: an option that only one backend has is drawn, written to a file, read back and replayed.
func TestToyOptions(t *testing.T) {
	var r sim.Runner
	breaks := named(t, toyCredulous.Breaks)
	source, drawn := sim.NewSource(sim.Space{Target: toyCredulous}, 1), make(map[string]bool)
	var found *scenario.Trace
	for i := 0; i < 3000 && found == nil; i++ {
		s := source.Scenario(i)
		drawn[s.Options.Value("lease")] = true
		tr := r.Trace(toyCredulous, &s, property.Weak)
		_, shown := sim.Violating(tr, breaks)
		s.Options = toyTable.Edit(s.Options, func(o *toyOptions) { o.Lease = 1000 })
		_, anyhow := sim.Violating(r.Trace(toyCredulous, &s, property.Weak), breaks)
		if shown && !anyhow && tr.Scenario.Options.Value("lease") == "16" {
			found = tr
		}
	}
	if found == nil || !drawn["12"] || !drawn["16"] {
		t.Fatalf("leases drawn: %v; expected a violation with a lease of 16 that there is not with one that does not end", drawn)
	}
	ce := histories.Counterexample{Property: breaks, Scenario: sim.Replay(found)}
	for _, v := range found.Violations {
		if v.Property == breaks {
			ce.Violation = v
		}
	}
	data, err := ce.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"server": "toy"`, `"lease": "16"`} {
		if !strings.Contains(string(data), part) {
			t.Errorf("the file does not say %s:\n%s", part, data)
		}
	}
	read, err := histories.DecodeCounterexample("toy.json", data)
	if err != nil {
		t.Fatal(err)
	}
	if read.Scenario.Options != ce.Scenario.Options {
		t.Errorf("options %v were read as %v", ce.Scenario.Options, read.Scenario.Options)
	}
	target := lock.TargetNamed(read.Scenario.Target)
	if _, shown := sim.Violating(r.Trace(target, &read.Scenario, property.Weak), breaks); !shown {
		t.Errorf("what was read does not violate %s", breaks)
	}
}

// TestToyFileRefused: a file with an unknown server or wrong options is refused.
func TestToyFileRefused(t *testing.T) {
	s := sim.NewSource(sim.Space{Target: toyReference}, 1).Scenario(0)
	s.Options = toyTable.Edit(s.Options, func(o *toyOptions) { o.Lease = 7 })
	s.Faults, s.Schedule = nil, scenario.Schedule{Strategy: scenario.Replay, Actions: []scenario.Action{{Kind: scenario.Step, Client: 1}}}
	ce := histories.Counterexample{Scenario: s}
	ce.Violation.Detail = "it is not violated"
	data, err := ce.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := histories.DecodeCounterexample("toy.json", data); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{`"server": "toy"`, `"server": "abacus"`, `/scenario/server: server "abacus" is not known: expected one of amqp, amqp-consumption, consul, lease, mariadb, postgres, redis, toy`},
		{`"server": "toy"`, `"server": "amqp"`, `option "lease" is not known`},
		{`"lease": "7"`, `"lease": "week"`, `option lease: "week": expected a number from 0 to 1000`},
		{`"lease": "7"`, `"lease": "0"`, `/scenario/options: lease 0: expected at least a millisecond`},
		{`"lease": "7"`, `"pipeline": "7"`, `option "pipeline" is not known`},
	} {
		edited := strings.Replace(string(data), c.from, c.to, 1)
		if edited == string(data) {
			t.Fatalf("the file has no %s:\n%s", c.from, data)
		}
		if _, err := histories.DecodeCounterexample("toy.json", []byte(edited)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %q", c.to, err, c.want)
		}
	}
	if _, err := toyTable.Defaults().With("skew", "1"); !errors.Is(err, lock.ErrUnknownOption) {
		t.Errorf("an option that there is not: %v", err)
	}
}

// TestToySkips: a property that a backend's locks skip is not judged, and the result has the reason.
func TestToySkips(t *testing.T) {
	if property.Of(toyReference).Has(property.MinimalDriver) || property.Skipped(toyReference)[property.MinimalDriver] == "" {
		t.Errorf("of the toy: %v, skipped %v", property.Of(toyReference).Names(), property.Skipped(toyReference))
	}
	if of, all := property.Of(toyReference), property.Applicable(lock.Mutex); of|1<<property.MinimalDriver != all {
		t.Errorf("of the toy %v, of all mutexes %v", of.Names(), all.Names())
	}
	for _, skips := range []map[string]string{{"minimal-drivel": "a reason"}, {"progress": ""}} {
		if err := property.CheckSkips(&lock.Backend{Name: "x", Skips: skips}); err == nil {
			t.Errorf("%v is accepted", skips)
		}
	}
}
