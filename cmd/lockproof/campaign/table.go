package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/explore"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
)

// Configuration is a configuration to explore. Every execution of it is visited.
type Configuration struct {
	Name    string   `json:"name,omitzero"` // name in the table; "" means a description of the other fields
	Options []string `json:"options,omitempty"`
	Size
	Faults Faults `json:"faults,omitzero"`
}

// Size is a workload: the numbers of clients and slots, and their calls.
type Size struct {
	Name       string `json:"name,omitzero"` // name in the table; "" means a description of the other fields
	Clients    int    `json:"clients,omitzero"`
	Rounds     int    `json:"rounds,omitzero"` // 0 means 1
	Admins     int    `json:"admins,omitzero"`
	Slots      int    `json:"slots,omitzero"`
	Calls      string `json:"calls,omitzero"`       // calls of each client, for example "acquire,release"
	AdminCalls string `json:"admin_calls,omitzero"` // calls of each administrator, for example "remove:1,add:1"
}

// Faults limit the number of faults of each kind in one execution.
type Faults struct {
	Crashes       int  `json:"crashes,omitzero"`
	Drops         int  `json:"drops,omitzero"`
	ChannelErrors int  `json:"channel_errors,omitzero"`
	Lost          int  `json:"lost,omitzero"`
	Restarts      int  `json:"restarts,omitzero"`
	Prompt        bool `json:"prompt,omitzero"` // the broker notices a dead connection at once
}

// Sweep is every combination of values of options, sizes and faults. The first value of each is the baseline, with
// which the others are compared.
type Sweep struct {
	Options []Axis   `json:"options,omitempty"`
	Sizes   []Size   `json:"sizes"`
	Faults  []Faults `json:"faults,omitempty"` // empty means no faults
}

// Axis is an option with the values that a sweep tries.
type Axis struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// Judge says what is judged in the configurations of a table.
type Judge struct {
	Properties []string `json:"properties,omitempty"`
	Strict     bool     `json:"strict,omitzero"`
	// Memory is the maximum memory of a search in MiB; 0 means 1024.
	Memory int `json:"memory,omitzero"`
}

const (
	tableShard   = 8 // default number of configurations in a shard
	tableMemory  = 1024
	mostRows     = 100_000
	faultsAxis   = "faults"
	sizeAxis     = "size"
	nameAxis     = "configuration"
	pipelineName = "pipeline"
)

// cell is a configuration of the table, with its value on each axis.
type cell struct {
	values []string
	explore.Exploration
}

// tableJob is a campaign over a table of configurations.
type tableJob struct {
	plan  *Plan
	found func(*histories.Counterexample)
	sweep report.Sweep // without the rows
	cells []cell
	rows  []*report.SweepRow // by index of the configuration; nil if it has not been visited yet
	given bool
	taken int
}

func (p *Plan) tableJob(o Options) (Job, error) {
	target, err := engine.TargetNamed(cmp.Or(p.Target.Name, "semaphore"))
	if err != nil {
		return nil, err
	}
	if p.Target.Exec != "" {
		return nil, errors.New("target: exec: configurations are explored of targets of ours; have sample for a command")
	}
	if len(p.Stop.Violation)+p.Stop.NoNewCoverage+p.Budget.Executions > 0 {
		return nil, errors.New("stop and budget: executions: a table has as many configurations as it has; leave them out")
	}
	j := &tableJob{plan: p, found: o.Found}
	applicable := property.Of(target)
	judged, err := properties(p.Judge.Properties, applicable)
	if err != nil {
		return nil, fmt.Errorf("judge: %w", err)
	}
	j.sweep = report.Sweep{
		Tool: engine.Version, Target: target.Name, Kind: target.Kind, Name: p.Name, Broker: lock.BackendOf(target).Simulated(), FailedAcquire: p.Judge.failedAcquire().String(),
	}
	for q := range property.Count {
		if cmp.Or(judged, applicable).Has(q) {
			j.sweep.Properties = append(j.sweep.Properties, q)
		}
	}
	if p.Sweep != nil {
		err = j.combine(target, p.Sweep)
	} else {
		err = j.list(target)
	}
	if err != nil {
		return nil, err
	}
	if len(j.cells) == 0 {
		return nil, errors.New("sweep: no combination of these values can be had")
	}
	j.sweep.Of, j.rows = len(j.cells), make([]*report.SweepRow, len(j.cells))
	for i := range j.cells {
		e := &j.cells[i].Exploration
		e.Properties, e.FailedAcquire = judged, p.Judge.failedAcquire()
		e.Search.Workers, e.Search.Memory, e.Search.Reductions = 1, int64(cmp.Or(p.Judge.Memory, tableMemory))<<20, search.AllReductions
	}
	return j, nil
}

func (j *Judge) failedAcquire() property.FailedAcquire {
	if j.Strict {
		return property.Strong
	}
	return property.Weak
}

// list makes a row for each listed configuration.
func (j *tableJob) list(target *lock.Target) error {
	j.sweep.Axes, j.sweep.Baseline = []string{nameAxis}, []string{""}
	for i := range j.plan.Configurations {
		c := &j.plan.Configurations[i]
		e, err := c.exploration(target)
		if err != nil {
			return fmt.Errorf("configuration %d: %w", i+1, err)
		}
		name := c.Name
		if name == "" {
			name = strings.Join(append([]string{e.String()}, c.Options...), ", ")
		}
		j.cells = append(j.cells, cell{[]string{name}, e})
	}
	return nil
}

// exploration returns the exploration of the configuration, after checking it.
func (c *Configuration) exploration(target *lock.Target) (e explore.Exploration, err error) {
	e = explore.Exploration{
		Target: target, Workload: explore.Workload{Clients: c.Clients, Rounds: cmp.Or(c.Rounds, 1), Admins: c.Admins, Slots: c.Slots, Faults: c.Faults.bounds()},
	}
	if e.Calls, err = explore.ParseCalls(c.Calls); err != nil {
		return e, fmt.Errorf("calls: %w", err)
	}
	if e.AdminCalls, err = explore.ParseCalls(c.AdminCalls); err != nil {
		return e, fmt.Errorf("admin_calls: %w", err)
	}
	for _, o := range c.Options {
		name, value, ok := strings.Cut(o, "=")
		if !ok {
			return e, fmt.Errorf("option %q: expected name=value", o)
		}
		e.Options = append(e.Options, [2]string{name, value})
	}
	// with this option, each step of an execution is one command
	if !slices.ContainsFunc(e.Options, func(o [2]string) bool { return o[0] == pipelineName }) {
		e.Options = append([][2]string{{pipelineName, "0"}}, e.Options...)
	}
	_, err = e.Bounds()
	return e, err
}

func (f *Faults) bounds() sim.FaultBounds {
	return sim.FaultBounds{
		Crashes: f.Crashes, Drops: f.Drops, ChannelErrors: f.ChannelErrors, Lost: f.Lost, Restarts: f.Restarts, Late: !f.Prompt,
	}
}

// combine makes a row for every combination. It omits combinations of incompatible options, and counts them.
func (j *tableJob) combine(target *lock.Target, s *Sweep) error {
	if len(s.Sizes) == 0 {
		return errors.New("sweep: sizes are missing: expected at least one, such as {\"clients\": 2, \"slots\": 1}")
	}
	faults := s.Faults
	if len(faults) == 0 {
		faults = []Faults{{}}
	}
	if err := j.name(s.Sizes); err != nil {
		return err
	}
	var axes []Axis
	for _, o := range s.Options {
		if len(o.Values) == 0 {
			return fmt.Errorf("sweep: option %s: expected at least one value", o.Name)
		}
		j.sweep.Axes, j.sweep.Baseline = append(j.sweep.Axes, o.Name), append(j.sweep.Baseline, o.Values[0])
		axes = append(axes, o)
	}
	j.sweep.Axes = append(j.sweep.Axes, sizeAxis, faultsAxis)
	j.sweep.Baseline = append(j.sweep.Baseline, s.Sizes[0].String(), faults[0].String())
	return combinations(axes, nil, func(values []string) error {
		c := Configuration{}
		o := lock.BackendOf(target).Defaults
		for i, v := range values {
			var err error
			if o, err = o.With(axes[i].Name, v); err != nil {
				return fmt.Errorf("sweep: %w", err)
			}
			c.Options = append(c.Options, axes[i].Name+"="+v)
		}
		if err := o.Check(); err != nil {
			j.leaveOut(err.Error(), len(s.Sizes)*len(faults))
			return nil
		}
		for _, size := range s.Sizes {
			for _, f := range faults {
				c.Size, c.Faults = size, f
				e, err := c.exploration(target)
				if err != nil {
					return fmt.Errorf("sweep: %s: %w", size, err)
				}
				j.cells = append(j.cells, cell{append(slices.Clone(values), size.String(), f.String()), e})
			}
		}
		return nil
	})
}

// name checks that all sizes of the table have different names. For each name that the user has chosen, it adds an
// explanation to the table.
func (j *tableJob) name(sizes []Size) error {
	seen := make(map[string]bool)
	for _, size := range sizes {
		if seen[size.String()] {
			return fmt.Errorf("sweep: two sizes are called %q: expected another name for each", size)
		}
		seen[size.String()] = true
		if size.Name != "" {
			j.sweep.Spelled = append(j.sweep.Spelled, report.Spelled{Value: size.Name, Words: size.words()})
		}
	}
	return nil
}

// combinations calls f with every combination of values, the last axis changing first.
func combinations(axes []Axis, values []string, f func([]string) error) error {
	if len(values) == len(axes) {
		return f(values)
	}
	for _, v := range axes[len(values)].Values {
		if err := combinations(axes, append(values[:len(values):len(values)], v), f); err != nil {
			return err
		}
	}
	return nil
}

func (j *tableJob) leaveOut(why string, n int) {
	i := slices.IndexFunc(j.sweep.LeftOut, func(c report.Count) bool { return c.Name == why })
	if i < 0 {
		i = len(j.sweep.LeftOut)
		j.sweep.LeftOut = append(j.sweep.LeftOut, report.Count{Name: why})
	}
	j.sweep.LeftOut[i].Number += n
}

// String is the size's name or, without a name, its description.
func (s Size) String() string { return cmp.Or(s.Name, s.words()) }

// words describes the size, for example "2 clients 1 slot".
func (s Size) words() string {
	out := []string{plural(s.Clients, "client")}
	if rounds := cmp.Or(s.Rounds, 1); rounds > 1 {
		out = append(out, plural(rounds, "round"))
	}
	if s.Admins > 0 {
		out = append(out, plural(s.Admins, "administrator"))
	}
	out = append(out, plural(s.Slots, "slot"))
	for _, calls := range []string{s.Calls, s.AdminCalls} {
		if calls != "" {
			out = append(out, calls)
		}
	}
	return strings.Join(out, ", ")
}

// String describes the faults in words.
func (f Faults) String() string {
	b := f.bounds()
	return b.String()
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func (j *tableJob) Batch() []Shard {
	if j.given {
		return nil
	}
	j.given = true
	return cut(len(j.cells), j.size())
}

// visited is the stored result of exploring a configuration.
type visited struct {
	States   int              `json:"states"`
	Cut      string           `json:"cut,omitempty"`
	Verdicts []report.Verdict `json:"verdicts"`
}

func (j *tableJob) Work(ctx context.Context, s Shard) (any, error) {
	var out []visited
	for i := s.From; i < s.To; i++ {
		v, err := j.visit(ctx, j.cells[i].Exploration)
		if err != nil {
			return nil, fmt.Errorf("configuration %d: %w", i+1, err)
		}
		out = append(out, *v)
	}
	return out, nil
}

// visit explores a configuration. It does not shorten counterexamples; Conclude does that once for each property.
func (j *tableJob) visit(ctx context.Context, e explore.Exploration) (*visited, error) {
	e.Brief = true
	x, err := explore.Run(ctx, e)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	v := &visited{States: x.Report.Space.States, Cut: x.Report.Space.Cut}
	for _, p := range j.sweep.Properties {
		verdict := report.Skipped
		if r := x.Report.Result(p); r != nil {
			verdict, _ = x.Report.Verdict(r)
		}
		v.Verdicts = append(v.Verdicts, verdict)
	}
	return v, nil
}

func (j *tableJob) Holds(s Shard) error { return s.among(len(j.cells), j.size()) }

// size is the number of configurations in a shard.
func (j *tableJob) size() int { return cmp.Or(j.plan.Shard, tableShard) }

// verdicts are the possible verdicts of a row.
var verdicts = []report.Verdict{report.Proved, report.Passed, report.Violated, report.Undecided, report.Skipped}

func (j *tableJob) Read(s Shard, result []byte) (any, error) {
	var rows []visited
	if err := json.Unmarshal(result, &rows, json.RejectUnknownMembers(true)); err != nil {
		return nil, err
	}
	if len(rows) != s.To-s.From {
		return nil, fmt.Errorf("it has %d configurations, expected %d", len(rows), s.To-s.From)
	}
	for i, v := range rows {
		if len(v.Verdicts) != len(j.sweep.Properties) {
			return nil, fmt.Errorf("configuration %d has %d verdicts, expected %d", s.From+i+1, len(v.Verdicts), len(j.sweep.Properties))
		}
		for _, verdict := range v.Verdicts {
			if !slices.Contains(verdicts, verdict) || v.Cut != "" && verdict == report.Proved {
				return nil, fmt.Errorf("configuration %d is %q, and cut short by %q: there is no such verdict", s.From+i+1, verdict, v.Cut)
			}
		}
		if v.States < 1 || v.States > mostExecutions || len(v.Cut) > longestCut {
			return nil, fmt.Errorf("configuration %d has %d states, and was cut short by %d bytes", s.From+i+1, v.States, len(v.Cut))
		}
	}
	return rows, nil
}

// longestCut is the maximum length, in bytes, of the text that says why a search was cut short.
const longestCut = 1000

func (j *tableJob) News(result any) bool {
	known := j.violated()
	for _, v := range result.([]visited) {
		for k, p := range j.sweep.Properties {
			if v.Verdicts[k] == report.Violated && !slices.Contains(known, p.String()) {
				return true
			}
		}
	}
	return false
}

func (j *tableJob) Confirm(context.Context, any, bool) (string, error) { return "", nil }

// Differs compares stored verdicts with those of repeating the shard. It ignores configurations whose search was cut
// short for lack of memory in one of the two: such a search says less, but nothing false.
func (j *tableJob) Differs(result, own any) error {
	mine := own.([]visited)
	for i, v := range result.([]visited) {
		if v.Cut == "" && mine[i].Cut == "" {
			if err := alike(v, mine[i]); err != nil {
				return fmt.Errorf("configuration %d of the shard: %w", i+1, err)
			}
		}
	}
	return nil
}

func (j *tableJob) Take(s Shard, result any) {
	for i, v := range result.([]visited) {
		c := &j.cells[s.From+i]
		j.rows[s.From+i] = &report.SweepRow{Values: c.values, Command: c.Command(), States: v.States, Cut: v.Cut, Verdicts: v.Verdicts}
		j.taken++
	}
}

func (j *tableJob) Enough() string { return "" }

func (j *tableJob) Progress() Progress {
	size := j.size()
	return Progress{Executions: j.taken, Of: len(j.cells), Shards: (len(j.cells) + size - 1) / size, Unit: "configurations", Violated: j.violated()}
}

// violated returns the names of the properties that some configuration violates.
func (j *tableJob) violated() (names []string) {
	for k, p := range j.sweep.Properties {
		if slices.ContainsFunc(j.rows, func(r *report.SweepRow) bool { return r != nil && r.Verdicts[k] == report.Violated }) {
			names = append(names, p.String())
		}
	}
	return names
}

// table returns the table with the rows of all configurations visited so far.
func (j *tableJob) table() *report.Sweep {
	s := j.sweep
	s.Build, s.Plan = described(j.plan)
	for _, r := range j.rows {
		if r != nil {
			s.Rows = append(s.Rows, *r)
		}
	}
	return &s
}

// described returns lockproof's build and the plan's text, for the report.
func described(p *Plan) (built, text string) {
	built, err := build()
	if err != nil { // the build is unknown
		built = ""
	}
	data, err := json.Marshal(p, json.Deterministic(true), jsontext.WithIndent("  "))
	checked(err)
	return built, string(data)
}

// Conclude makes a counterexample for each violated property. It takes the simplest configuration that violates the
// property.
func (j *tableJob) Conclude(ctx context.Context) (*Outcome, error) {
	out := &Outcome{Table: j.table(), Counterexamples: make(map[property.Property]*histories.Counterexample)}
	for _, p := range out.Table.Properties {
		row := out.Table.Simplest(p)
		if row < 0 || ctx.Err() != nil {
			continue
		}
		i := slices.IndexFunc(j.cells, func(c cell) bool { return slices.Equal(c.values, out.Table.Rows[row].Values) })
		if err := j.example(ctx, out, p, row, j.cells[i].Exploration); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// example explores a configuration again, to find the shortest counterexample of p.
func (j *tableJob) example(ctx context.Context, out *Outcome, p property.Property, row int, e explore.Exploration) error {
	x, err := explore.Run(ctx, e)
	if err != nil {
		return err
	}
	for _, ce := range x.Counterexamples(e.Command()) {
		if ce.Property != p {
			continue
		}
		if j.found != nil {
			j.found(ce)
		}
		out.Counterexamples[p] = ce
		out.Table.Examples = append(out.Table.Examples, report.SweepExample{AtlasVerdict: x.Lost(p), Row: row})
	}
	return nil
}

func (j *tableJob) Sofar() *Outcome { return &Outcome{Table: j.table()} }
