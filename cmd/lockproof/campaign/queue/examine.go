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

// Workers store results, but any program with write access to the queue could do so. Therefore the campaign's runner
// checks each result. It also repeats some of the shards: one in fifty, and each shard that is the first to show a
// violation. Results that were in a campaign's folder before are treated in the same way, because the folder may have
// come with a clone.

// oneIn is the number of successive shards of which one is repeated, to check its result.
const oneIn = 50

// mostSaid is the maximum number of lines printed about refused results and messages.
const mostSaid = 20

// refusals prints and counts refused results and messages.
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

// examine decodes a shard's result and checks whether it is true. If it refuses the result, it returns nil and queues
// the shard again.
func (r *run) examine(ctx context.Context, s campaign.Shard, a stored) (any, error) {
	result, err := r.read(ctx, s, a)
	var misfit *misfit
	if errors.As(err, &misfit) {
		return r.giveBack(ctx, s, a, misfit)
	}
	if err != nil || r.config.Server.URL == "" && a.revision > r.resumed { // only this process can have written it
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

// misfit is the error for a result that cannot belong to its shard.
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

// mostRefused is the maximum number of times that a shard is queued again because its result was refused. After that,
// the runner carries the shard out itself.
const mostRefused = 3

// giveBack deletes a refused result, and queues its shard again. If that happens too often, the runner carries the
// shard out itself, if it may.
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

// here is the name under which the runner stores results of its own.
const here = "run"

// own carries out a shard in this process. It returns the result both decoded and in the stored form.
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

// chosen reports whether a shard is the one of its block of fifty that is repeated. The choice is random, so that a
// forger cannot predict it.
func (r *run) chosen(s campaign.Shard) bool {
	if block := s.Number / oneIn; block != r.block || r.pick < 0 {
		most := min(oneIn, r.end-block*oneIn)
		r.block, r.pick = block, block*oneIn+rand.N(max(1, most))
		r.pick = max(r.pick, s.Number) // earlier shards of the block have been read before
	}
	return s.Number == r.pick
}

// again repeats a shard and returns the true result. If the stored result differs, it is replaced, and all later shards
// are repeated.
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
