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

// Results are stored by workers, and by anybody else who may write to the queue. Whoever runs the campaign reads each with
// care, and carries out some of the shards again: one in fifty, and each that violates what none before it did.

// oneIn is of how many shards one is carried out again.
const oneIn = 50

// mostSaid bounds how many lines are said of what is refused: whoever writes nonsense to a queue may write much of it.
const mostSaid = 20

// refusals says what is refused, and counts it.
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

// examine reads a shard's result and tries whether it is true. It is nil, and the shard is given out again, where it is
// refused.
func (r *run) examine(ctx context.Context, s campaign.Shard, a stored) (any, error) {
	result, err := r.read(ctx, s, a)
	var misfit *misfit
	if errors.As(err, &misfit) {
		return r.giveBack(ctx, s, a, misfit)
	}
	if err != nil || r.config.Server.URL == "" { // nobody else writes to a queue in this process
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

// misfit is why a result is not its shard's.
type misfit struct{ error }

// read reads a shard's result, and checks that it is one. The error is a misfit where it is not.
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

// mostRefused is how often a shard is given out again since its result was refused, before it is carried out here.
const mostRefused = 3

// giveBack deletes a result that was refused, and gives the shard out again. Where that was in vain too often, the shard is
// carried out here, if it may be, and what that comes to is the result.
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

// here is the worker of what whoever runs the campaign has carried out.
const here = "run"

// own carries out a shard here, and gives what that comes to, and as it is stored.
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

// chosen reports whether a shard is the one of its fifty that is carried out again. Nobody can tell before.
func (r *run) chosen(s campaign.Shard) bool {
	if block := s.Number / oneIn; block != r.block || r.pick < 0 {
		most := min(oneIn, r.end-block*oneIn)
		r.block, r.pick = block, block*oneIn+rand.N(max(1, most))
		r.pick = max(r.pick, s.Number) // others of the block were taken in at other times
	}
	return s.Number == r.pick
}

// again carries out a shard again, and gives what that comes to. It takes the place of what was stored where that is
// something else; from then on every shard is carried out again.
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
