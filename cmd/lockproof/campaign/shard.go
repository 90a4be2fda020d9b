package campaign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/sample"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/property"
)

// Shard is one piece of a campaign's space.
type Shard struct {
	// Number says when its result is taken in: after those of all lower numbers. It counts from 0.
	Number int `json:"number"`
	// From and To are the scenarios or configurations that it is of, counted from 0, without the last.
	From int `json:"from"`
	To   int `json:"to"`
	// Of selects the sort of scenarios if there are several: a mutant, or a narrower space.
	Of int `json:"of,omitzero"`
}

// Key is the key of the shard's result.
func (s Shard) Key() string { return fmt.Sprintf("%09d", s.Number) }

// cut cuts n scenarios or configurations into shards of a size.
func cut(n, size int) (shards []Shard) {
	for from := 0; from < n; from += size {
		shards = append(shards, Shard{Number: len(shards), From: from, To: min(from+size, n)})
	}
	return shards
}

// among says why a shard is none of those that something is cut into.
func (s Shard) among(n, size int) error {
	from := s.Number * size
	if s.Number < 0 || s.Number > (n-1)/size || s.From != from || s.To != min(from+size, n) || s.Of != 0 {
		return fmt.Errorf("shard %d is of %d to %d: there is none such", s.Number, s.From, s.To)
	}
	return nil
}

// guarded turns a panic of do into an error: stored data may have any form.
func guarded(do func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it cannot be taken in: %v", r)
		}
	}()
	return do()
}

// alike says whether two results are the same when they are written.
func alike(a, b any) error {
	one, err := json.Marshal(a)
	if err != nil {
		return err
	}
	two, err := json.Marshal(b)
	if err == nil && !bytes.Equal(one, two) {
		err = errors.New("carried out again, it comes to something else")
	}
	return err
}

// Options are what a worker needs besides the plan.
type Options struct {
	// Stderr gets the standard error of external clients; nil drops it.
	Stderr io.Writer
	// Found is called with each violation, as it was first seen and as it is concluded. It may be nil.
	Found func(*histories.Counterexample)
	// Said is called with a line about each refusal and its consequence. It may be nil.
	Said func(string)
}

// Job is a sort of campaign: how to cut its space into shards, carry one out, and merge their results.
type Job interface {
	// Batch gives the next shards, none where there are no more. It is asked again when all of them were taken in.
	Batch() []Shard
	// Work carries out a shard. The error is for one that could not be carried out.
	Work(ctx context.Context, s Shard) (result any, err error)
	// Holds says why a shard that was found in a queue is none of the campaign's.
	Holds(s Shard) error
	// Read reads a shard's result, and says why it is impossible. A possible result need not be true.
	Read(s Shard, result []byte) (any, error)
	// News reports whether a result that was read violates what no result before it did.
	News(result any) bool
	// Differs says how a stored result differs from that of repeating the shard.
	Differs(result, own any) error
	// Confirm makes a command's clients repeat each new violation of a result, if the command may run here. A
	// violation that they do not show is only suspected from then on, which said reports.
	Confirm(ctx context.Context, result any, run bool) (said string, err error)
	// Take adds a result, in the order of the shards' numbers.
	Take(s Shard, result any)
	// Enough says why the campaign ends before there are no more shards; "" while it does not.
	Enough() string
	// Progress is how far it is.
	Progress() Progress
	// Conclude makes the report. With a ctx that is over, it does so in haste.
	Conclude(ctx context.Context) (*Outcome, error)
	// Sofar is the outcome up to this moment, not minimised; nil if there is none.
	Sofar() *Outcome
}

// Progress is how far a campaign is.
type Progress struct {
	Executions int      `json:"executions"` // or another unit
	Of         int      `json:"of"`         // 0 is not known
	Unit       string   `json:"unit"`       // executions, or configurations
	Shards     int      `json:"shards"`     // the known total
	Violated   []string `json:"violated"`   // properties; or mutants that were found out
}

// Outcome is the result of a campaign: one of these.
type Outcome struct {
	// Result is that of a campaign over scenarios.
	Result *engine.Result
	// Table is that of a campaign over configurations, and Counterexamples are the files of its counterexamples.
	Table           *report.Sweep
	Counterexamples map[property.Property]*histories.Counterexample
	// Mutants is that of a campaign over mutants.
	Mutants *MutantsOutcome
}

// Finish says of a report how long the campaign took, and whether it was interrupted.
func (o *Outcome) Finish(took time.Duration, interrupted bool) {
	if o.Result != nil {
		o.Result.Report.Elapsed = took
		o.Result.Report.Interrupted = interrupted
	}
	if o.Mutants != nil {
		o.Mutants.Interrupted = interrupted
	}
	if o.Table != nil {
		o.Table.Elapsed, o.Table.Interrupted = took, interrupted
	}
}

// MutantsOutcome is the result for mutants; at most Limit scenarios of a seed were run for each.
type MutantsOutcome struct {
	Seed        uint64
	Limit       int
	Killed      []*sample.Killed
	Interrupted bool
}

// Job is the plan's sort of campaign. The error is one in the plan.
func (p *Plan) Job(o Options) (Job, error) {
	spaces := 0
	for _, there := range []bool{p.Sample != nil, p.Mutants != nil, len(p.Configurations) > 0, p.Sweep != nil} {
		if there {
			spaces++
		}
	}
	if spaces != 1 {
		return nil, errors.New("expected one of sample, mutants, configurations and sweep, which says what the space is")
	}
	switch {
	case p.Mutants != nil:
		return p.mutantsJob(o)
	case p.Sample == nil:
		return p.tableJob(o)
	case p.Target.Exec != "":
		return p.externalJob(o)
	}
	return p.sampleJob(o)
}
