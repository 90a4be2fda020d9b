package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/sample"
	"github.com/lockproof/lockproof/model/lock"
)

// Mutants says which mutants to test.
type Mutants struct {
	Seed uint64   `json:"seed,omitzero"`  // 0 means 1
	Only []string `json:"only,omitempty"` // names of the mutants; empty means all
}

const mutantShard = 2 * sample.PartUnit // default number of scenarios in a shard, all of one mutant

// mutantsJob is a campaign over mutants. Each mutant runs until its bug is found. The campaign ends when every bug is
// found.
type mutantsJob struct {
	plan    *Plan
	mutants []mutant
	limit   int // maximum number of scenarios of each mutant
	size    int // number of scenarios in a shard
	next    int // number of the next shard
	from    int // first scenario of the next batch of shards
}

type mutant struct {
	sample.Config
	part *sample.Part
}

// dead reports whether the mutant's bug has been found.
func (m *mutant) dead() bool { return m.part.Violated()&m.Until != 0 }

func (p *Plan) mutantsJob(Options) (Job, error) {
	switch {
	case p.Target.Name != "" || p.Target.Exec != "":
		return nil, errors.New("target beside mutants: they are targets themselves; leave it out")
	case len(p.Stop.Violation)+p.Stop.NoNewCoverage > 0:
		return nil, errors.New("stop: mutants are run until all are found out; leave it out")
	}
	j := &mutantsJob{plan: p, limit: cmp.Or(p.Budget.Executions, sample.MutantLimit), size: cmp.Or(p.Shard, mutantShard)}
	if err := few(j.limit, j.size); err != nil {
		return nil, err
	}
	targets := engine.Mutants()
	if len(p.Mutants.Only) > 0 {
		targets = nil
		for _, name := range p.Mutants.Only {
			t, err := engine.TargetNamed(name)
			if err != nil {
				return nil, fmt.Errorf("mutants: %w", err)
			}
			targets = append(targets, t)
		}
	}
	for _, t := range targets {
		if err := j.add(t); err != nil {
			return nil, fmt.Errorf("mutants: %w", err)
		}
	}
	return j, nil
}

func (j *mutantsJob) add(t *lock.Target) error {
	c, err := sample.KillConfig(t, cmp.Or(j.plan.Mutants.Seed, 1), j.limit)
	if err != nil {
		return err
	}
	c.Workers = 1
	j.mutants = append(j.mutants, mutant{c, new(sample.Part)})
	return nil
}

// Batch returns the next shard of each mutant whose bug has not been found yet.
func (j *mutantsJob) Batch() (shards []Shard) {
	if j.from >= j.limit {
		return nil
	}
	for i := range j.mutants {
		if !j.mutants[i].dead() {
			shards = append(shards, Shard{Number: j.next, From: j.from, To: min(j.from+j.size, j.limit), Of: i})
			j.next++
		}
	}
	j.from += j.size
	return shards
}

func (j *mutantsJob) Work(ctx context.Context, s Shard) (any, error) {
	return sample.ProvePart(ctx, j.mutants[s.Of].Config, s.From, s.To)
}

func (j *mutantsJob) Holds(s Shard) error {
	most := len(j.mutants) * ((j.limit-1)/j.size + 1)
	if s.Number < 0 || s.Number >= most || s.Of < 0 || s.Of >= len(j.mutants) || s.From < 0 || s.From >= j.limit || s.From%j.size != 0 || s.To != min(s.From+j.size, j.limit) {
		return fmt.Errorf("shard %d is of %d to %d of mutant %d: there is none such", s.Number, s.From, s.To, s.Of)
	}
	return nil
}

func (j *mutantsJob) Read(s Shard, result []byte) (any, error) {
	part := new(sample.Part)
	return part, guarded(func() error {
		if err := json.Unmarshal(result, part); err != nil {
			return err
		}
		return part.Check(j.mutants[s.Of].Config, s.From, s.To)
	})
}

// News reports whether the result shows a bug. Such a shard is always repeated, because it decides whether the mutant
// is found.
func (j *mutantsJob) News(result any) bool { return result.(*sample.Part).Violated() != 0 }

func (j *mutantsJob) Confirm(context.Context, any, bool) (string, error) { return "", nil }

func (j *mutantsJob) Differs(result, own any) error { return alike(result, own) }

func (j *mutantsJob) Take(s Shard, result any) { j.mutants[s.Of].part.Merge(result.(*sample.Part)) }

func (j *mutantsJob) Enough() string {
	if slices.ContainsFunc(j.mutants, func(m mutant) bool { return !m.dead() }) {
		return ""
	}
	return "all mutants are dead"
}

func (j *mutantsJob) Progress() Progress {
	p := Progress{Unit: executions, Shards: j.next}
	for i := range j.mutants {
		m := &j.mutants[i]
		p.Executions += m.part.Scenarios()
		if m.dead() {
			p.Violated = append(p.Violated, m.Target.Name)
		}
	}
	return p
}

func (j *mutantsJob) Conclude(ctx context.Context) (*Outcome, error) {
	out := &Outcome{Mutants: &MutantsOutcome{Seed: j.mutants[0].Seed, Limit: j.limit}}
	for i := range j.mutants {
		m := &j.mutants[i]
		res, err := sample.Conclude(ctx, sample.Drawn{Config: m.Config, Part: m.part})
		if err != nil {
			return nil, err
		}
		out.Mutants.Killed = append(out.Mutants.Killed, sample.KilledBy(m.Config, res))
	}
	return out, nil
}

// Sofar returns the outcome so far without minimising, which would take long.
func (j *mutantsJob) Sofar() *Outcome { return sofar(j) }
