package consul

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/lockproof/lockproof/model/consul"
	"github.com/lockproof/lockproof/model/scenario"
)

// replayTTL is the TTL of sessions during a replay, in milliseconds. The replay destroys its sessions itself; the TTL
// ends them only if the replay crashes.
const replayTTL = int64(10 * time.Minute / time.Millisecond)

// Replay carries out the steps of a simulated trace on an agent: each client's requests in the recorded order, with every
// reply compared. A session that ends in the trace, by time or because its client died, is destroyed, which frees its keys
// in the same way (FACTS K3); sessions in traces have no lock-delay. A blocking query is omitted while it waits. Restarts
// are tested separately, since the agent may have other users.
func (a *Agent) Replay(ctx context.Context, t *scenario.Trace) (r *scenario.Replayed, err error) {
	r = &scenario.Replayed{Server: a.Version, Steps: len(t.Steps)}
	if t.Restarts() {
		r.Skipped = "the trace restarts the server"
		return r, nil
	}
	for _, l := range t.Scenario.Locks {
		if key := "/service/" + l.Name; path.Clean(key) != key {
			return r, fmt.Errorf("lock %q: expected a name without empty parts, \".\" and \"..\", which lead to other keys of the agent's", l.Name)
		}
	}
	s, err := a.space(ctx)
	if err != nil {
		return r, fmt.Errorf("making keys of the replay's own on the agent at %s: %w", a.url, err)
	}
	p := newReplayer(s)
	defer func() { err = errors.Join(err, p.sweep(context.WithoutCancel(ctx))) }()
	return r, r.Follow(t, func(_ int, step *scenario.TraceStep) (string, error) { return p.take(ctx, step) })
}

// replayer translates between the names in a trace and those at the agent.
type replayer struct {
	*space
	sessions []renamed
	to, from *strings.Replacer // replace the trace's session names by the agent's, and vice versa
	indices  map[uint64]uint64 // the agent's indices, by the trace's indices
}

func newReplayer(s *space) *replayer {
	return &replayer{space: s, indices: make(map[uint64]uint64), to: strings.NewReplacer(), from: strings.NewReplacer()}
}

// renamed is a session: its name in the trace, its ID at the agent, and whether it has been destroyed at the agent.
type renamed struct {
	trace, agent string
	ended        bool
}

// take sends the request of a step. It returns how the reply differs from the recorded one; "" if it does not.
func (p *replayer) take(ctx context.Context, step *scenario.TraceStep) (string, error) {
	sent, ok := step.Payload.(consul.Sent)
	if !ok || sent.Request.Method == consul.NoMethod || sent.Reply.Waits {
		return "", nil
	}
	if err := errors.Join(p.begin(ctx, &sent), p.end(ctx, &sent)); err != nil {
		return "", err
	}
	if err := p.renew(ctx); err != nil {
		return "", err
	}
	request := p.there(&sent.Request)
	if err := p.owns(&request); err != nil {
		return "", err
	}
	p.note(&request)
	got, err := p.agent.Do(ctx, &request)
	if err != nil {
		return "", err
	}
	if sent.Request.Method == consul.CreateSession {
		p.call(sent.Request.Session.ID, request.Session.ID)
	}
	got = p.here(got)
	if got, want := got.Words(request.Method), sent.Reply.Words(request.Method); got != want {
		return fmt.Sprintf("%s: expected %s, got %s", step.Command, want, got), nil
	}
	return "", p.learn(ctx, &sent)
}

// owns returns an error if a request would change a key or a session that the replay has not created.
func (p *replayer) owns(r *consul.Request) error {
	switch r.Method {
	case consul.RenewSession, consul.DestroySession:
		if !slices.ContainsFunc(p.sessions, func(s renamed) bool { return s.agent == r.Session.ID }) {
			return fmt.Errorf("session %q is not the replay's", r.Session.ID)
		}
	case consul.Put, consul.Delete, consul.Get:
		if !strings.HasPrefix(r.Key, p.mark) {
			return fmt.Errorf("key %q is not the replay's", r.Key)
		}
	}
	return nil
}

// begin creates at the agent the sessions that exist before the trace's first request.
func (p *replayer) begin(ctx context.Context, sent *consul.Sent) error {
	for _, s := range sent.Alive {
		known := slices.ContainsFunc(p.sessions, func(o renamed) bool { return o.trace == s.ID })
		if known || sent.Request.Method == consul.CreateSession && sent.Request.Session.ID == s.ID {
			continue
		}
		r := consul.Request{Method: consul.CreateSession, Session: consul.Session{Deletes: s.Deletes, TTL: replayTTL}}
		if _, err := p.agent.Do(ctx, &r); err != nil {
			return err
		}
		p.call(s.ID, r.Session.ID)
	}
	return nil
}

// call records the agent's ID for a session of the trace. The trace reuses the names of ended sessions. A name may be
// a prefix of another one, so longer names are replaced first.
func (p *replayer) call(trace, agent string) {
	p.sessions = slices.DeleteFunc(p.sessions, func(s renamed) bool { return s.trace == trace })
	p.sessions = append(p.sessions, renamed{trace: trace, agent: agent})
	slices.SortStableFunc(p.sessions, func(a, b renamed) int { return len(b.trace) - len(a.trace) })
	var to, from []string
	for _, s := range p.sessions {
		to, from = append(to, s.trace, s.agent), append(from, s.agent, s.trace)
	}
	p.to, p.from = strings.NewReplacer(to...), strings.NewReplacer(from...)
}

// end destroys at the agent the sessions that have ended in the trace before the request sent. It does not destroy
// the session that this request itself destroys. If the request creates a session, an earlier one of the same name
// has ended.
func (p *replayer) end(ctx context.Context, sent *consul.Sent) error {
	about, method := sent.Request.Session.ID, sent.Request.Method
	for i, s := range p.sessions {
		alive := slices.ContainsFunc(sent.Alive, func(o consul.Session) bool { return o.ID == s.trace })
		if method == consul.CreateSession && about == s.trace {
			alive = false
		}
		if s.ended || alive || method == consul.DestroySession && about == s.trace {
			continue
		}
		if _, err := p.agent.Do(ctx, &consul.Request{Method: consul.DestroySession, Session: consul.Session{ID: s.agent}}); err != nil {
			return err
		}
		p.sessions[i].ended = true
	}
	return nil
}

// there returns a request with the trace's names replaced by the agent's.
func (p *replayer) there(r *consul.Request) consul.Request {
	out := *r
	out.Index = p.indices[r.Index]
	if out.Key != "" {
		out.Key = p.mark + p.to.Replace(out.Key)
	}
	for _, text := range []*string{&out.Value, &out.Acquire, &out.Release, &out.Session.ID} {
		*text = p.to.Replace(*text)
	}
	out.Session.TTL = replayTTL
	return out
}

// here returns a reply with the agent's names replaced by the trace's.
func (p *replayer) here(r consul.Reply) consul.Reply {
	for i := range r.Entries {
		e := &r.Entries[i]
		e.Key = strings.TrimPrefix(e.Key, p.mark)
		for _, text := range []*string{&e.Key, &e.Value, &e.Session} {
			*text = p.from.Replace(*text)
		}
	}
	slices.SortFunc(r.Entries, func(a, b consul.Entry) int { return strings.Compare(a.Key, b.Key) })
	return r
}

// learn asks the agent for the index of a key that was just written, and records it.
func (p *replayer) learn(ctx context.Context, sent *consul.Sent) error {
	if sent.Request.Method != consul.Put || sent.Modified == 0 {
		return nil
	}
	read := p.there(&consul.Request{Method: consul.Get, Key: sent.Request.Key})
	reply, err := p.agent.Do(ctx, &read)
	if err == nil && len(reply.Entries) == 1 {
		p.indices[sent.Modified] = reply.Entries[0].Modified
	}
	return err
}

// sweep deletes everything that the replay has created.
func (p *replayer) sweep(ctx context.Context) error {
	return errors.Join(p.end(ctx, new(consul.Sent)), p.space.end())
}
