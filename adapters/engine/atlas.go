package engine

import (
	"context"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
)

// An atlas answers the questions that the guidelines leave open. Each question has rows: a
// configuration, of which every execution is visited, and what that says.

// question is an open question of the guidelines.
type question struct {
	number int
	ask    string
	rows   []row
	// answer is the conclusion, in plain words.
	answer string
}

// row is one configuration.
type row struct {
	setting string // what distinguishes it from its neighbours
	Exploration
	// judge are the properties that the question is about; 0 is all that apply.
	judge []property.Property
}

// AtlasConfig says how an atlas is made.
type AtlasConfig struct {
	// Questions are those to answer, by number; none is all.
	Questions []int
	// Progress is told what is being visited. It may be nil.
	Progress func(string)
	// Confirm carries out a counterexample on a real broker and says what came of it. It may be nil.
	Confirm func(*scenario.Trace, *lock.Target, scenario.Violation) (string, error)
	// Broker is what Confirm speaks to.
	Broker string
}

// Atlas answers the open questions. One that ended early, since ctx is over or for the error that is returned with it,
// has what was visited until then, and says what is missing.
func Atlas(ctx context.Context, c AtlasConfig) (*report.Atlas, error) {
	if unknown := slices.IndexFunc(c.Questions, func(n int) bool { return n < 1 || n > len(questions) }); unknown >= 0 {
		return nil, fmt.Errorf("question %d: expected 1 to %d", c.Questions[unknown], len(questions))
	}
	out := &report.Atlas{Tool: Version, Broker: c.Broker}
	var failed error
	for i := range questions {
		q := &questions[i]
		if len(c.Questions) > 0 && !slices.Contains(c.Questions, q.number) {
			continue
		}
		answered := report.Question{Number: q.number, Ask: q.ask, Answer: q.answer}
		for k := range q.rows {
			var r *report.AtlasRow
			if failed == nil {
				r, failed = c.row(ctx, q, &q.rows[k])
			}
			if failed != nil {
				answered.Missing = append(answered.Missing, q.rows[k].setting)
				continue
			}
			answered.Rows = append(answered.Rows, *r)
		}
		out.Questions = append(out.Questions, answered)
	}
	if len(c.Questions) == 0 {
		if failed == nil {
			out.Needed, failed = c.needed(ctx)
		}
		if failed != nil {
			out.Missing = "what no lock can do without"
		}
	}
	return out, failed
}

// row visits a row. The error is that of ctx, too.
func (c *AtlasConfig) row(ctx context.Context, q *question, r *row) (*report.AtlasRow, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if c.Progress != nil {
		c.Progress(fmt.Sprintf("question %d: %s", q.number, r.setting))
	}
	out, err := c.visit(ctx, r)
	if err == nil {
		err = ctx.Err() // it may not have been visited to its end
	}
	if err != nil {
		return nil, fmt.Errorf("atlas, question %d, %s: %w", q.number, r.setting, err)
	}
	return out, nil
}

// visit explores a row.
func (c *AtlasConfig) visit(ctx context.Context, r *row) (*report.AtlasRow, error) {
	e := r.settled()
	x, err := Explore(ctx, e)
	if err != nil {
		return nil, err
	}
	out := &report.AtlasRow{
		Setting: r.setting, Bounds: e.String(), Command: e.Command(), Space: x.Report.Space, Ends: ends(x.Search.Coverage.Ends),
		Cost: c.cost(r.costly(e)), Seen: mishaps(x.Report.Space.Covered),
	}
	for _, res := range x.Report.Properties {
		verdict, _ := x.Report.Verdict(&res)
		v := report.AtlasVerdict{Property: res.Property, Verdict: verdict}
		if t := x.Traces[res.Property]; t != nil {
			v = x.Lost(res.Property)
			if v.Real, err = c.confirm(t, e.Target, res.Property); err != nil {
				return nil, err
			}
		}
		out.Verdicts = append(out.Verdicts, v)
	}
	out.Counterexamples = x.Counterexamples(e.Command())
	return out, nil
}

// Lost is the verdict on a property that is violated.
func (x *Explored) Lost(p property.Property) report.AtlasVerdict {
	t := x.Traces[p]
	v, _ := violationOf(t, p)
	return report.AtlasVerdict{
		Property: p, Verdict: report.Violated, Steps: len(t.Steps), Least: x.Least.Has(p), Detail: v.Explain(), Trace: t,
	}
}

// confirm is what a real broker shows of a violation, "" if none is asked.
func (c *AtlasConfig) confirm(t *scenario.Trace, target *lock.Target, p property.Property) (string, error) {
	if c.Confirm == nil {
		return "", nil
	}
	v, _ := violationOf(t, p)
	return c.Confirm(t, target, v)
}

// settled is the row's exploration, complete.
func (r *row) settled() Exploration {
	e := r.Exploration
	if e.Rounds == 0 {
		e.Rounds = 1
	}
	if e.Target == nil {
		e.Target = Reference(lock.Semaphore)
	}
	// A step of an execution is then one command, as few as there can be.
	if !slices.ContainsFunc(e.Options, func(o [2]string) bool { return o[0] == "pipeline" }) {
		e.Options = append([][2]string{{"pipeline", "0"}}, e.Options...)
	}
	for _, p := range r.judge {
		e.Properties = e.Properties.With(p)
	}
	e.Search.Reductions = search.AllReductions
	return e
}

// Command is what repeats an exploration.
func (e *Exploration) Command() string {
	args := []string{"lockproof explore", e.Target.Name}
	flag := func(name string, value any, usual any) {
		if value != usual {
			args = append(args, fmt.Sprintf("--%s %v", name, value))
		}
	}
	for _, name := range e.Names {
		args = append(args, "--lock "+name)
	}
	flag("clients", e.Clients, 2)
	flag("rounds", e.Rounds, 1)
	flag("admins", e.Admins, 1)
	if e.Start != 0 {
		args = append(args, "--start "+StartFlag(e.Start))
	} else {
		flag("slots", e.Slots, 2)
	}
	flag("calls", spelled(e.Calls), "")
	flag("admin-calls", spelled(e.AdminCalls), "")
	flag("crashes", e.Faults.Crashes, 1)
	flag("drops", e.Faults.Drops, 0)
	flag("channel-errors", e.Faults.ChannelErrors, 0)
	flag("lost", e.Faults.Lost, 0)
	flag("restarts", e.Faults.Restarts, 0)
	if !e.Faults.Late {
		args = append(args, "--late=false")
	}
	for _, o := range e.Options {
		args = append(args, "-o "+o[0]+"="+o[1])
	}
	for p := range property.Count {
		if e.Properties.Has(p) {
			args = append(args, "--property "+p.String())
		}
	}
	return strings.Join(args, " ")
}

// spelled is calls as the command line has them.
func spelled(ops []scenario.Operation) string {
	var out []string
	for _, o := range ops {
		if o.Arg > 0 {
			out = append(out, fmt.Sprintf("%s:%d", o.Op, o.Arg))
		} else {
			out = append(out, o.Op.String())
		}
	}
	return strings.Join(out, ",")
}

// ends are the slots that can be left in the end, in words.
func ends(sets map[uint16]bool) []string {
	var out []string
	for _, set := range slices.Sorted(maps.Keys(sets)) {
		var slots []string
		for ; set != 0; set &= set - 1 {
			slots = append(slots, fmt.Sprint(bits.TrailingZeros16(set)))
		}
		out = append(out, "{"+strings.Join(slots, ",")+"}")
	}
	return out
}

// mishaps are the endings of operations that are not what one would wish for.
func mishaps(covered []string) (out []string) {
	for _, name := range covered {
		_, how, _ := strings.Cut(name, ": ")
		if slices.Contains([]string{"gave-up", "withdrawn", "removed", "busy", "disconnected"}, how) {
			out = append(out, name)
		}
	}
	return out
}

// costScenarios is how many drawn scenarios a row's costs are taken from.
const costScenarios = 2000

// cost is what operations take with a row's options, in drawn scenarios of many clients.
func (c *AtlasConfig) cost(e *Exploration) []report.EfficiencyRow {
	var r sim.Runner
	r.Costs = new(monitor.Costs)
	source := sim.NewSource(sim.Space{Target: e.Target, Fixed: fixed(e)}, 1)
	for i := range costScenarios {
		s := source.Scenario(i)
		r.Run(e.Target, &s)
	}
	return slices.DeleteFunc(Efficiency(r.Costs, e.Target.Kind), func(row report.EfficiencyRow) bool { return !e.includes(row.Operation) })
}

// includes reports whether an exploration calls the operation of a situation.
func (e *Exploration) includes(situation string) bool {
	calls, admin := e.called()
	called := func(o scenario.Operation) bool { return strings.HasPrefix(situation, o.Op.String()) }
	return e.Clients > 0 && slices.ContainsFunc(calls, called) || e.Admins > 0 && slices.ContainsFunc(admin, called)
}

// fixed are all options of an exploration that matter to costs, so that none is drawn.
func fixed(e *Exploration) [][2]string {
	o, err := lock.SetOptions(lock.BackendOf(e.Target).Defaults, e.Options)
	if err != nil {
		return e.Options // Explore has said so
	}
	var out [][2]string
	for _, opt := range o.Table() {
		out = append(out, [2]string{opt.Name, o.Value(opt.Name)})
	}
	return out
}

// costly is the exploration as its costs are told: with the pipelining that the options ask for.
func (r *row) costly(e Exploration) *Exploration {
	e.Options = r.Options
	return &e
}
