package campaign

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/lockproof/lockproof"
	"github.com/lockproof/lockproof/histories"
)

// Shard is one piece of a campaign's space.
type Shard struct {
	// Number says when its result is taken in: after those of all lower numbers. It counts from 0.
	Number int `json:"number"`
	// From and To are the scenarios or configurations that it is of, counted from 0, without the last.
	From int `json:"from"`
	To   int `json:"to"`
	// Of is what they are scenarios of where there are several sorts: a mutant, or a narrower space.
	Of int `json:"of,omitzero"`
}

// key is what the shard's result is stored under.
func (s Shard) key() string { return fmt.Sprintf("%09d", s.Number) }

// Options are what a worker needs besides the plan.
type Options struct {
	// Stderr is where the standard error of somebody else's clients is shown; nil shows it nowhere.
	Stderr io.Writer
	// Found is told of each violation, as it was first seen and as it is concluded. It may be nil.
	Found func(*histories.Counterexample)
}

// job is a sort of campaign: how its space is cut into shards, what one comes to, and what all of them come to.
type job interface {
	// batch gives the next shards, none where there are no more. It is asked again when all of them were taken in.
	batch() []Shard
	// work carries out a shard. The error is for one that could not be carried out.
	work(ctx context.Context, s Shard) (result any, err error)
	// take takes in what a shard came to, in the order of their numbers.
	take(s Shard, result []byte) error
	// enough says why the campaign ends before there are no more shards; "" while it does not.
	enough() string
	// progress is how far it is.
	progress() Progress
	// conclude makes the report. With a ctx that is over, it does so in haste.
	conclude(ctx context.Context) (*Outcome, error)
	// sofar is the report at this moment, where there is one to show.
	sofar() *histories.Report
}

// Progress is how far a campaign is.
type Progress struct {
	Executions int      `json:"executions"` // or configurations
	Of         int      `json:"of"`         // 0 is not known
	Shards     int      `json:"shards"`     // in all, as far as is known
	Violated   []string `json:"violated"`   // properties; or mutants that were found out
}

// Outcome is what a campaign came to: one of these.
type Outcome struct {
	Result *lockproof.Result // of scenarios
}

// job is the plan's sort of campaign. The error says what is wrong with the plan.
func (p *Plan) job(o Options) (job, error) {
	if p.Sample == nil {
		return nil, errors.New("sample is missing: it says which scenarios are drawn")
	}
	return p.sampleJob(o)
}
