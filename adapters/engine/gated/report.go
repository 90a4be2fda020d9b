package gated

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/histories/secret"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
)

// report creates the report about the run.
func (f *sharedRun) report() *report.Report {
	s := &f.sum
	r := &report.Report{
		Tool: engine.Version, Target: f.Name, Doc: secret.Command(f.Exec), Kind: f.Kind, Mode: report.Sampled,
		Broker: f.On.String() + throughGate, Server: f.On.Kind, Seed: f.Seed, FailedAcquire: f.FailedAcquire.String(), Bounds: f.Shape.String(), Fixed: engine.ByName(f.Options),
		Scenarios: s.Scenarios, Asked: f.Scenarios, Steps: s.Steps, Commands: s.Commands, Operations: s.Operations,
		Efficiency: engine.Efficiency(&s.Costs, f.Kind, property.ApplicableExternal(f.Kind)&^f.unasked()),
		Contract:   &report.Contract{Demands: f.Demands}, Uncontrolled: f.free.Words(), Wire: engine.OverWire(&f.wire), Traffic: trafficOf(f.Kind, f.traffic),
	}
	if f.On.Shared && (f.On.Kind == "" || f.On.Kind == AMQP) {
		r.Wire = append(r.Wire, report.Count{Name: "replies as the simulated broker's", Number: f.agreed})
	}
	for _, said := range []string{f.free.Reading(), f.told.Reading()} {
		if said != "" {
			r.Readings = append(r.Readings, said)
		}
	}
	r.Target = cmp.Or(r.Target, f.about.Name)
	r.Uncontrolled = append(r.Uncontrolled, f.asides()...)
	for p := range f.Properties.All() {
		r.Properties = append(r.Properties, f.resultOf(p))
	}
	r.Exercised = f.exercised()
	return r
}

// exercised counts, for each coverage point that can occur, the executions that reached it. The clients' own random
// choices are left out.
func (f *sharedRun) exercised() (all []report.Exercise) {
	w := lock.WordsOf("", f.On.Kind)
	for k := range sim.CoveragePoints {
		seen := f.sum.Seen[k]
		if k != sim.SawRandomOption && (seen > 0 || k.Happens(w, f.Kind) && (!f.exploring || !k.Faulty())) {
			all = append(all, report.Exercise{Name: k.Of(w, f.Kind), Scenarios: seen})
		}
	}
	return all
}

// asides returns the report's remarks on what the run could not control or see, for example that clients share a
// connection.
func (f *sharedRun) asides() (said []string) {
	if f.uncontrolled > 0 {
		said = append(said, fmt.Sprintf("of %d executions, %d were not decided by their schedule alone", f.sum.Scenarios, f.uncontrolled))
	}
	if f.sharing {
		said = append(said, "clients share a connection: what befalls one would befall all, so there were no faults")
	}
	if f.Ended() {
		said = append(said, fmt.Sprintf("clients ended by themselves %d times: the run was ended there", f.free.Died))
	}
	if !f.held && f.unheld != "" {
		said = append(said, f.unheld)
	}
	if f.On.Unseen != "" {
		said = append(said, f.On.Unseen)
	}
	if f.disagreement != "" {
		said = append(said, "the first time: "+f.disagreement)
	}
	return said
}

// resultOf returns the row of the report about property p: its counts, and its violation if one was found.
func (f *sharedRun) resultOf(p property.Property) report.PropertyResult {
	result := f.sum.Result(p, f.Own, f.FailedAcquire, f.Shape.Start)
	result.Skip = f.skip(p)
	if d := f.findings[p]; d != nil {
		result.Violation = d.found(p)
		result.Violation.Compared = f.compared[p]
	}
	if !f.Demands.Has(p) {
		result.Broken = f.broken[p].Detail
	}
	if !fromWire.Has(p) {
		result.Evidence = property.FromHistory
	}
	return result
}

// fromWire are the properties that are judged by the traffic at the gate and by the server's state. All others are
// judged by the clients' history.
const fromWire = foreign.Measured | 1<<property.MinimalDriver | 1<<property.NoLeak

// trafficOf returns the average traffic of each operation.
func trafficOf(kind lock.Kind, t foreign.Traffic) (out []report.Traffic) {
	for _, op := range kind.Operations() {
		if o := t[op]; o.Calls > 0 {
			each := func(n int) float64 { return float64(n) / float64(o.Calls) }
			out = append(out, report.Traffic{
				Operation: op.String(), Calls: o.Calls, Frames: each(o.Sent.Frames), Bytes: each(o.Sent.Bytes),
				Back: each(o.Replied.Frames), BytesBack: each(o.Replied.Bytes),
			})
		}
	}
	return out
}

// shownBy lists the operations without which a property cannot be violated.
var shownBy = map[property.Property][]lock.Op{
	property.MutualExclusion: {lock.Acquire}, property.NoPhantomSlot: {lock.Acquire}, property.CheapAcquire: {lock.Acquire},
	property.HonestVerify: {lock.Verify}, property.StaleBeliefEnds: {lock.Verify}, property.CheapVerify: {lock.Verify},
	property.EffectiveRelease: {lock.Release}, property.ExactCount: {lock.Count},
	property.NoFalseHold: {lock.Remove, lock.Add}, property.RemovalDrains: {lock.Remove},
}

// unmeasured explains why an exploration does not judge the cost of operations.
const unmeasured = "which commands were written in one go is not told apart while exploring: prove measures costs"

// atOnce explains why the cost of operations is not judged on several servers.
const atOnce = "commands to several servers may go at once, and how many round trips that are is not told"

// unseen explains why properties of the server's state are skipped if that state is not visible.
const unseen = "what the server has is not seen, and acquires alone do not show what is left there"

// leftovers are the properties that are judged by the server's state.
const leftovers = property.Set(1<<property.NoLeak | 1<<property.NameSafety)

// skip says why a property is not judged; "" if it is judged.
func (f *sharedRun) skip(p property.Property) string {
	switch {
	case f.exploring && p.Own():
		return "executions are told apart by what commands do to each other, and your function may tell others apart: Prove judges it"
	case f.exploring && foreign.Measured.Has(p):
		return unmeasured
	case f.On.Servers > 1 && foreign.Measured.Has(p):
		return atOnce
	case f.On.Unseen != "" && leftovers.Has(p):
		return unseen
	}
	for _, op := range shownBy[p] {
		offered := op == lock.Remove && slices.Contains(f.about.Operations, lock.Destroy) || slices.Contains(f.about.Operations, op)
		if !offered && slices.Contains(f.Kind.Operations(), op) {
			return fmt.Sprintf("the target does not offer %s", op)
		}
	}
	return ""
}
