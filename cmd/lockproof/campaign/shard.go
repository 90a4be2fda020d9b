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
	// Number is the shard's number, from 0. Results are read in the order of numbers.
	Number int `json:"number"`
	// From and To are the range of the shard's scenarios or configurations, counted from 0; To is not included.
	From int `json:"from"`
	To   int `json:"to"`
	// Of selects the sort of scenarios if there are several: a mutant, or a narrower space.
	Of int `json:"of,omitzero"`
}

// Key is the key of the shard's result.
func (s Shard) Key() string { return fmt.Sprintf("%09d", s.Number) }

// cut divides n scenarios or configurations into shards.
func cut(n, size int) (shards []Shard) {
	for from := 0; from < n; from += size {
		shards = append(shards, Shard{Number: len(shards), From: from, To: min(from+size, n)})
	}
	return shards
}

// among returns an error if s is not one of the shards into which cut divides n.
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

// alike returns an error if two results differ in their written form.
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

// Options configure a worker in addition to the plan.
type Options struct {
	// Stderr receives the standard error of external clients; nil drops it.
	Stderr io.Writer
	// Found is called with each violation when it is first seen and when it is concluded. It may be nil.
	Found func(*histories.Counterexample)
	// Said is called with a line about each refusal and its consequence. It may be nil.
	Said func(string)
}

// Job is a sort of campaign: how to divide its space into shards, carry out a shard, and merge the results.
type Job interface {
	// Batch returns the next shards, none if no shards are left. It is called again when the results of all of them were
	// read.
	Batch() []Shard
	// Work carries out a shard. The error is for a shard that could not be carried out.
	Work(ctx context.Context, s Shard) (result any, err error)
	// Holds returns an error if a shard that was found in a queue does not belong to the campaign.
	Holds(s Shard) error
	// Read decodes a shard's result, and returns an error if it is impossible. A possible result need not be true.
	Read(s Shard, result []byte) (any, error)
	// News reports whether a result has a violation that no earlier result has.
	News(result any) bool
	// Differs returns an error that says how a stored result differs from that of repeating the shard.
	Differs(result, own any) error
	// Confirm makes a command's clients repeat each new violation of a result, if run allows that. A violation that they do
	// not reproduce is from then on a suspicion, which said reports.
	Confirm(ctx context.Context, result any, run bool) (said string, err error)
	// Take adds a result, in the order of the shards' numbers.
	Take(s Shard, result any)
	// Enough is the reason why the campaign ends before all shards are done; "" if it continues.
	Enough() string
	// Progress is the progress of the campaign.
	Progress() Progress
	// Conclude makes the report. If ctx has ended, it does so without minimising at length.
	Conclude(ctx context.Context) (*Outcome, error)
	// Sofar is the outcome so far, not minimised; nil if there is none.
	Sofar() *Outcome
}

// Progress is the progress of a campaign.
type Progress struct {
	Executions int      `json:"executions"` // number of executions, or of other units
	Of         int      `json:"of"`         // total; 0 is unknown
	Unit       string   `json:"unit"`       // executions, or configurations
	Shards     int      `json:"shards"`     // total, as far as known
	Violated   []string `json:"violated"`   // properties, or mutants whose bug was found
}

// Outcome is the result of a campaign: one of the fields is set.
type Outcome struct {
	// Result is the result of a campaign over scenarios.
	Result *engine.Result
	// Table is the result of a campaign over configurations. Counterexamples are the files of its counterexamples.
	Table           *report.Sweep
	Counterexamples map[property.Property]*histories.Counterexample
	// Mutants is the result of a campaign over mutants.
	Mutants *MutantsOutcome
}

// Finish adds to a report how long the campaign took, and whether it was interrupted.
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

// Job is the job for the plan's sort of campaign. The error is for an invalid plan.
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
