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

// clientHandle stands for one client number. It has the current client of that number, its address and its connections.
// A client that is killed is replaced by another in the same handle.
type clientHandle struct {
	runner  *Runner
	number  int
	address gate.Address
	client  Client
	starts  int // number of clients started for this handle, which tells clients apart
	about   About
	cancel  context.CancelFunc // ends the context of the client's calls

	// The runner's mu guards these fields, as goroutines of the gate and of calls change them.
	connections []*connection
	host        *clientHandle  // handle at whose address its commands arrive: itself, unless clients share a connection
	current     *connection    // the connection that the client opened last; nil if the client knows that it has none
	parked      []gate.Command // commands at the gate, in order of arrival
	calling     bool
	answer      *answer // result of a completed call that was not handled yet
	timer       timer
	repose
	wear
}

// repose describes why a client sends nothing at the moment.
type repose struct {
	stalled bool      // the client waits for a reply that is held back at the gate
	until   time.Time // latest time, by the client's clock, until which it waits for the lock; zero if it does not wait
	due     bool      // a step has let the client's waiting time end
	asleep  bool      // the runner has stopped waiting for the client, and nothing has arrived from it since
	given   bool      // an unasked message was sent to the client, and nothing has arrived from it since
	rested  bool      // the client is idle, and has handled the last message that it received
	fanned  bool      // in a call: the schedule has gone on as if no further command of the client would come
	paused  bool
	unasked int // number of its commands that passed between operations since it last received something
	late    int // number of its commands in this run that arrived between operations
}

// wear is what earlier scenarios have done to a client, so that it may have to be reset or replaced.
type wear struct {
	keeps  baseline // the client's connections when it is idle and undisturbed
	most   int      // maximum number of its simultaneous connections since the last check
	cut    bool     // connections were cut since the last check
	harmed bool     // connections were cut or dropped, so that an error when the client closes is ignored
	dirty  bool     // the client must be reset before the next scenario
	// restless says that the client keeps sending commands by itself although it has released everything.
	restless bool
}

// baseline is the number of connections and of their parts, such as AMQP channels, that an idle client has on the
// broker.
type baseline struct{ connections, parts int }

// answer is the result of a call, as the client returned it.
type answer struct {
	result lock.Result
	said   string // error text of the target; "" if there is none
	token  int64  // fencing token of the grant; 0 if there is none
	err    error
}

// ready ensures that the client is running, connected and idle. If the client ends by itself, it is replaced, up to
// startTries times in a row.
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

// startTries is the maximum number of clients in a row that may end by themselves at the start.
const startTries = 3

// begin starts the client if necessary, and ensures that it is connected and idle.
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
	sharing := a.runner.Sharing() // then it is unknown which client owns a channel
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

// stale reports whether the client must be replaced: it sends commands by itself, or it has lost a connection that a
// reset would not renew. Otherwise stale starts a new count of the client's connections.
func (a *clientHandle) stale() bool {
	a.runner.mu.Lock()
	defer a.runner.mu.Unlock()
	if a.restless || a.cut && a.most > a.keeps.connections {
		return true
	}
	a.cut, a.most = false, a.connected()
	return false
}

// connected is the number of the client's open connections. The caller must hold mu.
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

// find is a prepared client, if there is one, else a newly started one.
func (a *clientHandle) find(ctx context.Context) (Client, error) {
	if client := a.adopt(); client != nil {
		return client, nil
	}
	return a.runner.config.Starter.Start(ctx, a.number)
}

// reset makes the client acquire and release an unused lock, so that its connections and channels exist. first says
// that the client is new: reset then records in a.keeps how many connections and channels it has afterwards, which may
// be none. Later resets repeat the acquire until the client has as many again. It may first have to notice a fault, or
// may open channels on demand.
func (a *clientHandle) reset(ctx context.Context, first bool) error {
	if !slices.Contains(a.about.Operations, lock.Acquire) {
		return nil
	}
	limit := a.runner.config.Limit // if it takes longer, replacing the client is faster
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
		if errors.Is(err, errLasts) && !first { // the driver may still wait because of an earlier fault
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

// warming is the name of the lock that the client with the given number acquires in a reset.
func (s *Runner) warming(number int) string { return fmt.Sprintf("%swarm.c%d", s.prefix, number) }

// baseline counts the client's current connections on the broker and their parts.
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

// resetTries is the maximum number of acquires in which a reset must restore the client's connections.
const resetTries = 3

// errNotReset is the error for a client that does not recover from a fault, so that it has to be replaced.
var errNotReset = errors.New("the client does not get back to where it was at first")

// errLasts is the error for an operation outside of a scenario that does not end in time.
var errLasts = errors.New("is not over")

// do carries out an operation outside of a scenario. The gate must be open.
func (a *clientHandle) do(ctx context.Context, op lock.Op, params Params) (lock.Result, error) {
	return a.doWithin(ctx, a.runner.config.Start, op, params)
}

// doWithin is do with a given time limit.
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

// take returns and forgets the result of a completed call; nil if there is none.
func (a *clientHandle) take() *answer {
	a.runner.mu.Lock()
	defer a.runner.mu.Unlock()
	answer := a.answer
	a.answer = nil
	return answer
}

// call begins an operation in a new goroutine. Its result is stored in a.answer.
func (a *clientHandle) call(op lock.Op, params Params) {
	s, client, hires := a.runner, a.client, a.starts
	ctx, cancel := context.WithCancel(s.ctx)
	switch {
	case op != lock.Acquire || !s.about.Limits:
		params.Limit = 0
	case params.Limit == 0: // the operation is not part of a scenario
		params.Limit = 1
	}
	if op == lock.Acquire && s.about.Leases && params.Lease == 0 { // the operation is not part of a scenario
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
		if a.client == nil || a.starts != hires { // the client was killed meanwhile, so the result is dropped
			return
		}
		s.wakes(a)
		a.calling, a.answer, a.unasked = false, &over, 0
		s.notify()
	})
}

// kill ends the client as a crash does, and cuts its connections. The caller decides when the broker notices.
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

// discard drops the commands in parked that satisfy which, and returns the others.
func discard(parked []gate.Command, which func(gate.Command) bool) []gate.Command {
	return slices.DeleteFunc(parked, func(c gate.Command) bool {
		if which(c) {
			c.Discard()
			return true
		}
		return false
	})
}

// discard drops the commands of all clients at the gate that satisfy which. The caller must hold mu.
func (s *Runner) discard(which func(gate.Command) bool) {
	for _, a := range s.everybody() {
		a.parked = discard(a.parked, which)
	}
}

// leave records that clients no longer use connection l. The caller must hold mu.
func (s *Runner) leave(l *connection) {
	for _, a := range s.everybody() {
		if a.current == l {
			a.current = nil
		}
	}
}

// forget removes connection l, which both client and server have closed. The caller must hold mu.
func (a *clientHandle) forget(l *connection) {
	a.runner.leave(l)
	a.runner.discard(func(c gate.Command) bool { return c.Conn() == l.conn })
	delete(a.runner.connections, l.conn)
	a.connections = slices.DeleteFunc(a.connections, func(o *connection) bool { return o == l })
}
