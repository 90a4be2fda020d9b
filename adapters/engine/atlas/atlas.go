package atlas

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/explore"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/question"
	"github.com/lockproof/lockproof/sim/search"
)

// Config says which open questions to answer in an atlas (a table of questions and their answers), and how to compare
// with a real server.
type Config struct {
	// Server is the name of the kind of server whose open questions are answered; "" means AMQP.
	Server string
	// Questions are the numbers of the questions to answer; empty means all.
	Questions []int
	// Progress is called with the name of each configuration before it is explored. It may be nil.
	Progress func(string)
	// Confirm repeats a counterexample on a real server and describes the result. It may be nil.
	Confirm func(*scenario.Trace, *lock.Target, scenario.Violation) (string, error)
	// Agree repeats an execution on a real server. same reports whether every reply was as on the simulated server.
	// skipped is the reason why the execution was not repeated, or "" if it was. Agree may be nil.
	Agree func(*scenario.Trace, *lock.Target) (same bool, skipped string, err error)
	// Measure measures a figure on a real server, and returns the result in a few words. A figure is a number that no
	// search can find; the argument is its name. Measure may be nil.
	Measure func(figure string) (string, error)
	// Real names the real server that Confirm, Agree and Measure use.
	Real string
}

// atlas is the state while an atlas is made: its configuration, and the questions about one kind of server.
type atlas struct {
	Config
	*question.Set
	server *lock.Backend
}

// Check returns an error if the kind of server has no questions, or if a requested question does not exist.
func (c *Config) Check() error {
	_, err := c.atlas()
	return err
}

// atlas looks up the questions and checks the requested numbers.
func (c *Config) atlas() (*atlas, error) {
	server, set, err := question.Of(c.Server)
	if err != nil {
		return nil, err
	}
	if unknown := slices.IndexFunc(c.Questions, func(n int) bool { return n < 1 || n > len(set.Questions) }); unknown >= 0 {
		return nil, fmt.Errorf("question %d: expected 1 to %d", c.Questions[unknown], len(set.Questions))
	}
	return &atlas{*c, set, server}, nil
}

// Answer answers the open questions. If ctx ends or an error occurs, the atlas contains the results so far, and lists
// what is missing.
func Answer(ctx context.Context, c Config) (*report.Atlas, error) {
	a, err := c.atlas()
	if err != nil {
		return nil, err
	}
	out := &report.Atlas{Tool: engine.Version, Title: a.Title, Broker: c.Real}
	for i := range a.Set.Questions {
		if number := i + 1; len(c.Questions) == 0 || slices.Contains(c.Questions, number) {
			var answered report.Question
			answered, err = a.answer(ctx, number, err)
			out.Questions = append(out.Questions, answered)
		}
	}
	if len(c.Questions) == 0 && a.Combined != nil {
		if err == nil {
			out.Needed, err = a.needed(ctx)
		}
		if err != nil {
			out.Missing = "what no lock can do without"
		}
	}
	return out, err
}

// answer explores all rows of a question. If failed is not nil, an earlier question failed: then the rows are only
// listed as missing.
func (a *atlas) answer(ctx context.Context, number int, failed error) (report.Question, error) {
	q := &a.Set.Questions[number-1]
	answered := report.Question{Number: number, Ask: q.Ask, Answer: q.Answer}
	for k := range q.Rows {
		var r *report.AtlasRow
		if failed == nil {
			r, failed = a.row(ctx, number, &q.Rows[k])
		}
		if failed != nil {
			answered.Missing = append(answered.Missing, q.Rows[k].Setting)
			continue
		}
		answered.Rows = append(answered.Rows, *r)
	}
	return answered, failed
}

// row explores or measures one row of a question. It returns ctx's error if ctx ends.
func (a *atlas) row(ctx context.Context, number int, r *question.Row) (*report.AtlasRow, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if a.Progress != nil {
		a.Progress(fmt.Sprintf("question %d: %s", number, r.Setting))
	}
	visit := a.visit
	if r.Figure != nil {
		visit = a.measure
	}
	out, err := visit(ctx, r)
	if err == nil {
		err = ctx.Err() // ctx has ended, so that the exploration may be incomplete
	}
	if err != nil {
		return nil, fmt.Errorf("atlas, question %d, %s: %w", number, r.Setting, err)
	}
	return out, nil
}

// measure returns a row that shows a measured figure.
func (a *atlas) measure(_ context.Context, r *question.Row) (out *report.AtlasRow, err error) {
	out = &report.AtlasRow{Setting: r.Setting, Bounds: r.Figure.Bounds, Command: "lockproof atlas --server " + cmp.Or(a.server.Name, "amqp"), Figures: r.Figure.Said()}
	if a.Measure != nil {
		out.Same, err = a.Measure(r.Figure.Name)
	}
	return out, err
}

// visit explores a row's configuration.
func (a *atlas) visit(ctx context.Context, r *question.Row) (*report.AtlasRow, error) {
	e, err := a.exploration(&r.Configuration)
	if err != nil {
		return nil, err
	}
	e.Options = slices.Concat(slices.DeleteFunc(slices.Clone(a.Options), func(o [2]string) bool { return named(e.Options, o[0]) }), e.Options)
	e.Search.First = r.First
	for _, p := range r.Judge {
		e.Properties = e.Properties.With(p)
	}
	x, err := explore.Run(ctx, e)
	if err != nil {
		return nil, err
	}
	out := &report.AtlasRow{
		Setting: r.Setting, Bounds: e.String(), Command: e.Command(), Space: x.Report.Space, Ends: ends(x.Search.Coverage.Ends),
		Cost: a.cost(costly(e, r.Options)), Seen: mishaps(x.Report.Space.Covered),
	}
	for _, res := range x.Report.Properties {
		verdict, _ := x.Report.Verdict(&res)
		v := report.AtlasVerdict{Property: res.Property, Verdict: verdict}
		if t := x.Traces[res.Property]; t != nil {
			v = x.Lost(res.Property)
			if v.Real, err = a.confirm(t, e.Target, res.Property); err != nil {
				return nil, err
			}
		}
		out.Verdicts = append(out.Verdicts, v)
	}
	if a.Measured > 0 {
		out.Answered = answers(x.Report.Space.Covered)
		if out.Same, err = a.same(ctx, costly(e, r.Options)); err != nil {
			return nil, err
		}
	}
	out.Counterexamples = x.Counterexamples(e.Command())
	return out, nil
}

// confirm repeats a violation on the real server and describes the result. It returns "" if there is no real server.
func (a *atlas) confirm(t *scenario.Trace, target *lock.Target, p property.Property) (string, error) {
	if a.Confirm == nil {
		return "", nil
	}
	v, _ := t.Violation(p)
	return a.Confirm(t, target, v)
}

// exploration returns the exploration of a configuration. The result lacks the options that all questions share; visit
// adds them.
func (a *atlas) exploration(c *question.Configuration) (explore.Exploration, error) {
	e := explore.Exploration{
		Target: cmp.Or(a.server.Reference(lock.Semaphore), a.server.References[0]), Options: c.Options, Workload: explore.Workload{
			Clients: c.Clients, Rounds: cmp.Or(c.Rounds, 1), Admins: c.Admins, Slots: c.Slots,
			Names: c.Names, Calls: c.Calls, AdminCalls: c.AdminCalls, Faults: c.Faults,
		},
		InTurn: c.InTurn,
		Search: search.Options{Reductions: search.AllReductions},
	}
	var err error
	if c.Target != "" {
		e.Target, err = engine.TargetNamed(c.Target)
	}
	return e, err
}

// named reports whether options contain an option with the given name.
func named(options [][2]string, name string) bool {
	return slices.ContainsFunc(options, func(o [2]string) bool { return o[0] == name })
}

// ends writes sets of slots as text, for example "{1,2}". Each is a set of slots that can exist when all calls have
// ended.
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

// mishaps returns the names in covered that describe an unwanted outcome of an operation, for example "add: busy".
func mishaps(covered []string) (out []string) {
	for _, name := range covered {
		_, how, _ := strings.Cut(name, ": ")
		if slices.Contains([]string{"gave-up", "withdrawn", "removed", "busy", "disconnected"}, how) {
			out = append(out, name)
		}
	}
	return out
}

// answers returns the names in covered that describe a server's reply, not the outcome of an operation.
func answers(covered []string) (out []string) {
	for _, name := range covered {
		if !strings.Contains(name, ": ") {
			out = append(out, name)
		}
	}
	return out
}

// same repeats drawn executions of a row on a real server, and says whether the replies are the same as in the
// simulation. If so, the row's costs hold on the real server as well. It returns "" without a real server.
func (a *atlas) same(ctx context.Context, e *explore.Exploration) (string, error) {
	if a.Agree == nil {
		return "", nil
	}
	var r sim.Runner
	source := sim.NewSource(sim.Space{Target: e.Target, Fixed: fixed(e)}, 1)
	executions, commands := 0, 0
	for i := 0; executions < a.Measured && i < 10*a.Measured; i++ {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		s := source.Scenario(i)
		t := r.Trace(e.Target, &s, 0)
		switch same, skipped, err := a.Agree(t, e.Target); {
		case err != nil:
			return "", err
		case skipped != "":
			continue
		case !same:
			return fmt.Sprintf("replies differ in execution %d", i), nil
		}
		executions++
		for k := range t.Steps {
			if t.Steps[k].Command != "" {
				commands++
			}
		}
	}
	if executions == 0 {
		return "none of the executions could be carried out", nil
	}
	return fmt.Sprintf("the same replies in %d executions, %d commands", executions, commands), nil
}

// costScenarios is the number of scenarios that are drawn to measure a row's costs.
const costScenarios = 2000

// cost returns the costs of operations with a row's options, measured in drawn scenarios.
func (a *atlas) cost(e *explore.Exploration) []report.EfficiencyRow {
	var r sim.Runner
	r.Costs = new(monitor.Costs)
	source := sim.NewSource(sim.Space{Target: e.Target, Fixed: fixed(e)}, 1)
	for i := range costScenarios {
		s := source.Scenario(i)
		r.Run(e.Target, &s)
	}
	return slices.DeleteFunc(engine.Efficiency(r.Costs, e.Target.Kind, property.Of(e.Target)), func(row report.EfficiencyRow) bool { return !includes(e, row.Operation) })
}

// includes reports whether some client or administrator of an exploration calls an operation. situation begins with the
// operation's name, for example "acquire, free".
func includes(e *explore.Exploration, situation string) bool {
	calls, admin := e.Called()
	called := func(o scenario.Operation) bool { return strings.HasPrefix(situation, o.Op.String()) }
	return e.Clients > 0 && slices.ContainsFunc(calls, called) || e.Admins > 0 && slices.ContainsFunc(admin, called)
}

// fixed returns the values of all options of an exploration, so that none of them is drawn.
func fixed(e *explore.Exploration) [][2]string {
	o, err := engine.OptionsOf(e.Target, e.Options)
	if err != nil {
		return e.Options // explore.Run has already returned this error
	}
	var out [][2]string
	for _, opt := range o.Table() {
		out = append(out, [2]string{opt.Name, o.Value(opt.Name)})
	}
	return out
}

// costly returns the exploration for measuring a row's costs. It has only the row's own options.
func costly(e explore.Exploration, options [][2]string) *explore.Exploration {
	e.Options = options
	return &e
}
