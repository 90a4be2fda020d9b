package campaign

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/sample"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// Sample says which scenarios to draw. The defaults are those of `lockproof prove`.
type Sample struct {
	Seed       uint64   `json:"seed,omitzero"`     // 0 means 1
	Options    []string `json:"options,omitempty"` // fixed options, as name=value
	Strategy   string   `json:"strategy,omitzero"` // "random" or "pct"; "" means both
	PCTDepth   int      `json:"pct_depth,omitzero"`
	Strict     bool     `json:"strict,omitzero"`      // a failed acquire promises that all slots were taken at once
	Properties []string `json:"properties,omitempty"` // names of the properties to judge; empty means all
	// Guided is the share of the executions that go to the parts of the space with new coverage. Generation is the
	// number of shards after which these parts are chosen again; 0 means the default.
	Guided     float64 `json:"guided,omitzero"`
	Generation int     `json:"generation,omitzero"`
	Shape
}

// Shape fixes parts of the workload and the faults. A nil field is drawn.
type Shape struct {
	Clients    *int     `json:"clients,omitzero"`
	Admins     *int     `json:"admins,omitzero"`
	Slots      *int     `json:"slots,omitzero"`
	Rounds     *int     `json:"rounds,omitzero"`
	CrashShare *float64 `json:"crash_share,omitzero"` // share of operations during which the client crashes
	Restarts   *int     `json:"restarts,omitzero"`
}

// Default sizes of shards. A shard takes about a second on one core. There are at most mostShards shards, because a
// server must list them.
const (
	sampleShard = 100 * sample.PartUnit
	mostShards  = 100_000
)

// executions is the unit in which campaigns over scenarios report their progress.
const executions = "executions"

// sampleJob is a campaign over the scenarios of one seed, with a lock of this module.
type sampleJob struct {
	plan   *Plan
	config sample.Config
	limit  int // maximum number of scenarios
	size   int // number of scenarios in a shard
	guide  *guide
	given  int // number of scenarios in the shards so far
	number int // number of the next shard
	next   int // next scenario of the whole space, as opposed to narrower spaces
	sum    *sample.Part
	stale  int // number of shards since the last new coverage
}

func (p *Plan) sampleJob(o Options) (Job, error) {
	c, err := p.sampleConfig()
	if err != nil {
		return nil, err
	}
	c.Workers, c.Found, c.Coverage = 1, o.Found, p.Stop.NoNewCoverage > 0 || p.Sample.Guided > 0
	c.Scenarios = cmp.Or(p.Budget.Executions, sample.DefaultScenarios)
	j := &sampleJob{plan: p, config: c, limit: c.Scenarios, sum: new(sample.Part)}
	j.size = cmp.Or(p.Shard, max(sampleShard, units(j.limit/mostShards+1)))
	if err := few(j.limit, j.size); err != nil {
		return nil, err
	}
	if j.guide, err = newGuide(p.Sample, c); err != nil {
		return nil, err
	}
	if _, err := sample.ProvePart(context.Background(), c, 0, 0); err != nil {
		return nil, fmt.Errorf("sample: %w", err)
	}
	return j, nil
}

// units is n rounded up to a multiple of [sample.PartUnit].
func units(n int) int {
	return (n + sample.PartUnit - 1) / sample.PartUnit * sample.PartUnit
}

// sampleConfig returns the configuration of the run whose parts are the shards.
func (p *Plan) sampleConfig() (c sample.Config, err error) {
	s := p.Sample
	c = sample.Config{Sampling: engine.Sampling{Seed: cmp.Or(s.Seed, 1), Depth: s.PCTDepth, Shape: s.shape()}, Judging: engine.Judging{FailedAcquire: s.failedAcquire()}}
	if c.Target, err = engine.TargetNamed(cmp.Or(p.Target.Name, "semaphore")); err != nil {
		return c, err
	}
	for _, o := range s.Options {
		name, value, ok := strings.Cut(o, "=")
		if !ok {
			return c, fmt.Errorf("sample: option %q: expected name=value", o)
		}
		c.Options = append(c.Options, [2]string{name, value})
	}
	if c.Strategies, err = s.strategies(); err != nil {
		return c, err
	}
	applicable := property.Of(c.Target)
	if c.Properties, err = properties(s.Properties, applicable); err != nil {
		return c, fmt.Errorf("sample: %w", err)
	}
	c.Until, err = p.Stop.until(cmp.Or(c.Properties, applicable))
	return c, err
}

func (s *Sample) failedAcquire() property.FailedAcquire {
	if s.Strict {
		return property.Strong
	}
	return property.Weak
}

// strategies returns the strategies for drawing schedules; nil means all.
func (s *Sample) strategies() ([]scenario.Strategy, error) {
	if s.Strategy == "" {
		return nil, nil
	}
	var strategy scenario.Strategy
	if err := strategy.UnmarshalText([]byte(s.Strategy)); err != nil || strategy == scenario.Replay {
		return nil, fmt.Errorf("sample: strategy %q: expected random or pct", s.Strategy)
	}
	return []scenario.Strategy{strategy}, nil
}

// Judged returns the properties that a campaign over scenarios judges, and its lock type. For a table, both are zero.
func (p *Plan) Judged() (property.Set, lock.Kind) {
	switch {
	case p.Sample == nil:
		return 0, 0
	case p.Target.Exec != "":
		c, err := p.externalConfig()
		checked(err)
		return cmp.Or(c.Properties, property.ApplicableExternal(c.Kind)), c.Kind
	}
	c, err := p.sampleConfig()
	checked(err)
	return cmp.Or(c.Properties, property.Of(c.Target)), c.Target.Kind
}

// checked panics on an error that is possible only if the plan was not checked before.
func checked(err error) {
	if err != nil {
		panic("campaign: the plan was not checked: " + err.Error())
	}
}

func (h *Shape) shape() sim.Shape {
	return sim.Shape{Clients: h.Clients, Admins: h.Admins, Slots: h.Slots, Rounds: h.Rounds, CrashShare: h.CrashShare, Restarts: h.Restarts}
}

// properties looks properties up by name. Each must be among the applicable ones. Without names it returns the empty
// set, which stands for all.
func properties(names []string, applicable property.Set) (set property.Set, err error) {
	for _, name := range names {
		p, err := property.Named(name)
		if err != nil {
			return 0, err
		}
		if !applicable.Has(p) {
			return 0, fmt.Errorf("property %s: it is not judged here; leave it out", p)
		}
		set = set.With(p)
	}
	return set, nil
}

// until returns the judged properties whose violation ends the campaign.
func (s *Stop) until(judged property.Set) (property.Set, error) {
	if len(s.Violation) == 1 && s.Violation[0] == "any" {
		return judged, nil
	}
	set, err := properties(s.Violation, judged)
	if err != nil {
		return 0, fmt.Errorf("stop: violation: %w", err)
	}
	return set, nil
}

// Batch returns all shards. In a guided campaign it returns the shards of the next generation, those of the whole space
// first.
func (j *sampleJob) Batch() (shards []Shard) {
	left := (j.limit - j.given + j.size - 1) / j.size
	if j.plan.Sample.Guided == 0 {
		for range left {
			shards = append(shards, j.shard(0, &j.next))
		}
		return shards
	}
	n := min(left, j.guide.size)
	if n == 0 {
		return nil
	}
	allotted := j.guide.allot(n)
	for range n - sum(allotted) {
		shards = append(shards, j.shard(0, &j.next))
	}
	for i, n := range allotted {
		for range n {
			shards = append(shards, j.shard(i+1, &j.guide.spaces[i].next))
		}
	}
	return shards
}

// shard returns the next shard of space number of. next is the space's next scenario; shard advances it.
func (j *sampleJob) shard(of int, next *int) Shard {
	n := min(j.size, j.limit-j.given)
	s := Shard{Number: j.number, From: *next, To: *next + n, Of: of}
	j.number++
	j.given += n
	*next += n
	return s
}

// drawn returns the configuration from which a shard's scenarios are drawn, with the result so far.
func (j *sampleJob) drawn(s Shard) (sample.Drawn, error) {
	switch {
	case s.Of == 0:
		return sample.Drawn{Config: j.config, Part: j.sum}, nil
	case s.Of > 0 && s.Of <= len(j.guide.spaces):
		return j.guide.spaces[s.Of-1].drawn, nil
	}
	return sample.Drawn{}, fmt.Errorf("there is no space %d", s.Of)
}

func (j *sampleJob) Work(ctx context.Context, s Shard) (any, error) {
	d, err := j.drawn(s)
	if err != nil {
		return nil, err
	}
	return sample.ProvePart(ctx, d.Config, s.From, s.To)
}

func (j *sampleJob) Holds(s Shard) error {
	if j.plan.Sample.Guided == 0 {
		return s.among(j.limit, j.size)
	}
	// only the runner of a guided campaign knows to which space each shard belongs
	if most := (j.limit - 1) / j.size; s.Number < 0 || s.Number > most || s.From < 0 || s.From >= s.To || s.To > j.limit || s.To-s.From > j.size {
		return fmt.Errorf("shard %d is of %d to %d: there is none such", s.Number, s.From, s.To)
	}
	_, err := j.drawn(s)
	return err
}

func (j *sampleJob) Read(s Shard, result []byte) (any, error) {
	d, err := j.drawn(s)
	if err != nil {
		return nil, err
	}
	part := new(sample.Part)
	return part, guarded(func() error {
		if err := json.Unmarshal(result, part); err != nil {
			return err
		}
		return part.Check(d.Config, s.From, s.To)
	})
}

func (j *sampleJob) News(result any) bool {
	return result.(*sample.Part).Violated()&^j.violated() != 0
}

func (j *sampleJob) Confirm(context.Context, any, bool) (string, error) { return "", nil }

func (j *sampleJob) Differs(result, own any) error { return alike(result, own) }

func (j *sampleJob) Take(s Shard, result any) {
	part := result.(*sample.Part)
	d, err := j.drawn(s)
	checked(err)
	d.Part.Merge(part)
	if j.stale++; j.guide.cover(part, s.Of, j.config.Scenario) {
		j.stale = 0
	}
}

// violated returns the properties that executions of any space have violated.
func (j *sampleJob) violated() property.Set {
	set := j.sum.Violated()
	for _, d := range j.guide.drawn() {
		set |= d.Part.Violated()
	}
	return set
}

func (j *sampleJob) Enough() string {
	if broken := j.violated() & j.config.Until; broken != 0 {
		return strings.Join(broken.Names(), ", ") + " violated"
	}
	if n := j.plan.Stop.NoNewCoverage; n > 0 && j.stale >= n {
		return fmt.Sprintf("nothing new was covered in %d shards", j.stale)
	}
	return ""
}

// executions is the number of executions in the results that were read so far.
func (j *sampleJob) executions() int {
	n := j.sum.Scenarios()
	for _, d := range j.guide.drawn() {
		n += d.Part.Scenarios()
	}
	return n
}

func (j *sampleJob) Progress() Progress {
	return Progress{
		Executions: j.executions(), Of: j.limit, Shards: (j.limit + j.size - 1) / j.size, Unit: executions, Violated: j.violated().Names(),
	}
}

func (j *sampleJob) Conclude(ctx context.Context) (*Outcome, error) {
	res, err := sample.Conclude(ctx, sample.Drawn{Config: j.config, Part: j.sum}, j.guide.drawn()...)
	if err != nil {
		return nil, err
	}
	res.Report.Guided = j.guide.said(j.executions())
	if j.config.Coverage {
		res.Report.Covered = j.guide.counts()
	}
	return &Outcome{Result: res}, nil
}

func (j *sampleJob) Sofar() *Outcome {
	hasty := *j
	hasty.config.Found = nil
	return sofar(&hasty)
}

// sofar returns a job's outcome so far without minimising, which would take long. It returns nil if there is an error.
func sofar(j interface {
	Conclude(context.Context) (*Outcome, error)
}) *Outcome {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	out, err := j.Conclude(ctx)
	if err != nil {
		return nil
	}
	return out
}
