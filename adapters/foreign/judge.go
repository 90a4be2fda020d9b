package foreign

import (
	"strings"

	"github.com/lockproof/lockproof/model/beliefs"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/judge"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/own"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// Measured are the properties about cost. They can be judged only if the runner can tell which commands were written
// together.
const Measured = property.Set(1<<property.CheapAcquire | 1<<property.CheapVerify)

// noTruth is recorded for a step after which the state of the locks on the broker is unknown.
var noTruth [lock.MaxLocks]monitor.Truth

// Judgeable are the properties that can be judged for this target.
func (s *Runner) Judgeable() property.Set {
	all := property.ApplicableExternal(s.config.Kind)
	return all | all.Announced(s.config.Kind, s.about.Traits()) | s.config.Own.All()
}

// watched are the properties that are judged during the run, by the commands at the gate. Promises are among them only
// if there was no fault.
func (r *run) watched() property.Set {
	all := r.Judgeable() & (property.Promises.With(property.NoCrash) | r.config.Own.All())
	if r.befell.faulty() {
		all &^= property.Promises
	}
	if r.burst == 0 || r.server.Endpoints() > 1 { // requests to several servers at once are one round trip
		all &^= Measured
	}
	return all
}

// promise starts the monitor that judges the lock's promises.
func (r *run) promise() {
	r.promises.Checks = &r.checks
	truth := make([]monitor.Truth, len(r.sc.Locks))
	for l := range truth {
		truth[l].Exists = monitor.AllSlots
	}
	r.promises.Reset(r.config.Kind, lock.Facts{SharedSession: r.shared}, len(r.clients), truth)
	r.promises.Unbound()
	r.promises.Foreign()
}

// bill records the cost of a completed operation of the scenario.
func (r *run) bill(p *clientState, res lock.Result) {
	if int(p.id) > len(r.sc.Clients) || r.auditing {
		return
	}
	res.Slot = min(res.Slot, monitor.Slots)
	r.promises.End(p.id, res, min(p.held, monitor.Slots), true)
	cost, lost, broken := r.promises.Spent(p.id)
	if r.config.Costs == nil || p.needless || r.burst == 0 || broken || r.befell.faulty() || res.Outcome == lock.Unknown || cost.Connections > 0 {
		return
	}
	r.config.Costs.Add(p.op, res, lost, [monitor.Measures]int{
		int(cost.Commands), int(cost.Trips), int(cost.Replies), int(cost.Channels), int(cost.Connections),
	})
	if !r.shared {
		after := p.address.Counts()
		r.traffic.Add(p.op, &p.before, &after)
	}
}

// crashed records that client c ended by itself during a call. Client 0 is the setup client.
func (r *run) crashed(c uint8, err error) {
	r.uncontrolled.Died++
	r.promises.Crashless(c, true, strings.TrimPrefix(err.Error(), ClientName(int(c))+", "))
}

// execution makes the result of the run, with the verdicts that need the whole history.
func (r *run) execution() *Execution {
	r.record.Judged(&r.promises, r.watched(), len(r.record.Steps))
	r.count()
	if r.disagreement != "" {
		r.uncontrolled.Disagreed++
	}
	r.mu.Lock()
	for i := range r.clients {
		r.uncontrolled.Idle += r.clients[i].late
	}
	r.mu.Unlock()
	x := &Execution{
		Trace: &scenario.Trace{
			Scenario: *r.sc, Setup: r.record.Setup, Steps: r.record.Steps, Violations: r.record.Violations, Errors: r.record.errors,
			History: history.History{Kind: r.config.Kind, Clients: len(r.clients), Events: r.record.Events, GoneMayFree: true},
		},
		Found: r.promises.Found&r.watched() | r.found, Exercised: r.promises.Exercised&r.watched() | r.exercised,
		Uncontrolled: r.uncontrolled, Disagreement: r.disagreement, Wire: r.wire, Traffic: r.traffic,
		Told: r.told, Audited: r.audited,
	}
	for l, of := range r.sc.Locks {
		slots := int(of.Slots)
		if r.about.Slotless() {
			slots = r.limit(uint8(l))
		}
		x.History.Locks = append(x.History.Locks, of.Name)
		x.History.Slots = append(x.History.Slots, slots)
	}
	x.Number()
	for i := range r.sc.Clients {
		x.Sent += int(r.clients[i].sent)
		x.Called += r.clients[i].called
	}
	r.judge(x)
	before := beliefs.Before{Restarted: r.befell.restarted, Crashed: r.befell.crashed, Disconnected: r.befell.disconnected, Rest: r.atRest}
	// The error says that the history has no audit. There is then no verdict about recovery.
	recovery, _ := judge.Audit(&x.History, judge.Events(&x.History), linear.Options{}, before)
	for _, v := range recovery {
		r.verdict(x, v)
	}
	for _, v := range x.Violations {
		x.Found = x.Found.With(v.Property)
	}
	if r.audited && r.at != nil && x.Found == 0 && x.Uncontrolled.Free() {
		r.audits[*r.at] = true
	}
	return x
}

// count adds the properties that the run and the audit have tested to Config.Checks.
func (r *run) count() {
	if r.config.Checks == nil {
		return
	}
	for p := range r.watched().All() {
		r.config.Checks[p] += r.checks[p]
	}
	for p := range r.exercised.All() {
		r.config.Checks[p]++
	}
}

// judge adds to x what its whole history shows.
func (r *run) judge(x *Execution) {
	if x.Called == 0 || !r.sc.HistoryTells() {
		return
	}
	o := linear.Options{FailedAcquire: r.config.FailedAcquire}
	if r.about.shares() {
		r.judgeShares(x, o)
		return
	}
	for _, v := range judge.Certain(&x.History, o) {
		if v.Property != property.LossTold || !r.befell.faulty() {
			r.verdict(x, v)
		}
	}
	if !r.befell.faulty() && r.record.plain() {
		answers := x.History.Answers()
		r.verdict(x, linear.Check(&x.History, o).Verdict(answers.Called))
	}
}

// verdict adds to x what the history shows about one property.
func (r *run) verdict(x *Execution, v linear.Verdict) {
	if v.Decision == linear.Undecided {
		x.Undecided = v.Why
		return
	}
	if v.Checked > 0 {
		x.Exercised = x.Exercised.With(v.Property)
		if r.config.Checks != nil {
			r.config.Checks[v.Property]++
		}
	}
	if v.Decision == linear.Illegal && r.Judgeable().Has(v.Property) {
		x.Violations = append(x.Violations, judge.Violation(x.Trace, v))
	}
}

// judgeOwn judges custom properties after an action.
func (r *run) judgeOwn() {
	var locks []string
	for _, l := range r.sc.Locks {
		locks = append(locks, l.Name)
	}
	watch := own.Watch{List: r.config.Own, Past: past{r}}
	watch.Judge(&r.promises, len(r.sc.Clients), locks, r.config.Own.All()&r.watched(), func(v property.Violation) {
		v.Kind = r.config.Kind
		r.record.Violated(v)
	})
}

// past gives custom properties access to the past of a run.
type past struct{ *run }

// Events implements [own.Past].
func (p past) Events() []history.Event { return p.record.Events }

// Last implements [own.Past].
func (p past) Last() own.Exchange {
	s := &p.record.Step
	if s.Command == "" {
		return own.Exchange{}
	}
	return own.Exchange{What: s.Exchange, Client: int(s.Action.Client), Command: s.Command, Reply: s.Reply}
}

// limit is the largest limit that a client of the scenario states for lock l, at least 1.
func (r *run) limit(l uint8) int {
	limit := 1
	for _, c := range r.sc.Clients {
		for _, op := range c.Ops {
			if c.Lock == int(l) && op.Op == lock.Acquire {
				limit = max(limit, int(op.Arg))
			}
		}
	}
	return limit
}

// limitOf is the limit that auditors state for lock l: its number of slots or, if it has none, the largest limit that
// clients state.
func (r *run) limitOf(l uint8) uint8 {
	if r.about.Slotless() {
		return uint8(r.limit(l))
	}
	_, most := r.slots(l)
	return uint8(max(1, most))
}
