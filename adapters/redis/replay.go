package redis

import (
	"context"
	"errors"
	"fmt"

	model "github.com/lockproof/lockproof/model/redis"
	"github.com/lockproof/lockproof/model/scenario"
)

// Replay carries out the steps of a simulated trace on a real Redis: each client's commands in the recorded order, with
// every reply compared. A client's machine is a function of the replies, of its clock and of its messages. Messages and
// clocks are those of the trace, so equal replies mean the same execution. Several servers are represented by several sets
// of keys on one server, which suffices for commands and results, but not for failures.
//
// [Space.Advance] lets the recorded time pass, without waiting for leases. Restarts are tested separately, since the server
// may have other users.
func (s *Server) Replay(ctx context.Context, t *scenario.Trace) (r *scenario.Replayed, err error) {
	r = &scenario.Replayed{Server: s.Version, Steps: len(t.Steps)}
	if t.Restarts() {
		r.Skipped = "the trace restarts the server"
		return r, nil
	}
	p := replayer{server: s}
	defer func() { err = errors.Join(err, p.sweep(context.WithoutCancel(ctx))) }()
	return r, r.Follow(t, func(_ int, step *scenario.TraceStep) (string, error) {
		if err := p.pass(ctx, step.Time); err != nil {
			return "", err
		}
		return p.take(ctx, t, step)
	})
}

// replayer holds the sets of keys that represent the servers of a trace.
type replayer struct {
	server  *Server
	servers []*Space
	now     int64
}

// on returns the set of keys that represents server n. A new set has no keys, so the time before does
// not have to pass for it.
func (p *replayer) on(n int) *Space {
	for n >= len(p.servers) {
		p.servers = append(p.servers, p.server.Space())
	}
	return p.servers[n]
}

// pass lets virtual time pass on all servers until now.
func (p *replayer) pass(ctx context.Context, now int64) (err error) {
	for _, s := range p.servers {
		err = errors.Join(err, s.Advance(ctx, now-p.now))
	}
	p.now = now
	return err
}

// take sends the command of a step. It returns how the reply differs from the recorded one; "" if it does not.
func (p *replayer) take(ctx context.Context, t *scenario.Trace, step *scenario.TraceStep) (string, error) {
	sent, ok := step.Payload.(model.Sent)
	if !ok || sent.Command.Method == model.NoMethod || sent.Reply.Class == model.None {
		return "", nil
	}
	got, err := p.on(sent.Server).Do(ctx, sent.Command, t.Scenario.Locks[sent.Command.Key.Lock].Name)
	if want := sent.Reply.Words(); err == nil && got.Words() != want {
		return fmt.Sprintf("%s: expected %s, got %s", step.Command, want, got.Words()), nil
	}
	return "", err
}

func (p *replayer) sweep(ctx context.Context) (err error) {
	for _, s := range p.servers {
		err = errors.Join(err, s.Sweep(ctx))
	}
	return err
}
