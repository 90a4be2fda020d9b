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

// clientHandle is the place of one client number: the current client, its address, and its connections.
type clientHandle struct {
	runner  *Runner
	number  int
	address gate.Address
	client  Client
	starts  int // number of clients started for this handle; clients themselves need not be comparable
	about   About
	cancel  context.CancelFunc // of the context of the client's calls

	// The goroutines of the gate and of calls change these fields, under the runner's mu.
	connections []*connection
	host        *clientHandle  // the handle whose address its commands arrive at: itself, unless clients share a connection
	current     *connection    // the connection that it opened last, nil once it knows that it has none
	parked      []gate.Command // commands at the gate, in order of arrival
	calling     bool
	answer      *answer // of a completed call that was not yet looked at
	timer       timer
	repose
	wear
}

// repose describes why a client sends nothing.
type repose struct {
	stalled bool      // it waits for a reply that is kept at the gate
	until   time.Time // the latest time, by its own clock, until which it may wait for the lock; zero if it may not wait
	due     bool      // a step has let its waiting time pass
	asleep  bool      // a wait for it ended without result, and nothing has arrived from it since
	given   bool      // a message that answers no command was sent to it, and nothing has arrived from it since
	rested  bool      // it is idle, and has done everything that the last message asked for
	fanned  bool      // it has sent its commands to several servers, as far as can be seen
	paused  bool
	unasked int // commands that passed although it was neither called nor sent anything
	late    int // commands in this run that arrived outside of operations
}

// wear is what scenarios have done to a client.
type wear struct {
	keeps  baseline // its state when it is idle and nothing has happened to it
	most   int      // maximum number of simultaneous connections since it last began
	cut    bool     // connections were cut since
	harmed bool     // connections were cut or dropped, so that it may fail to close them
	dirty  bool     // something has happened to it that the next scenario must not see
	// restless says that it keeps sending commands by itself although it has released everything.
	restless bool
}

// baseline is the number of connections, and of their parts, that an idle client has on the broker.
type baseline struct{ connections, parts int }

// answer is the result of a call.
type answer struct {
	result lock.Result
	said   string // error text of the target
	token  int64  // token that came with the grant
	err    error
}

// ready ensures that the client is running, connected and idle. A client that ends by itself is replaced, up to startTries
// times in a row.
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

// startTries is the maximum number of successive clients that end by themselves before they have carried out anything.
const startTries = 3

// begin makes the client run, connected and idle.
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
	sharing := a.runner.Sharing() // with a shared connection it is unknown which client owns a channel
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

// stale reports whether the client would carry something over into later scenarios: commands that it sends by itself, or a
// lost connection that a reset does not use. Otherwise stale starts a new measurement of the client's state.
func (a *clientHandle) stale() bool {
	a.runner.mu.Lock()
	defer a.runner.mu.Unlock()
	if a.restless || a.cut && a.most > a.keeps.connections {
		return true
	}
	a.cut, a.most = false, a.connected()
	return false
}

// connected is the number of connections of the client. mu is held.
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

// find is a prepared client, or else a new one.
func (a *clientHandle) find(ctx context.Context) (Client, error) {
	if client := a.adopt(); client != nil {
		return client, nil
	}
	return a.runner.config.Starter.Start(ctx, a.number)
}

// reset makes the client acquire an unused lock, so that its connection and channels exist. It does this again after a
// fault, which the client may have to notice first, and after the close of a channel that the client opens on demand. A
// client that keeps no connection is accepted too; what it does in its first reset, it is assumed to do in each.
func (a *clientHandle) reset(ctx context.Context, first bool) error {
	if !slices.Contains(a.about.Operations, lock.Acquire) {
		return nil
	}
	limit := a.runner.config.Limit // a client that takes longer is replaced sooner
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
		if errors.Is(err, errLasts) && !first { // its driver may still wait for a fault of the scenario before
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

// warming is the name of the lock that client number acquires in order to be connected.
func (s *Runner) warming(number int) string { return fmt.Sprintf("%swarm.c%d", s.prefix, number) }

// baseline is the number of connections, and of their parts, that the client has on the broker now.
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

// resetTries is the maximum number of calls in which a client must return to its initial state.
const resetTries = 3

// errNotReset is the error of a client that does not recover from a fault and has to be replaced.
var errNotReset = errors.New("the client does not get back to where it was at first")

// errLasts is the error of an operation outside of a scenario that does not end.
var errLasts = errors.New("is not over")

// do carries out an operation outside of a scenario, while the gate is open.
func (a *clientHandle) do(ctx context.Context, op lock.Op, params Params) (lock.Result, error) {
	return a.doWithin(ctx, a.runner.config.Start, op, params)
}

// doWithin is do with the given limit.
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

// take returns the answer of a completed call and forgets it.
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
	case params.Limit == 0: // no other client is running
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
		if a.client == nil || a.starts != hires { // it was killed meanwhile, and its answer is no longer awaited
			return
		}
		s.wakes(a)
		a.calling, a.answer, a.unasked = false, &over, 0
		s.notify()
	})
}

// kill ends the client as a crash does, and cuts its connections. The caller decides what the broker learns of that.
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

// discard returns parked without the commands that which selects.
func discard(parked []gate.Command, which func(gate.Command) bool) []gate.Command {
	return slices.DeleteFunc(parked, func(c gate.Command) bool {
		if which(c) {
			c.Discard()
			return true
		}
		return false
	})
}

// discard removes the commands that which selects from the gate, whatever client sent them. mu is held.
func (s *Runner) discard(which func(gate.Command) bool) {
	for _, a := range s.everybody() {
		a.parked = discard(a.parked, which)
	}
}

// leave notes that clients no longer work on connection l. mu is held.
func (s *Runner) leave(l *connection) {
	for _, a := range s.everybody() {
		if a.current == l {
			a.current = nil
		}
	}
}

// forget removes connection l, whose ends are both closed. mu is held.
func (a *clientHandle) forget(l *connection) {
	a.runner.leave(l)
	a.runner.discard(func(c gate.Command) bool { return c.Conn() == l.conn })
	delete(a.runner.connections, l.conn)
	a.connections = slices.DeleteFunc(a.connections, func(o *connection) bool { return o == l })
}
