package queue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/go-json-experiment/json"

	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
	"github.com/lockproof/lockproof/histories/safetext"
)

// Workers store results, and any program with write access to the queue could do so. Therefore the campaign's runner checks
// each result, and repeats some of the shards: one in fifty, and each that is the first to show a violation. It treats
// results that a campaign's folder already had in the same way: the folder may have come with a clone.

// oneIn is the size of the blocks of shards in which one is repeated.
const oneIn = 50

// mostSaid is the maximum number of lines about refusals: a queue may have many invalid messages.
const mostSaid = 20

// refusals reports and counts refused results.
type refusals struct {
	say   func(string) // may be nil
	count int
}

func (r *refusals) refuse(format string, args ...any) {
	r.count++
	switch {
	case r.say == nil:
	case r.count < mostSaid:
		r.say(safetext.OneLine(fmt.Sprintf(format, args...)))
	case r.count == mostSaid:
		r.say("more was refused than is said; the campaign's status has how much")
	}
}

// examine decodes a shard's result and checks whether it is true. If the result is refused, examine returns nil, and the
// shard is queued again.
func (r *run) examine(ctx context.Context, s campaign.Shard, a stored) (any, error) {
	result, err := r.read(ctx, s, a)
	var misfit *misfit
	if errors.As(err, &misfit) {
		return r.giveBack(ctx, s, a, misfit)
	}
	if err != nil || r.config.Server.URL == "" && a.revision > r.resumed { // no other process writes to a queue in this one
		return result, err
	}
	if r.mayRun && (r.doubt || r.chosen(s) || r.job.News(result)) {
		if result, err = r.again(ctx, s, a, result); err != nil {
			return nil, err
		}
	}
	said, err := r.job.Confirm(ctx, result, r.mayRun)
	if said != "" {
		r.refuse("campaign %s: shard %d: %s", r.manifest.Plan.Name, s.Number, said)
	}
	return result, err
}

// misfit is the error for a result that cannot be its shard's.
type misfit struct{ error }

// read decodes and checks a shard's result. The error is a misfit if the result is invalid.
func (r *run) read(ctx context.Context, s campaign.Shard, a stored) (any, error) {
	if a.bad != nil {
		return nil, &misfit{a.bad}
	}
	if a.Of != r.definition(s) {
		return nil, &misfit{errors.New("it is of another plan, build or shard")}
	}
	if a.Object != "" {
		data, err := r.object(ctx, a.Object)
		if err != nil && (ctx.Err() != nil || !definite(err)) {
			return nil, err
		}
		if err != nil {
			return nil, &misfit{err}
		}
		a.Result = data
	}
	result, err := r.job.Read(s, a.Result)
	if err != nil {
		return nil, &misfit{err}
	}
	return result, nil
}

// mostRefused is the maximum number of times that a shard is queued again because its result was refused. After that it is
// carried out here.
const mostRefused = 3

// giveBack deletes a refused result, and queues its shard again. If the shard's results are refused too often, the runner
// carries the shard out itself, if that is allowed.
func (r *run) giveBack(ctx context.Context, s campaign.Shard, a stored, why error) (any, error) {
	if r.refused[s.Number]++; r.refused[s.Number] > mostRefused && r.mayRun {
		r.refuse("campaign %s: the result of shard %d is refused again, and the shard carried out here: %v", r.manifest.Plan.Name, s.Number, why)
		own, data, err := r.own(ctx, s)
		if err != nil {
			return nil, err
		}
		return own, r.replace(ctx, a, s, &answer{Shard: s.Number, Worker: here, Delivered: 1, Result: data})
	}
	r.refuse("campaign %s: the result of shard %d is refused, and the shard given out again: %v", r.manifest.Plan.Name, s.Number, why)
	if err := r.delete(ctx, a); err != nil {
		return nil, err
	}
	return nil, r.persist(ctx, func(ctx context.Context) error { return r.publish(ctx, []campaign.Shard{s}) })
}

// here is the name of the runner as a worker.
const here = "run"

// own carries out a shard in this process, and returns its result, decoded and as stored.
func (r *run) own(ctx context.Context, s campaign.Shard) (result any, data []byte, err error) {
	made, err := r.job.Work(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	if data, err = json.Marshal(made); err != nil {
		return nil, nil, err
	}
	if result, err = r.job.Read(s, data); err != nil {
		return nil, nil, fmt.Errorf("shard %d: what it comes to here is refused as well: %w", s.Number, err)
	}
	return result, data, nil
}

// chosen reports whether a shard is the one of its fifty that is repeated. The choice is unpredictable.
func (r *run) chosen(s campaign.Shard) bool {
	if block := s.Number / oneIn; block != r.block || r.pick < 0 {
		most := min(oneIn, r.end-block*oneIn)
		r.block, r.pick = block, block*oneIn+rand.N(max(1, most))
		r.pick = max(r.pick, s.Number) // other shards of the block were read at other times
	}
	return s.Number == r.pick
}

// again repeats a shard and returns its result. If the stored result differs, it is replaced, and from then on every shard
// is repeated.
func (r *run) again(ctx context.Context, s campaign.Shard, a stored, result any) (any, error) {
	own, data, err := r.own(ctx, s)
	if err != nil {
		return nil, err
	}
	why := r.job.Differs(result, own)
	if why == nil {
		return result, nil
	}
	r.refuse("campaign %s: the result of shard %d by %q is refused: %v; what it comes to here takes its place, and all that follow are carried out again. "+
		"%d were taken in before: if others may write to the queue, delete the campaign and run it again", r.manifest.Plan.Name, s.Number, a.Worker, why, r.next)
	r.doubt = true
	return own, r.replace(ctx, a, s, &answer{Shard: s.Number, Worker: here, Delivered: a.Delivered, Result: data})
}
