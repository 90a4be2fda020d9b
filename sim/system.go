package sim

import (
	"math/bits"
	"slices"

	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/codec"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/own"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// System is the simulation as a transition system, for searches. A state is an image in parts, and an action leads to
// the next state. Scenarios run in the same simulation. A System is not safe for concurrent use; several Systems may
// use one [Bounds].
type System struct {
	world  World
	bounds Bounds
	start  scenario.Scenario
	left   FaultBounds // numbers of faults that may still happen
	view   []byte
	own    *own.Watch // custom properties; nil if there are none
	kept   keptState
}

// Outcome is the result of an action, without the next state.
type Outcome struct {
	Found     property.Set     // properties that the action violated
	Exercised property.Set     // properties that the action tested
	Exchange  backend.Exchange // Method is 0 if the action sent nothing
	Op        lock.Op          // the operation to which the action belonged
	Completed bool             // the operation ended
	Result    lock.Result      // the operation's result, if Completed
	// Visible says that other clients may notice the action, by the broker's state of the locks or because of the
	// acting client's belief.
	Visible bool
	// Timed says that something will expire, so that time matters from now on. The options do not always show this in
	// advance, since a variant of the lock may cause it.
	Timed bool
	// Effect says how the action changes what the monitor knows about other clients. Actions with equal effects change
	// equal clients equally.
	Effect Effect
}

// Effect describes what other clients can notice of an action.
type Effect struct {
	Before, After monitor.Visible
	Op            lock.Op
	Method        uint8
	Answer        uint8
	Key           uint16
	Restarted     bool                        // the servers restarted, so that all sessions ended
	Reached       bool                        // see [Reaching]
	Passed        [lock.MaxLocks]monitor.Seen // the locks' states during and after the action
}

// Kept returns the part of e that changes what the monitor keeps of other clients, for the properties in keep. Effects
// of which the same part is kept change equal clients equally.
func (e Effect) Kept(keep property.Set) (kept Effect) {
	if e.Restarted && !monitor.Memoryless(keep) {
		return e
	}
	kept.Restarted, kept.Reached = e.Restarted, e.Reached
	if e.Reached {
		kept.Method, kept.Answer, kept.Key = e.Method, e.Answer, e.Key
	}
	for l := range e.Passed {
		kept.Passed[l] = e.Passed[l].Kept(keep)
	}
	kept.Before.Witnessed, kept.After.Witnessed = e.Before.Witnessed, e.After.Witnessed
	kept.Before.WitnessedStrong, kept.After.WitnessedStrong = e.Before.WitnessedStrong, e.After.WitnessedStrong
	return kept
}

// NewSystem returns the transition system for bounds that have passed Check.
func NewSystem(b Bounds) *System {
	s := &System{bounds: b, start: b.Scenario()}
	s.world.record.silent = true
	if len(b.Own) > 0 {
		s.own = &own.Watch{List: b.Own}
	}
	s.Reset()
	return s
}

// Reset returns to the initial state.
func (s *System) Reset() {
	s.world.reset(s.bounds.Target, &s.start)
	s.world.forever = s.bounds.Forever
	for _, a := range s.bounds.Before {
		s.world.Do(a)
	}
	s.left = s.bounds.Faults
	for _, n := range s.left.numbers() {
		if *n == AnyNumber {
			*n = 1 // without a bound, always one more fault may happen
		}
	}
	s.limitClocks()
	s.normalise()
}

// limitClocks limits how far clocks can still be set back, according to the number of clock faults left.
func (s *System) limitClocks() {
	s.world.clocks.back = int64(s.left.Clocks) * int64(s.world.clocked.SkewMillis)
}

// Clients returns the number of clients. An image has one part for each, and the shared part.
func (s *System) Clients() int { return len(s.world.clients) }

// Load sets the system to the state that an image encodes.
func (s *System) Load(shared []byte, clients [][]byte) {
	c := s.world.reader(shared)
	s.codeBudget(c)
	s.limitClocks()
	s.world.load(c.Bytes(), clients)
}

// Shared appends the encoded shared part of the current state to buf.
func (s *System) Shared(buf []byte) []byte {
	c := s.world.writer(buf)
	s.codeBudget(c)
	s.world.codeShared(c)
	return c.Bytes()
}

// Client appends the encoded part of client n to buf.
func (s *System) Client(n int, buf []byte) []byte {
	c := s.world.writer(buf)
	s.world.codeClient(c, uint8(n))
	return c.Bytes()
}

func (s *System) codeBudget(c *codec.Coder) {
	numbers := s.left.numbers()
	left := numbers[:]
	if !s.world.clocked.any() {
		left = left[:len(left)-1] // the number of clock faults comes last
	}
	for _, n := range left {
		codec.Number(c, n)
	}
}

// View appends what other clients can see of client n: its queues, its belief, and whether it administers.
func (s *System) View(n int, buf []byte) []byte {
	w := &s.world
	cl := &w.clients[n-1]
	c := w.writer(buf)
	w.Monitor.CodeView(c, uint8(n), s.bounds.Properties)
	if cl.conn != 0 && !w.cluster.Shared() {
		w.cluster.CodeOwned(c, cl.conn)
	}
	for i := range w.halfOpen {
		if g := &w.halfOpen[i]; g.client == uint8(n) {
			halfOpen := true
			codec.Bool(c, &halfOpen)
			w.cluster.CodeOwned(c, g.conn)
		}
	}
	return c.Bytes()
}

// Independent reports whether a client's action depends on other clients only through their views, and changes only the
// monitor's data in their parts. It returns false if time passes or if clients share a connection.
func (s *System) Independent() bool {
	w := &s.world
	return !w.leases && !w.clocked.any() && w.cluster.Independent()
}

// Memoryless reports whether an action changes other clients' parts only by their queues, and not by what the monitor
// stores about them.
func (s *System) Memoryless() bool { return monitor.Memoryless(s.bounds.Properties) }

// Actions appends the possible actions of client n, including its faults; client 0 is the broker. It omits a fault that
// is equivalent to another action followed by a fault, unless [Bounds.Every] is set. For example, a crash after a reply
// is equivalent to a crash before the next command.
func (s *System) Actions(n int, buf []scenario.Action) []scenario.Action {
	if n == 0 {
		return s.global(buf)
	}
	w, c := &s.world, uint8(n)
	if w.clients[n-1].dead {
		return s.detection(c, buf)
	}
	if w.operating(c) {
		ways := w.Ways(c)
		for i := range ways {
			buf = append(buf, scenario.Action{Kind: scenario.Choose, Client: c, Arg: uint32(i)})
		}
		if ways == 0 {
			buf = append(buf, scenario.Action{Kind: scenario.Step, Client: c})
			buf = s.interruptions(c, buf)
		}
	}
	for links := w.Links(c) &^ 1; links != 0; links &= links - 1 {
		buf = append(buf, scenario.Action{Kind: scenario.Step, Client: c, Arg: uint32(bits.TrailingZeros8(links))})
	}
	return s.detection(c, s.mishaps(c, buf))
}

// interruptions appends the faults that can hit a client in the middle of its next command.
func (s *System) interruptions(c uint8, buf []scenario.Action) []scenario.Action {
	if s.left.Crashes > 0 && !s.left.CleanCrashes {
		buf = s.crash(buf, scenario.CrashEffect, c)
	}
	if s.left.Crashes > 0 && s.bounds.Every {
		buf = s.crash(buf, scenario.CrashReply, c)
	}
	if s.left.Lost > 0 {
		buf = append(buf, scenario.Action{Kind: scenario.Lose, Client: c})
		if s.left.Late {
			buf = append(buf, scenario.Action{Kind: scenario.Lose, Client: c, Late: true})
		}
	}
	return buf
}

// mishaps appends the faults that can hit a client between two commands. A client that has finished and owns nothing
// has none, since they would make no difference.
func (s *System) mishaps(c uint8, buf []scenario.Action) []scenario.Action {
	cl := &s.world.clients[c-1]
	if !s.world.unfinished(c) && !s.world.owns(c) {
		return buf
	}
	if s.left.Crashes > 0 {
		buf = s.crash(buf, scenario.CrashBefore, c)
	}
	if s.left.Drops > 0 && cl.conn != 0 {
		buf = append(buf, scenario.Action{Kind: scenario.Drop, Client: c})
	}
	if s.left.ChannelErrors > 0 && cl.conn != 0 {
		buf = append(buf, scenario.Action{Kind: scenario.ChannelError, Client: c})
	}
	if s.left.Clocks > 0 {
		buf = s.disturbed(buf, c)
	}
	return buf
}

// disturbed appends the possible faults of client c's clock.
func (s *System) disturbed(buf []scenario.Action, c uint8) []scenario.Action {
	f := &s.world.clocked
	for kind := scenario.ClockAhead; kind <= scenario.ClockSlow; kind++ {
		if by := f.most(kind); by > 0 {
			buf = append(buf, scenario.Action{Kind: kind, Client: c, Arg: uint32(by)})
		}
	}
	return buf
}

// crash appends client c's crash, of the kind how.
func (s *System) crash(buf []scenario.Action, how scenario.ActionKind, c uint8) []scenario.Action {
	if s.left.Late && s.bounds.Every {
		buf = append(buf, scenario.Action{Kind: how, Client: c})
	}
	return append(buf, scenario.Action{Kind: how, Client: c, Late: s.left.Late})
}

func (s *System) detection(c uint8, buf []scenario.Action) []scenario.Action {
	for i := range s.world.halfOpen {
		if s.world.halfOpen[i].client == c {
			return append(buf, scenario.Action{Kind: scenario.Detect, Client: c})
		}
	}
	return buf
}

// global appends the actions that belong to no client: a restart of the server, and the passing of time. Time either
// passes up to the next moment at which something happens, or to two milliseconds before it and then in single
// milliseconds. A command can thus come just before, at, and just after this moment. [World.Do] adds the last
// millisecond, as for every action.
func (s *System) global(buf []scenario.Action) []scenario.Action {
	if s.left.Restarts > 0 {
		buf = append(buf, scenario.Action{Kind: scenario.Restart})
	}
	if next := s.world.nextMoment(); next > 0 {
		buf = append(buf, scenario.Action{Kind: scenario.Advance, Arg: uint32(min(next-1, 1<<16-1))})
		if next > 1 {
			buf = append(buf, scenario.Action{Kind: scenario.Advance, Arg: uint32(min(max(next-3, 0), 1<<16-1))})
		}
	}
	return buf
}

// nextMoment returns the milliseconds until a client wakes up or something expires; 0 means that nothing will.
func (w *World) nextMoment() int64 {
	least := int64(0)
	sooner := func(t int64) {
		if t > 0 && (least == 0 || t < least) {
			least = t
		}
	}
	if in, due := w.cluster.NextTimer(); due {
		sooner(in)
	}
	for i := range w.clients {
		if w.unfinished(uint8(i + 1)) {
			sooner(w.clients[i].wake - w.now)
		}
	}
	return least
}

// owns reports whether a client has queues or a belief that would change if its connection ended.
func (w *World) owns(c uint8) bool {
	cl := &w.clients[c-1]
	if w.cluster.Held(c) > 0 {
		return true
	}
	return cl.conn != 0 && !w.cluster.Shared() && w.cluster.Owns(cl.conn)
}

// Take executes one of the actions that Actions has returned, and returns its outcome.
func (s *System) Take(a scenario.Action) Outcome {
	w := &s.world
	w.Monitor.Mark()
	s.reached() // forgets what came before
	before, sight, view := w.truth, w.Monitor.Visible(a.Client), 0
	if a.Client > 0 {
		s.view = s.View(int(a.Client), s.view[:0])
		view = len(s.view)
	}
	out := s.act(a)
	x := &out.Exchange
	out.Effect = Effect{sight, w.Monitor.Visible(a.Client), out.Op, x.Method, x.Answer, x.Key, a.Kind == scenario.Restart, s.reached(), w.Monitor.Passed()}
	s.normalise()
	out.Visible = w.truth != before || sight.Witnessed != w.Monitor.Witnessed || sight.WitnessedStrong != w.Monitor.WitnessedStrong || out.Completed || a.Kind != scenario.Step && a.Kind != scenario.Choose
	if !out.Visible {
		s.view = s.View(int(a.Client), s.view)
		out.Visible = string(s.view[:view]) != string(s.view[view:])
	}
	return out
}

// reached reports whether another client's queue, consumer or channel may have changed since the last call.
func (s *System) reached() bool {
	k, ok := s.world.cluster.(Reaching)
	return ok && k.Reached()
}

// Step is like Take, but does not compute Visible and Effect. Searches that compare whole states do not need these.
func (s *System) Step(a scenario.Action) Outcome {
	out := s.act(a)
	s.normalise()
	return out
}

// act executes an action, and does not normalise the resulting state.
func (s *System) act(a scenario.Action) Outcome {
	w := &s.world
	w.record.sent = backend.Exchange{}
	w.Monitor.Found, w.Monitor.Exercised = 0, 0
	w.Do(a)
	s.spend(a.Kind)
	out := Outcome{
		Found: w.Monitor.Found & s.bounds.Properties, Exercised: w.Monitor.Exercised & s.bounds.Properties,
		Exchange: w.record.sent,
	}
	if a.Client > 0 {
		cl := &w.clients[a.Client-1]
		out.Op = w.cluster.Op(a.Client)
		result, done := w.cluster.Result(a.Client)
		out.Completed, out.Result = !cl.busy && !cl.dead && done, result
	}
	_, out.Timed = w.cluster.NextTimer()
	return out
}

func (s *System) spend(do scenario.ActionKind) {
	bound, left := &s.bounds.Faults, &s.left
	switch {
	case do.Crash():
		less(&left.Crashes, bound.Crashes)
	case do == scenario.Drop:
		less(&left.Drops, bound.Drops)
	case do == scenario.ChannelError:
		less(&left.ChannelErrors, bound.ChannelErrors)
	case do == scenario.Lose:
		less(&left.Lost, bound.Lost)
	case do == scenario.Restart:
		less(&left.Restarts, bound.Restarts)
	case do.Clock():
		less(&left.Clocks, bound.Clocks)
		s.limitClocks()
	}
}

// less decrements the number of faults left, if their number has a bound.
func less(left *int, bound int) {
	if bound != AnyNumber {
		*left--
	}
}

// Holds reports whether a client has something exclusively: a queue, even on a half-open connection, or a slot that was
// granted on a connection that still exists on the broker.
func (s *System) Holds(n int) bool {
	w := &s.world
	cl := &w.clients[n-1]
	if w.Monitor.Holds(uint8(n)) || cl.conn != 0 && w.cluster.Owns(cl.conn) {
		return true
	}
	for i := range w.halfOpen {
		if g := &w.halfOpen[i]; g.client == uint8(n) && w.cluster.Owns(g.conn) {
			return true
		}
	}
	return false
}

// Abandoned removes client n's half-open connections that it no longer depends on. It returns each as the part of a
// dead client. The remaining part describes only the client's current connection, or its crash. The end of the removed
// connections cannot affect it.
func (s *System) Abandoned(n int) (parts [][]byte) {
	w := &s.world
	w.halfOpen = slices.DeleteFunc(w.halfOpen, func(g halfOpen) bool {
		if g.client != uint8(n) || w.believes(g) || w.Monitor.Left(uint8(n)) {
			return false
		}
		w.disown(g)
		parts = append(parts, s.halfOpen(g))
		return true
	})
	return parts
}

// halfOpen returns the part of a dead client that has left half-open connection g.
func (s *System) halfOpen(g halfOpen) []byte {
	c := s.world.writer(nil)
	dead, no, next := true, false, uint8(0)
	codec.Bools(c, &dead, &no, &no)
	codec.Byte(c, &next)
	s.world.Monitor.CodeDead(c, g.client)
	codec.Length(c, 1)
	codec.Bool(c, &no) // the slot that the client believes it holds was not granted on this connection
	s.world.cluster.CodeSession(c, g.conn)
	return c.Bytes()
}

// Audit returns the properties that leftovers on the servers violate. The state must have no operations under way.
func (s *System) Audit() property.Set {
	w := &s.world
	w.Monitor.Found = 0
	w.audit()
	return w.Monitor.Found & s.bounds.Properties
}

// Quiet reports whether no client has an operation under way.
func (s *System) Quiet() bool {
	return !slices.ContainsFunc(s.world.clients, func(cl client) bool { return cl.busy })
}

// Dead reports whether a client has crashed.
func (s *System) Dead(n int) bool { return s.world.clients[n-1].dead }

// Busy reports whether a client has an operation under way.
func (s *System) Busy(n int) bool { return s.world.clients[n-1].busy }

// normalise removes data that can no longer make a difference, so that equivalent states are equal.
func (s *System) normalise() {
	s.world.normal()
	s.world.Monitor.Forget(s.bounds.Properties, s.bounds.FailedAcquire)
}

// Witnessed reports whether the monitor has a linearization of the execution so far.
func (s *System) Witnessed() bool {
	return s.world.Monitor.Witnesses(s.bounds.FailedAcquire)
}

// Slots returns the set of slots that the first lock has on the server; bit s stands for slot s.
func (s *System) Slots() uint16 { return s.world.truth[0].Exists }

// Finish returns the properties that a state without further actions violates, by leftovers or by unfinished clients.
func (s *System) Finish() property.Set {
	w := &s.world
	w.Monitor.Found = 0
	for c := range w.clients {
		if w.unfinished(uint8(c + 1)) {
			w.Monitor.Unfinished(uint8(c+1), "")
		}
	}
	w.audit()
	return w.Monitor.Found & s.bounds.Properties
}
