package external

import (
	"slices"

	"github.com/lockproof/lockproof/adapters/external/recognise"
	"github.com/lockproof/lockproof/model/beliefs"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/judge"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// fromCommands are the properties that can be judged whatever queues are called.
var fromCommands = property.Set(0).With(property.CheapAcquire).With(property.CheapVerify).With(property.MinimalDriver)

// Measured are the properties that need commands that were written at once to be told apart.
const Measured = property.Set(1<<property.CheapAcquire | 1<<property.CheapVerify)

// fromHistory are the properties that a history alone can violate.
var fromHistory = judge.FromHistory.With(property.NoCrash) | property.Announceable

// Judgeable are the properties that can be judged of the target.
func (s *Runner) Judgeable() property.Set {
	all := property.ApplicableExternal(s.config.Kind) | s.announced() | s.config.Own.All()
	for p := range all.All() {
		if s.Unjudged(p) != "" {
			all &^= 1 << p
		}
	}
	return all
}

// FromHistory are the properties that are judged by the history alone, as what the broker has of the lock is not known.
func (s *Runner) FromHistory() property.Set {
	switch {
	case s.design.Known():
		return property.Set(0).With(property.Linearizable).With(property.LimitRespected)
	case s.config.Kind == lock.Mutex:
		return fromHistory.With(property.CrashFrees).With(property.SurvivesRestart)
	}
	return fromHistory
}

// Design says in a line by what on the broker locks are held, "" where that is as the guidelines say, with their names.
func (s *Runner) Design() string {
	if d := &s.design; d.Holding != recognise.ByQueue || s.config.Kind == lock.Mutex || d.A.Text != recognise.Guidelines.A.Text || d.B.Text != recognise.Guidelines.B.Text {
		return d.String()
	}
	return ""
}

// Held says in a line by what on the broker locks are held.
func (s *Runner) Held() string { return s.design.String() }

// Unjudged is why a property cannot be judged of the target, "" where it can. It says what was seen.
func (s *Runner) Unjudged(p property.Property) string {
	n := &s.design
	switch other := n.Used != "" && (!n.Known() || s.config.Kind == lock.Mutex || n.Channels()); {
	case p == property.MinimalDriver && other:
		return "asked of the guidelines' design, and this one is another: it uses " + n.Used + moreThanAsked
	case n.Channels() && fromCommands.Has(p):
		return "the budget is that of the guidelines' design, and this one is another" + moreThanAsked
	case n.Permits() && p == property.NoPhantomSlot:
		return "messages stand for slots and have no numbers, so that it cannot be told which was granted"
	case n.Channels() && p == property.AdminExclusion:
		return "asked of the guidelines' design, and in this one a slot is a message or a consumer"
	case p == property.AdminExclusion && !s.takesApart():
		return "asked of who adds or removes slots: that locks are made by two at once harms nobody by itself"
	case p == property.AdminExclusion && s.config.Kind == lock.PersistentMutex && !n.Admin.Known():
		return "asked of who administers one after the other: a mutex is there or not, and nobody was seen to keep others from making or destroying it"
	case n.Known() || fromHistory.Has(p), (p == property.CrashFrees || p == property.SurvivesRestart) && s.config.Kind != lock.Semaphore:
		return s.unannounced(p)
	case fromCommands.Has(p) && n.Used != "":
		return "the budget is that of the guidelines' design, and this one is another: it uses " + n.Used
	case fromCommands.Has(p):
		return ""
	case s.config.Kind == lock.Mutex:
		return "what holds the lock on the broker is not known, so that the history decides: " + n.Why
	}
	return n.Why
}

// takesApart reports whether the clients offer to change the slots of a semaphore that is there.
func (s *Runner) takesApart() bool {
	return s.supports(lock.Add) || s.supports(lock.Remove) || s.supports(lock.Destroy)
}

// Lenient are the properties of costs that the target exceeds without being wrong: they are asked of the guidelines'
// design, and this one is another: its queues are called otherwise, or nothing is published, which makes looking for one dearer.
func (s *Runner) Lenient() property.Set {
	d := &s.design
	if s.config.Kind == lock.Mutex || d.Holding != recognise.ByQueue || !d.Guided() || s.about.Limits || d.Used != "" || !d.Asks {
		return fromCommands
	}
	return 0
}

// moreThanAsked ends what is said of costs that are none of the guidelines' design.
const moreThanAsked = "; what is more than the guidelines allow is not wrong"

// judgeable are those that the monitor can be believed in.
func (r *run) judgeable() property.Set {
	all := property.ApplicableExternal(r.config.Kind) | r.announced() | r.config.Own.All()
	if !r.known() {
		all &= fromCommands.With(property.NoCrash) | r.blind()
	}
	all &= r.Judgeable()
	if r.burst == 0 || r.paired {
		all &^= Measured
	}
	return all
}

// guessless takes back what was concluded from what the broker was thought to have.
func (r *run) guessless() {
	for i := range r.record.Events {
		if e := &r.record.Events[i]; e.Reason == lock.GaveUp {
			e.Reason = lock.NoReason
		}
	}
}

// loose reports whether the end of a connection may or may not free what its client holds: the design is unknown, a hold can
// end before its connection does, or it is unknown which of several connections has it.
func (r *run) loose() bool { return r.design.Holding != recognise.ByQueue || r.several }

// loosen has the history speak of clients instead of connections.
func (r *run) loosen(h *history.History) {
	h.GoneMayFree = true
	n := int32(len(r.clients))
	client := func(process int32) int32 { return (process-1)%n + 1 }
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Process != history.Nemesis:
			e.Process = client(e.Process)
		case e.Target > 0:
			e.Target = client(e.Target)
		}
	}
	if r.design.Holding != recognise.ByQueue {
		r.record.crowded()
	}
}

// crowded withdraws "full" from acquires that may have been in another's way: of one that was under way and got nothing
// either, or not before; of an administrator, who may hold what it is about to remove; or of whatever anybody does, if the broker refused
// its claim.
func (r *record) crowded() {
	type attempt struct {
		client        int32
		inv, ret      int
		held, refused bool
		aside         bool // it neither acquires nor administers
	}
	var all []attempt
	under := make(map[int32]int) // by client: its attempt
	for i := range r.Events {
		e := &r.Events[i]
		switch {
		case e.Process == history.Nemesis:
		case e.Type == history.Invoke:
			under[e.Process] = len(all)
			all = append(all, attempt{client: e.Process, inv: i, ret: len(r.Events), aside: e.F.Op() != lock.Acquire && !e.F.Op().Administrative()})
		default:
			a := &all[under[e.Process]]
			a.ret, a.held, a.refused = i, e.Held, slices.Contains(r.refused, i)
		}
	}
	for _, a := range all {
		if a.ret == len(r.Events) || r.Events[a.ret].Reason != lock.Full {
			continue
		}
		if slices.ContainsFunc(all, func(o attempt) bool {
			return o.client != a.client && o.inv < a.ret && o.ret > a.inv && (a.refused || !o.aside && (!o.held || o.ret > a.ret))
		}) {
			r.Events[a.ret].Reason = lock.NoReason
		}
	}
}

// known reports whether what the broker has of the lock is known, and was all the time.
func (r *run) known() bool { return r.design.Known() && r.disagreement == "" }

// execution is what the run came to.
func (r *run) execution() *Execution {
	r.found(len(r.record.Steps))
	if r.disagreement != "" {
		r.uncontrolled.Disagreed++
		r.guessless()
		r.record.Violations = slices.DeleteFunc(r.record.Violations, func(v scenario.Violation) bool { return !r.judgeable().Has(v.Property) })
	}
	r.mu.Lock()
	for _, a := range r.handles {
		if r.plays(a) {
			r.uncontrolled.Idle += a.late
			r.uncontrolled.Raced += a.raced
		}
	}
	r.mu.Unlock()
	x := &Execution{
		Trace: &scenario.Trace{
			Scenario: *r.sc, Setup: r.record.Setup, Steps: r.record.Steps,
			Violations: r.record.Violations, Errors: r.record.errors,
			History: history.History{Kind: r.config.Kind, Clients: len(r.sc.Clients), Events: r.record.Events},
		},
		Found: r.monitor.Found & r.judgeable(), Exercised: r.monitor.Exercised & r.judgeable(),
		Uncontrolled: r.uncontrolled, Disagreement: r.disagreement, Wire: r.wire, Traffic: r.traffic,
	}
	for _, v := range x.Violations {
		x.Found = x.Found.With(v.Property)
	}
	for _, l := range r.sc.Locks {
		x.History.Locks = append(x.History.Locks, l.Name)
		x.History.Slots = append(x.History.Slots, int(l.Slots))
	}
	if r.about.Slotless() {
		for l := range x.History.Slots {
			x.History.Slots[l] = r.most(uint8(l))
		}
	}
	if r.loose() {
		r.loosen(&x.History)
	}
	x.Number()
	for i := range r.clients {
		x.Sent += int(r.clients[i].sent)
		x.Called += r.clients[i].called
	}
	if r.known() {
		x.Overlap, x.Overlaps, x.Kept = r.monitor.Overlap, r.monitor.Overlaps, r.monitor.Kept
	}
	r.judge(x)
	return x
}

// judge completes the verdict by what only the whole history shows.
func (r *run) judge(x *Execution) {
	if x.Called == 0 || !r.sc.HistoryTells() || r.resigned {
		return
	}
	if answers := x.History.Answers(); answers.Silence() != "" {
		return
	}
	watched := &r.monitor
	switch {
	case !r.known():
		watched = nil
	case r.about.Limits:
		r.verdict(x, beliefs.Limits(&x.History))
	}
	if watched != nil && r.design.Permits() && r.administers() && !watched.Witnesses(r.config.FailedAcquire) {
		return // no history of slots without numbers tells how many there are when
	}
	whole := func() *history.History {
		if r.Numberless() {
			return numberless(&x.History)
		}
		return &x.History
	}
	judge.Execution(watched, linear.Options{FailedAcquire: r.config.FailedAcquire}, whole, func(v linear.Verdict) { r.verdict(x, v) })
}

// numberless is a history of slots without numbers from which is left out what can only be said of slots that have one, and how
// many were counted: the monitor judges that.
func numberless(h *history.History) *history.History {
	out := *h
	out.Events = slices.Clone(h.Events)
	for i := range out.Events {
		switch e := &out.Events[i]; {
		case e.F.Op() == lock.Count && e.Type != history.Invoke:
			e.Type = history.Info
		case e.Reason == lock.Removed, e.Reason == lock.Withdrawn:
			e.Reason = lock.NoReason
		}
	}
	return &out
}

// administers reports whether somebody was called to change the number of slots.
func (r *run) administers() bool {
	return slices.ContainsFunc(r.record.Events, func(e history.Event) bool { return e.F.Op().Administrative() })
}

// verdict takes in what the history says of a property.
func (r *run) verdict(x *Execution, v linear.Verdict) {
	switch {
	case v.Decision == linear.Undecided:
		x.Undecided = v.Why
		return
	case (asTheyHappen & r.judgeable()).Has(v.Property):
		return
	}
	if v.Checked > 0 {
		x.Exercised = x.Exercised.With(v.Property)
		if r.config.Checks != nil {
			r.config.Checks[v.Property]++
		}
	}
	if v.Decision != linear.Illegal {
		return
	}
	x.Found = x.Found.With(v.Property)
	x.Violations = append(x.Violations, judge.Violation(x.Trace, v))
}
