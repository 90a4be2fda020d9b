package foreign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/model/lock"
)

// clientHandle is a client by number: whoever plays it now, its address, and its connections.
type clientHandle struct {
	runner  *Runner
	number  int
	address gate.Address
	client  Client
	starts  int // how many clients have played it; clients themselves need not be comparable
	about   About
	cancel  context.CancelFunc // of its calls

	// The gate and its calls change these fields, under the runner's mu.
	connections []*connection
	host        *clientHandle  // at whose address its commands come: its own, unless clients share a connection
	current     *connection    // the connection that it opened last, nil once it knows that it has none
	parked      []gate.Command // in the order in which they came
	calling     bool
	answer      *answer // of the call that is over and was not looked at
	timer       timer
	repose
	wear
}

// repose is what is known of a client that sends nothing.
type repose struct {
	stalled bool      // it waits for a reply that is kept at the gate
	until   time.Time // by its own clock it may wait for the lock until then; zero where it may not wait
	due     bool      // a step has let the time for which it may wait pass
	asleep  bool      // it was waited for in vain, and nothing has come since
	given   bool      // something was sent to it that answers no command, and nothing has come since
	rested  bool      // it carries out nothing, and what it was told last, it has done
	fanned  bool      // it has sent what it had to say to several servers, as far as one could see
	paused  bool
	unasked int // how many of its commands have passed that it has sent though it was neither called nor sent anything
	late    int // what of this run came outside of operations
}

// wear is what has become of a client in scenarios.
type wear struct {
	keeps  baseline // how it stands when it is idle and nothing has happened to it
	most   int      // connections that it has had at once since it last began
	cut    bool     // some were taken from it since
	harmed bool     // its connections were cut or dropped, so that it may fail to close them
	dirty  bool     // something has happened to it that the next scenario must not find
	// restless says that it goes on sending commands by itself though it has given everything back.
	restless bool
}

// baseline is what a client has of the broker while it is idle.
type baseline struct{ connections, parts int }

// answer is what a call came to.
type answer struct {
	result lock.Result
	said   string // by the target, of an error
	token  int64  // that came with what was granted
	err    error
}

// ready sees that the client is there, connected and idle.
// One that ends by itself is replaced, a few times.
func (a *clientHandle) ready(ctx context.Context) (err error) {
	for range startTries {
		if err = a.begin(ctx); !errors.Is(err, ErrDied) {
			return err
		}
		a.runner.fallen = err
		if err := a.kill(); err != nil {
			return err
		}
	}
	return err
}

// startTries is how many clients in a row may end by themselves before they have carried out anything.
const startTries = 3

// begin has a client be there, connected and idle.
func (a *clientHandle) begin(ctx context.Context) error {
	fresh := a.client == nil
	if fresh {
		if err := a.start(ctx); err != nil {
			return err
		}
	}
	if !fresh && a.stale() {
		if err := a.kill(); err != nil {
			return err
		}
		return a.begin(ctx)
	}
	sharing := a.runner.Sharing() // then whose channels are whose is not known
	if !a.dirty && !sharing && a.baseline() == a.keeps {
		return nil
	}
	a.dirty = false
	err := a.reset(ctx, fresh)
	if !fresh && errors.Is(err, errNotReset) {
		if err = a.kill(); err == nil {
			err = a.begin(ctx)
		}
	}
	return err
}

// stale reports whether the client would bring something into the scenarios to come: commands that it sends by itself, or a
// connection that is gone and that a reset does not use. If not, it begins.
func (a *clientHandle) stale() bool {
	a.runner.mu.Lock()
	defer a.runner.mu.Unlock()
	if a.restless || a.cut && a.most > a.keeps.connections {
		return true
	}
	a.cut, a.most = false, a.connected()
	return false
}

// connected is how many connections the client has. mu is held.
func (a *clientHandle) connected() (n int) {
	for _, l := range a.connections {
		if l.opened && !l.cut {
			n++
		}
	}
	return n
}

// start starts the client.
func (a *clientHandle) start(ctx context.Context) error {
	s := a.runner
	began := time.Now()
	defer func() { s.spent.Started, s.spent.Starting = s.spent.Started+1, s.spent.Starting+time.Since(began) }()
	client, err := a.find(ctx)
	if err != nil {
		return err
	}
	urls, err := a.address.URLs()
	if err != nil {
		return err
	}
	s.mu.Lock()
	a.client, a.wear = client, wear{keeps: a.keeps, dirty: true}
	a.starts++
	s.mu.Unlock()
	a.about, err = s.begins(ctx, a, client, Setup{
		Client: ClientName(a.number), Lock: s.config.Kind, URLs: urls, Options: s.config.Options, OurTime: s.ourTime(),
	})
	if t := timeOf(client); t != nil {
		t.Set(s.since)
	}
	s.about = a.about
	return err
}

// find is a client that stands ready, or else a new one.
func (a *clientHandle) find(ctx context.Context) (Client, error) {
	if client := a.adopt(); client != nil {
		return client, nil
	}
	return a.runner.config.Starter.Start(ctx, a.number)
}

// reset has the client acquire a lock that is not in use, so that the client's connection and channels exist. It does so
// again after a fault, which the client may have to see first. It also does so after the close of a channel that the client
// opens when it needs it. Clients that keep no connection are as good as those that have one; what they do the first time,
// they are taken to do always.
func (a *clientHandle) reset(ctx context.Context, first bool) error {
	if !slices.Contains(a.about.Operations, lock.Acquire) {
		return nil
	}
	limit := a.runner.config.Limit // one that takes longer is replaced sooner
	if first {
		limit = a.runner.config.Start
	}
	for range resetTries {
		params := Params{Name: a.runner.warming(a.number)}
		r, err := a.doWithin(ctx, limit, lock.Acquire, params)
		if err == nil && r.Held {
			params.Slot = int(r.Slot)
			_, err = a.doWithin(ctx, limit, lock.Release, params)
		}
		if errors.Is(err, errLasts) && !first { // its driver may wait for what befell it in the scenario before
			return errNotReset
		}
		if err != nil {
			return err
		}
		now := a.baseline()
		if first {
			a.keeps = now
		}
		if now == a.keeps || a.runner.Sharing() && now.connections == a.keeps.connections {
			return nil
		}
	}
	return errNotReset
}

// warming is the name of the lock that a client acquires to be connected.
func (s *Runner) warming(number int) string { return fmt.Sprintf("%swarm.c%d", s.prefix, number) }

// baseline is what the client has of the broker now.
func (a *clientHandle) baseline() (now baseline) {
	a.runner.mu.Lock()
	defer a.runner.mu.Unlock()
	for _, l := range a.connections {
		if l.opened && !l.cut {
			now.connections++
			now.parts += l.conn.Parts()
		}
	}
	return now
}

// resetTries is how often a client may be called before it is back to what it was at first.
const resetTries = 3

// errNotReset is a client that does not recover from what has happened to it, and has to be replaced.
var errNotReset = errors.New("the client does not get back to where it was at first")

// errLasts is an operation outside of a scenario that does not end.
var errLasts = errors.New("is not over")

// do carries out an operation outside of a scenario, while the gate is open.
func (a *clientHandle) do(ctx context.Context, op lock.Op, params Params) (lock.Result, error) {
	return a.doWithin(ctx, a.runner.config.Start, op, params)
}

// doWithin is do with a limit of its own.
func (a *clientHandle) doWithin(ctx context.Context, limit time.Duration, op lock.Op, params Params) (lock.Result, error) {
	s := a.runner
	a.call(op, params)
	over, err := s.flow(ctx, a, limit, func() bool { return !a.calling })
	if err != nil {
		return lock.Result{}, err
	}
	if !over {
		why := "does it wait for something"
		if op == lock.Acquire {
			why = `does it wait until somebody makes or releases the lock (without a "timeout" it has to answer {"held":false} at once)`
		}
		return lock.Result{}, fmt.Errorf("%s %s by client %d, whom nobody disturbs, %w after %v: %s, or is its answer not flushed? `lockproof adapter-check` looks at single calls",
			op, params.Name, a.number, errLasts, limit, why)
	}
	if _, err := s.wait(ctx, s.config.Patience, func() bool { return !a.behind() }); err != nil {
		return lock.Result{}, err
	}
	answer := a.take()
	return answer.result, answer.err
}

// take takes the answer of a call that is over.
func (a *clientHandle) take() *answer {
	a.runner.mu.Lock()
	defer a.runner.mu.Unlock()
	answer := a.answer
	a.answer = nil
	return answer
}

// call begins an operation.
func (a *clientHandle) call(op lock.Op, params Params) {
	s, client, hires := a.runner, a.client, a.starts
	ctx, cancel := context.WithCancel(s.ctx)
	switch {
	case op != lock.Acquire || !s.about.Limits:
		params.Limit = 0
	case params.Limit == 0: // nobody else is there
		params.Limit = 1
	}
	if op == lock.Acquire && s.about.Leases && params.Lease == 0 { // outside of a scenario
		params.Lease = LeaseTime
	}
	if op == lock.Acquire && params.Mode == NoMode && params.Permits == 0 {
		s.about.Share(&params, 0)
	}
	s.mu.Lock()
	a.calling, a.asleep, a.given, a.rested, a.cancel, a.unasked = true, false, false, false, cancel, 0
	a.until, a.due, a.timer = time.Time{}, false, timer{}
	if params.Timeout > 0 && timeOf(client) == nil {
		a.until = time.Now().Add(params.Timeout)
	}
	s.mu.Unlock()
	s.tasks.Go(func() {
		defer cancel()
		r, err := client.Call(ctx, op, params)
		over := answer{r, ExplanationOf(client), TokenOf(client), err}
		s.mu.Lock()
		defer s.mu.Unlock()
		if a.client == nil || a.starts != hires { // it was killed meanwhile, and nobody waits for it any more
			return
		}
		s.wakes(a)
		a.calling, a.answer, a.unasked = false, &over, 0
		s.notify()
	})
}

// kill ends the client as a crash does. Its connections are cut; what the broker gets to know of that is
// the caller's business.
func (a *clientHandle) kill() error {
	client := a.client
	if client == nil {
		return nil
	}
	s := a.runner
	s.mu.Lock()
	a.client, a.calling, a.answer, a.current, a.asleep = nil, false, nil, nil, false
	a.stalled, a.timer = false, timer{}
	a.parked = discard(a.parked, func(gate.Command) bool { return true })
	links := slices.Clone(a.connections)
	for _, l := range links {
		l.cut = true
	}
	s.mu.Unlock()
	for _, l := range links {
		l.conn.Cut()
	}
	err := client.Kill()
	if a.cancel != nil {
		a.cancel()
	}
	return errors.Join(err, client.Close())
}

// discard forgets commands at the gate.
func discard(parked []gate.Command, which func(gate.Command) bool) []gate.Command {
	return slices.DeleteFunc(parked, func(c gate.Command) bool {
		if which(c) {
			c.Discard()
			return true
		}
		return false
	})
}

// discard forgets commands at the gate, whoever has sent them. mu is held.
func (s *Runner) discard(which func(gate.Command) bool) {
	for _, a := range s.everybody() {
		a.parked = discard(a.parked, which)
	}
}

// leave notes that a connection is not the one that its clients work on any more. mu is held.
func (s *Runner) leave(l *connection) {
	for _, a := range s.everybody() {
		if a.current == l {
			a.current = nil
		}
	}
}

// forget lets go of a connection of which both ends are gone. mu is held.
func (a *clientHandle) forget(l *connection) {
	a.runner.leave(l)
	a.runner.discard(func(c gate.Command) bool { return c.Conn() == l.conn })
	delete(a.runner.connections, l.conn)
	a.connections = slices.DeleteFunc(a.connections, func(o *connection) bool { return o == l })
}
