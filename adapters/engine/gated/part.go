package gated

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/tally"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// Part is the result of some scenarios of a run with external clients; see [sample.Part].
type Part struct{ totals }

// ProvePart runs the scenarios [from, to) of a run, counted from 0. Fresh clients repeat violating executions, which
// are not minimised: see [Conclude]. It returns an error if ctx ends before all scenarios have run.
func ProvePart(ctx context.Context, c Config, from, to int) (*Part, error) {
	run, err := c.run()
	if err != nil {
		return nil, err
	}
	if from < 0 || to < from {
		return nil, fmt.Errorf("scenarios %d to %d: expected the first not to come after the last", from, to)
	}
	var cancel context.CancelFunc
	run.allowed, cancel = engine.Allow(ctx, 0)
	defer cancel()
	if err := run.run(ctx, from, to, false); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &Part{run.totals}, nil
}

// Conclude turns the merged parts of a run into the result that [Prove] would return. It minimises the reproduced
// violations.
func Conclude(ctx context.Context, c Config, p *Part) (*engine.Result, error) {
	began := time.Now()
	run, err := c.run()
	if err != nil {
		return nil, err
	}
	var cancel context.CancelFunc
	run.allowed, cancel = engine.Allow(ctx, 0)
	defer cancel()
	run.totals = p.totals
	run.announce()
	if ctx.Err() == nil {
		if err := run.run(ctx, 0, 0, true); err != nil {
			return nil, err
		}
	}
	res := run.concluded(ctx, began)
	res.Report.Spent = nil // the time spent on the parts is unknown
	return res, nil
}

// Merge adds the result of other scenarios of the same run. Parts must be merged in the order of their scenarios.
func (p *Part) Merge(o *Part) {
	p.sum.Merge(&o.sum)
	for property, d := range o.findings {
		if d != nil && d.betters(p.findings[property]) {
			p.findings[property] = d
		}
	}
	p.about = o.about
	for property, b := range o.broken {
		p.broken = earliest(p.broken, property, b)
	}
	p.free.Add(o.free)
	p.wire.Add(&o.wire)
	p.agreed += o.agreed
	if p.traffic == nil {
		p.traffic = make(foreign.Traffic)
	}
	p.traffic.Merge(o.traffic)
	p.sharing = p.sharing || o.sharing
	p.uncontrolled += o.uncontrolled
	p.ended = p.ended || o.ended
	if p.disagreement == "" {
		p.disagreement = o.disagreement
	}
}

// Scenarios is the number of the part's scenarios.
func (p *Part) Scenarios() int { return p.sum.Scenarios }

// Violated returns the properties that the part's executions violate, including those that fresh clients have not
// reproduced.
func (p *Part) Violated() property.Set { return p.sum.Violated() }

// Reproduced returns the violated properties that fresh clients have reproduced.
func (p *Part) Reproduced() (set property.Set) {
	for i, d := range p.findings {
		if d != nil && !d.suspected() {
			set = set.With(property.Property(i))
		}
	}
	return set
}

// partFile is the stored form of a part. Its fields have the meaning of the fields of totals.
type partFile struct {
	Sum          []byte // the tally as JSON
	Findings     map[property.Property]findingFile
	About        foreign.About
	Free         foreign.Uncontrolled
	Wire         gate.Counts
	Agreed       int
	Traffic      foreign.Traffic
	Sharing      bool
	Uncontrolled int
	Ended        bool
	Disagreement string
	Broken       map[property.Property]breach
}

type findingFile struct {
	Scenario int
	Tries    histories.Tries
	// Options are the options of Run that differ from their defaults.
	Options [][2]string
	// The remaining fields are the parts of the trace, without payloads.
	Run        scenario.Scenario
	Setup      []scenario.TraceStep
	Steps      []scenario.TraceStep
	History    history.History
	Violations []scenario.Violation
	Errors     map[int]string
}

// MarshalJSON implements json.Marshaler. The part is encoded with gob, and the bytes as JSON, because its executions
// have no JSON form.
func (p *Part) MarshalJSON() ([]byte, error) {
	sum, err := json.Marshal(&p.sum)
	if err != nil {
		return nil, err
	}
	f := partFile{
		Sum: sum, Findings: make(map[property.Property]findingFile), About: p.about,
		Free: p.free, Wire: p.wire, Agreed: p.agreed, Traffic: p.traffic, Sharing: p.sharing, Uncontrolled: p.uncontrolled, Ended: p.ended, Disagreement: p.disagreement,
		Broken: p.broken,
	}
	for i, d := range p.findings {
		if d != nil {
			f.Findings[property.Property(i)] = d.file()
		}
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(f); err != nil {
		return nil, err
	}
	return json.Marshal(b.Bytes())
}

func (d *finding) file() findingFile {
	t := d.trace
	run := t.Scenario
	run.Options = nil // gob cannot encode interface values
	return findingFile{
		Scenario: d.scenario, Tries: d.tries, Options: t.Scenario.Changed(), Run: run, Setup: bare(t.Setup), Steps: bare(t.Steps), History: t.History,
		Violations: t.Violations, Errors: t.Errors,
	}
}

// bare returns steps without their payloads, which are valid within one process only.
func bare(steps []scenario.TraceStep) []scenario.TraceStep {
	out := slices.Clone(steps)
	for i := range out {
		out[i].Payload = nil
	}
	return out
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Part) UnmarshalJSON(data []byte) error {
	var raw []byte
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	var f partFile
	if err := gob.NewDecoder(bytes.NewReader(raw)).Decode(&f); err != nil {
		return err
	}
	var sum tally.Tally
	if err := json.Unmarshal(f.Sum, &sum); err != nil {
		return err
	}
	p.totals = totals{
		sum: sum, about: f.About, free: f.Free, wire: f.Wire, agreed: f.Agreed,
		traffic: f.Traffic, sharing: f.Sharing, uncontrolled: f.Uncontrolled, ended: f.Ended, disagreement: f.Disagreement, broken: f.Broken,
	}
	for number, d := range f.Findings {
		if number >= property.Count {
			return fmt.Errorf("property %d was found: there is none", number)
		}
		b, err := lock.BackendNamed(d.Run.Server)
		if err != nil {
			return err
		}
		if d.Run.Options, err = lock.SetOptions(b.Defaults, d.Options); err != nil {
			return err
		}
		p.findings[number] = d.finding()
	}
	return nil
}

func (f *findingFile) finding() *finding {
	t := &scenario.Trace{
		Scenario: f.Run, Setup: f.Setup, Steps: f.Steps, History: f.History, Violations: f.Violations, Errors: f.Errors,
	}
	return &finding{f.Scenario, t, f.Tries}
}
