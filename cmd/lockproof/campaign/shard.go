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

// Shard is a piece of a campaign's space, which one worker carries out.
type Shard struct {
	// Number is the shard's number, from 0. Results are read in the order of the shards' numbers.
	Number int `json:"number"`
	// From and To are the range of the shard's scenarios or configurations, counted from 0. To is not included.
	From int `json:"from"`
	To   int `json:"to"`
	// Of is the number of the mutant, or of the narrower space, to which the scenarios belong. Other campaigns have
	// only 0.
	Of int `json:"of,omitzero"`
}

// Key is the key under which the shard's result is stored.
func (s Shard) Key() string { return fmt.Sprintf("%09d", s.Number) }

// cut divides n scenarios or configurations into shards of the given size.
func cut(n, size int) (shards []Shard) {
	for from := 0; from < n; from += size {
		shards = append(shards, Shard{Number: len(shards), From: from, To: min(from+size, n)})
	}
	return shards
}

// among returns an error if s is not one of the shards that cut(n, size) returns.
func (s Shard) among(n, size int) error {
	from := s.Number * size
	if s.Number < 0 || s.Number > (n-1)/size || s.From != from || s.To != min(from+size, n) || s.Of != 0 {
		return fmt.Errorf("shard %d is of %d to %d: there is none such", s.Number, s.From, s.To)
	}
	return nil
}

// guarded calls do and turns a panic into an error. Stored data may be forged, so that it can cause panics.
func guarded(do func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it cannot be taken in: %v", r)
		}
	}()
	return do()
}

// alike returns an error unless two results are the same when written as JSON.
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

// Options configure a process that runs a campaign or works on it, in addition to the plan.
type Options struct {
	// Stderr receives the standard error of external clients; nil discards it.
	Stderr io.Writer
	// Found is called with each violation when it is first seen, and again when its minimised execution is known. It may
	// be nil.
	Found func(*histories.Counterexample)
	// Said is called with a line of text for each message or result that is refused. It may be nil.
	Said func(string)
}

// Job is a kind of campaign. It divides the space into shards, carries out a shard, and merges the results.
type Job interface {
	// Batch returns the next shards; it returns none when no shards are left. It is called again when all their results
	// have been read.
	Batch() []Shard
	// Work carries out a shard. It returns an error if that failed.
	Work(ctx context.Context, s Shard) (result any, err error)
	// Holds returns an error if a shard from a queue does not belong to the campaign.
	Holds(s Shard) error
	// Read decodes a shard's result. It returns an error if the result is impossible. A possible result may still be
	// false.
	Read(s Shard, result []byte) (any, error)
	// News reports whether a result has a violation that no earlier result has. Then the shard is repeated.
	News(result any) bool
	// Differs compares a stored result with own, the result of repeating the shard. The error says how they differ.
	Differs(result, own any) error
	// Confirm makes an external target's clients repeat each new violation of a result, if run allows that. A violation
	// that they do not reproduce is only suspected from then on, and said reports it.
	Confirm(ctx context.Context, result any, run bool) (said string, err error)
	// Take adds a result to the campaign. It is called in the order of the shards' numbers.
	Take(s Shard, result any)
	// Enough says why the campaign ends before all shards are done; "" if it continues.
	Enough() string
	// Progress tells how far the campaign is.
	Progress() Progress
	// Conclude makes the report. If ctx has ended, it minimises nothing.
	Conclude(ctx context.Context) (*Outcome, error)
	// Sofar returns the outcome so far, not minimised; nil if there is none.
	Sofar() *Outcome
}

// Progress is the progress of a campaign.
type Progress struct {
	Executions int      `json:"executions"` // number of executions, or of configurations
	Of         int      `json:"of"`         // total number of executions; 0 if unknown
	Unit       string   `json:"unit"`       // "executions" or "configurations"
	Shards     int      `json:"shards"`     // total number of shards, as far as known
	Violated   []string `json:"violated"`   // names of violated properties, or of mutants whose bug was found
}

// Outcome is the result of a campaign. Either Result, Table or Mutants is set.
type Outcome struct {
	// Result is the result of a campaign over scenarios.
	Result *engine.Result
	// Table is the result of a campaign over configurations. Counterexamples are its counterexamples, by property.
	Table           *report.Sweep
	Counterexamples map[property.Property]*histories.Counterexample
	// Mutants is the result of a campaign over mutants.
	Mutants *MutantsOutcome
}

// Finish adds to the report how long the campaign took, and whether it was interrupted.
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

// MutantsOutcome is the result of testing mutants. Limit is the maximum number of scenarios for each mutant.
type MutantsOutcome struct {
	Seed        uint64
	Limit       int
	Killed      []*sample.Killed
	Interrupted bool
}

// Job returns the job for the plan's kind of campaign. The error is for an invalid plan.
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
