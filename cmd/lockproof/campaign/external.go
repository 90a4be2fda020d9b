package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/subprocess"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// externalShard is the default number of scenarios in a shard of external clients. A shard takes some seconds on one
// core.
const externalShard = 200

// externalJob is a campaign over the scenarios of one seed, with an external lock behind the gate.
type externalJob struct {
	plan   *Plan
	config gated.Config
	limit  int // maximum number of scenarios
	size   int // number of scenarios in a shard
	given  bool
	sum    *gated.Part
}

func (p *Plan) externalJob(o Options) (Job, error) {
	c, err := p.externalConfig()
	if err != nil {
		return nil, err
	}
	c.Workers, c.Found = 1, o.Found
	c.Starter = &subprocess.Starter{Command: c.Exec, Stderr: o.Stderr}
	c.Scenarios = cmp.Or(p.Budget.Executions, gated.DefaultScenarios)
	j := &externalJob{plan: p, config: c, limit: c.Scenarios, sum: new(gated.Part)}
	j.size = cmp.Or(p.Shard, max(externalShard, j.limit/mostShards+1))
	if err := few(j.limit, j.size); err != nil {
		return nil, err
	}
	if p.Stop.NoNewCoverage > 0 {
		return nil, errors.New("stop: no_new_coverage: what somebody else's clients cover is not told; leave it out")
	}
	return j, nil
}

// externalConfig returns the configuration of the run whose parts are the shards.
func (p *Plan) externalConfig() (c gated.Config, err error) {
	s := p.Sample
	switch {
	case p.Target.Name != "":
		return c, fmt.Errorf("target: name %q beside exec: expected one of them", p.Target.Name)
	case len(s.Options) > 0:
		return c, errors.New("sample: options: a command has its own; have options of the target instead")
	}
	demands, err := property.ParseContract(p.Target.Contract)
	if err != nil {
		return c, fmt.Errorf("target: %w", err)
	}
	c = gated.Config{
		Lock:     gated.Lock{Exec: p.Target.Exec, Options: p.Target.Options, Patience: time.Duration(p.Target.Patience), Demands: demands},
		Sampling: engine.Sampling{Seed: cmp.Or(s.Seed, 1), Depth: s.PCTDepth, Shape: s.shape()}, Judging: engine.Judging{FailedAcquire: s.failedAcquire()},
	}
	if c.Kind, err = lock.KindNamed(cmp.Or(p.Target.Lock, "semaphore")); err != nil {
		return c, fmt.Errorf("target: lock: %w", err)
	}
	if c.Strategies, err = s.strategies(); err != nil {
		return c, err
	}
	applicable := property.ApplicableExternal(c.Kind) | property.Announceable
	if c.Properties, err = properties(s.Properties, applicable); err != nil {
		return c, fmt.Errorf("sample: %w", err)
	}
	if err := c.Shape.Check(c.Kind); err != nil {
		return c, fmt.Errorf("sample: %w", err)
	}
	c.Until, err = p.Stop.until(cmp.Or(c.Properties, applicable))
	return c, err
}

func (j *externalJob) Batch() []Shard {
	if j.given {
		return nil
	}
	j.given = true
	return cut(j.limit, j.size)
}

func (j *externalJob) Work(ctx context.Context, s Shard) (any, error) {
	_, done := subprocess.LeaveProcessors()
	defer done()
	return gated.ProvePart(ctx, j.config, s.From, s.To)
}

func (j *externalJob) Holds(s Shard) error { return s.among(j.limit, j.size) }

func (j *externalJob) Read(s Shard, result []byte) (any, error) {
	part := new(gated.Part)
	return part, guarded(func() error {
		if err := json.Unmarshal(result, part); err != nil {
			return err
		}
		if err := part.Check(j.config, s.From, s.To); err != nil {
			return err
		}
		return j.shows(part)
	})
}

// shows returns an error if a counterexample of the part cannot be written or drawn.
func (j *externalJob) shows(part *gated.Part) error {
	if part.Violated() == 0 {
		return nil
	}
	alone := &externalJob{plan: j.plan, config: j.config, sum: new(gated.Part)}
	alone.sum.Merge(part)
	out := alone.Sofar()
	if out == nil {
		return errors.New("there is no report of it")
	}
	return errors.Join(out.Result.WritePage(io.Discard), report.WriteCard(io.Discard, out.Result.Report, style.Style{}))
}

// News returns false: repeating a shard is not needed, because Confirm repeats each violation.
func (j *externalJob) News(any) bool { return false }

func (j *externalJob) Confirm(ctx context.Context, result any, run bool) (string, error) {
	suspected, err := result.(*gated.Part).Again(ctx, j.config, j.sum, run)
	switch {
	case err != nil || suspected == 0:
		return "", err
	case run:
		return fmt.Sprintf("a worker says that %s is violated; clients that were started here did not show it: it is suspected", strings.Join(suspected.Names(), ", ")), nil
	}
	return fmt.Sprintf("a worker says that %s is violated; the command may not be run here, so it is suspected: see for yourself with --workers 1 or --allow-exec",
		strings.Join(suspected.Names(), ", ")), nil
}

// Differs compares a stored result with the result of repeating the shard. It ignores counts, because clients may do
// things that no schedule decides. The stored result differs if it lacks a violation that fresh clients reproduced
// here.
func (j *externalJob) Differs(result, own any) error {
	if missing := own.(*gated.Part).Reproduced() &^ result.(*gated.Part).Violated(); missing != 0 {
		return fmt.Errorf("it does not say that %s is violated", strings.Join(missing.Names(), ", "))
	}
	return nil
}

func (j *externalJob) Take(_ Shard, result any) { j.sum.Merge(result.(*gated.Part)) }

func (j *externalJob) Enough() string {
	if broken := j.sum.Reproduced() & j.config.Until; broken != 0 {
		return strings.Join(broken.Names(), ", ") + " violated"
	}
	if j.sum.Ended() {
		return "the target's clients ended by themselves too often"
	}
	return ""
}

func (j *externalJob) Progress() Progress {
	return Progress{
		Executions: j.sum.Scenarios(), Of: j.limit, Shards: (j.limit + j.size - 1) / j.size, Unit: executions, Violated: j.sum.Violated().Names(),
	}
}

// Conclude makes the report. It minimises violations with the clients of one worker.
func (j *externalJob) Conclude(ctx context.Context) (*Outcome, error) {
	res, err := gated.Conclude(ctx, j.config, j.sum)
	if err != nil {
		return nil, err
	}
	if r := res.Report; len(r.Uncontrolled) > 0 {
		r.Uncontrolled = append(r.Uncontrolled, mayDiffer)
	}
	return &Outcome{Result: res}, nil
}

// mayDiffer is a line of the report if clients did something that no schedule decides. Otherwise the report is the same
// as that of a single machine.
const mayDiffer = "these counts, and those of what went over the wire, may differ from run to run"

func (j *externalJob) Sofar() *Outcome {
	hasty := *j
	hasty.config.Found = nil
	return sofar(&hasty)
}
