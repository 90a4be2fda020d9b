package report_test

import (
	"bytes"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/internal/pinned"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/own"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	_ "github.com/lockproof/lockproof/sim/amqp"
	_ "github.com/lockproof/lockproof/sim/amqp/consumption"
	_ "github.com/lockproof/lockproof/sim/consul"
	_ "github.com/lockproof/lockproof/sim/redis"
	_ "github.com/lockproof/lockproof/sim/sql"
)

// TestPinned writes reports, pages, sweeps, atlases and comparisons of random content in every form, and compares the
// result with a file: the lengths, and some verdicts. Meaningful examples are in testdata/histories.
func TestPinned(t *testing.T) {
	f := pinned.New(t)
	for _, b := range []struct {
		name   string
		inputs int
		tell   func(d *dice, s *pinned.Seen)
	}{{"reports", 600, tellReport}, {"pages", 150, tellPage}, {"sweeps", 360, tellSweep}, {"atlases", 150, tellAtlas}, {"comparisons", 360, tellComparison}} {
		f.Block(b.name, b.inputs, func(i int, s *pinned.Seen) {
			b.tell(&dice{i: i, Rand: rand.New(rand.NewPCG(7, uint64(i)))}, s)
		})
	}
	f.Compare("testdata/pinned.txt")
}

// put writes a value in a form, and records the output, its length and the error.
func put[T any](s *pinned.Seen, form string, write func(io.Writer, T) error, v T) {
	var b bytes.Buffer
	err := write(&b, v)
	s.Write(b.Bytes())
	s.Printf("%v\n", err)
	s.Add("lines of "+form, bytes.Count(b.Bytes(), []byte("\n")))
	if n := b.Len() / 2; n > 0 && write(&limited{n}, v) == nil {
		s.Count("without an error when there is room for half of it")
	}
}

// limited is a writer that fails once its room is used up.
type limited struct{ room int }

func (l *limited) Write(b []byte) (int, error) {
	if l.room -= len(b); l.room < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}

func styled[T any](d *dice, write func(io.Writer, T, style.Style) error) func(io.Writer, T) error {
	st := style.Style{Width: []int{0, 60, 80, 100, 140}[d.IntN(5)], Color: d.IntN(3) == 0}
	return func(w io.Writer, v T) error { return write(w, v, st) }
}

func tellReport(d *dice, s *pinned.Seen) {
	r := d.report()
	put(s, "text", styled(d, report.WriteCard), r)
	put(s, "JSON", report.WriteJSON, r)
	put(s, "JUnit", report.WriteJUnit, r)
	put(s, "Markdown", report.WriteSummary, r)
	file := d.words()
	put(s, "SARIF", func(w io.Writer, r *report.Report) error { return report.WriteSARIF(w, r, file) }, r)
	put(s, "annotations", func(w io.Writer, r *report.Report) error { return report.WriteAnnotations(w, r, file) }, r)
	tell := s.Printf
	if d.i < 8 {
		tell = s.Rowf
	}
	tell("%d: outcome %v, judged %v, missing %q", d.i, r.Outcome(), r.Judged(), r.Missing())
	for i := range r.Properties {
		p := &r.Properties[i]
		verdict, why := r.Verdict(p)
		s.Count(string(verdict))
		tell("  %s: %s %q, owed %v, found %v", p.Property, verdict, why, r.Owes(p), r.Result(p.Property) == p)
	}
}

func tellPage(d *dice, s *pinned.Seen) {
	p := &report.Page{Title: d.words(), Text: d.words(), Status: d.words()}
	if d.IntN(3) > 0 {
		p.Report = d.report()
	}
	for range d.IntN(3) {
		e := report.Execution{Trace: d.trace(), Command: d.words(), Again: d.words()}
		if d.IntN(3) == 0 {
			e.Well, e.Parts = d.trace(), d.IntN(5)
		}
		e.File, e.Sought = d.words(), d.IntN(2) == 0
		e.Prefix = d.prefix(&e.Trace.History)
		p.Executions = append(p.Executions, e)
	}
	for range d.IntN(3) {
		h := &d.trace().History
		p.Histories = append(p.Histories, report.History{History: h, Prefix: d.prefix(h)})
	}
	if d.IntN(3) == 0 {
		p.Explorer = &report.Explorer{Wasm: []byte(d.words()), Runtime: []byte(d.words()), Start: d.words()}
		if d.IntN(2) == 0 {
			p.Explorer.Graph = &report.StateGraph{Nodes: []report.StateNode{{}, {Depth: 1, Broken: true}}, Edges: []report.StateEdge{{To: 1}}, Cut: d.IntN(2) == 0}
		}
	}
	d.fill(reflect.ValueOf(&p.Made).Elem())
	put(s, "HTML", report.WritePage, p)
}

func tellSweep(d *dice, s *pinned.Seen) {
	w := new(report.Sweep)
	d.fill(reflect.ValueOf(w).Elem())
	w.Axes, w.Baseline = []string{"crashes", "slots", "restart"}[:1+d.IntN(3)], []string{"0", "1", "first"}
	w.Baseline = w.Baseline[:len(w.Axes)]
	w.Properties = []property.Property{property.MutualExclusion, property.Progress, property.NoLeak}[:1+d.IntN(3)]
	w.Rows, w.Examples = nil, nil
	for range d.IntN(12) {
		row := report.SweepRow{Command: d.words(), States: d.IntN(3000)}
		if d.IntN(5) == 0 {
			row.Cut = d.words()
		}
		for a := range w.Axes {
			row.Values = append(row.Values, [][]string{{"0", "1", "2"}, {"1", "2"}, {"first", "stay"}}[a][d.IntN(2)])
		}
		for range w.Properties {
			row.Verdicts = append(row.Verdicts, verdicts[d.IntN(3)])
		}
		w.Rows = append(w.Rows, row)
	}
	w.Of = len(w.Rows) + d.IntN(2)
	for _, p := range w.Properties {
		s.Printf("%d %d\n", w.Simplest(p), len(w.Causes(p)))
		if at := w.Simplest(p); at >= 0 {
			s.Count("lost")
			v := report.AtlasVerdict{Property: p, Verdict: report.Violated, Steps: d.IntN(20), Least: d.IntN(2) == 0, Detail: d.words(), Trace: d.trace(), Real: d.words()}
			w.Examples = append(w.Examples, report.SweepExample{AtlasVerdict: v, Row: at, File: d.words(), Command: d.words()})
		}
	}
	for a := range w.Axes {
		s.Printf("%d ", len(w.Effects(a)))
	}
	s.Printf("%v %d\n", w.Complete(), w.States())
	put(s, "text", styled(d, report.WriteSweep), w)
	put(s, "JSON", report.WriteSweepJSON, w)
	put(s, "HTML", report.WriteSweepPage, w)
}

func tellAtlas(d *dice, s *pinned.Seen) {
	a := new(report.Atlas)
	d.fill(reflect.ValueOf(a).Elem())
	s.Printf("%v %d ", a.Complete(), len(a.Counterexamples()))
	put(s, "text", styled(d, report.WriteAtlas), a)
	put(s, "JSON", report.WriteAtlasJSON, a)
	put(s, "Markdown", report.WriteAtlasMarkdown, a)
	put(s, "HTML", report.WriteAtlasPage, a)
}

func tellComparison(d *dice, s *pinned.Seen) {
	c := new(report.Comparison)
	d.fill(reflect.ValueOf(c).Elem())
	c.Faults = []string{"none", "crash", "drop"}[:1+d.IntN(3)]
	for i := range c.Rows {
		row := &c.Rows[i]
		row.Faults = row.Faults[:min(len(row.Faults), len(c.Faults))]
		for k := range row.Faults {
			row.Faults[k].Fault = c.Faults[k]
		}
		for k := range row.Cost {
			row.Cost[k].Operation = monitor.CostClass(d.IntN(12)).Of(row.Kind)
		}
		if m := row.Real; m != nil {
			for k := range m.Operations {
				m.Operations[k].Operation = []string{"acquire", "verify", "refresh", "release"}[d.IntN(4)]
			}
			for k := range m.Loads {
				m.Loads[k].Clients = append(c.Clients, 1)[d.IntN(len(c.Clients)+1)]
			}
		}
		s.Printf("%v ", row.Holds())
	}
	s.Printf("%q\n", c.Losers())
	put(s, "text", styled(d, report.WriteComparison), c)
	put(s, "JSON", report.WriteComparisonJSON, c)
	put(s, "Markdown", report.WriteComparisonMarkdown, c)
	put(s, "HTML", report.WriteComparisonPage, c)
}

var (
	modes    = []report.Mode{report.Sampled, report.Visited, report.Stressed, report.Replayed, report.Recorded}
	verdicts = []report.Verdict{report.Passed, report.Violated, report.Proved, report.Suspected, report.Undecided, report.Skipped}
	words    = []string{
		"lock", "slots", "two clients", "1,000", "=", "-o", "jobs", "ä", "<b>", "&", "\x1b[31m", "\n", "]]>", "\"", "retries=0", "a rather long word of several",
		"counterexamples/no-leak.json", "x", "\t", "|",
	}
)

// dice draws random content for reports.
type dice struct {
	*rand.Rand
	i int // number of the input
}

func (d *dice) words() (text string) {
	for range d.IntN(4) * d.IntN(4) {
		text += words[d.IntN(len(words))] + " "
	}
	return text
}

func (d *dice) report() *report.Report {
	r := new(report.Report)
	d.fill(reflect.ValueOf(r).Elem())
	for i := range r.Properties { // no property may occur twice
		r.Properties[i].Property = property.Property((int(r.Properties[0].Property) + i) % int(property.NoCrash+1))
	}
	return r
}

// traces are random executions of some targets of each backend.
var traces = sync.OnceValue(func() (all []*scenario.Trace) {
	backends := lock.Backends()
	for i := range 60 {
		var r sim.Runner
		targets := backends[i%len(backends)].Targets()
		target := targets[i*7%len(targets)]
		drawn := sim.NewSource(sim.Space{Target: target}, 61).Scenario(i)
		all = append(all, r.Trace(target, &drawn, property.Weak))
	}
	return all
})

// prefix invents an explained prefix of a history.
func (d *dice) prefix(h *history.History) *linear.Prefix {
	p := &linear.Prefix{Events: d.IntN(len(h.Events) + 1), Why: d.words()}
	for i := range p.Events {
		if h.Events[i].Type == history.Invoke && d.IntN(3) > 0 {
			p.Effects = append(p.Effects, linear.Effect{Invocation: i, At: float64(i) + 0.5, What: d.words()})
		}
	}
	return p
}

func (d *dice) trace() *scenario.Trace { return traces()[d.IntN(len(traces()))] }

// fill fills a value at random. Numbers are mostly small and often 0, and strings are often empty.
func (d *dice) fill(v reflect.Value) {
	switch v.Interface().(type) {
	case report.Mode:
		v.Set(reflect.ValueOf(modes[d.IntN(len(modes))]))
	case report.Verdict:
		v.Set(reflect.ValueOf(verdicts[d.IntN(len(verdicts))]))
	case property.Property:
		v.Set(reflect.ValueOf(property.Property(d.IntN(int(property.NoCrash + 1)))))
	case property.Evidence:
		v.Set(reflect.ValueOf(property.Evidence(d.IntN(3))))
	case property.Set:
		few := d.Uint32()
		v.Set(reflect.ValueOf(property.Set(few&(few>>11)) & (1<<(property.NoCrash+1) - 1)))
	case lock.Kind:
		v.Set(reflect.ValueOf(lock.Kind(d.IntN(3))))
	case time.Duration:
		v.Set(reflect.ValueOf(time.Duration(d.IntN(3)*d.IntN(100_000)) * time.Millisecond))
	case *scenario.Trace:
		v.Set(reflect.ValueOf(d.trace()))
	case []*histories.Counterexample, *histories.Counterexample, *own.Property:
	case histories.Tries:
		of := d.IntN(4)
		v.Set(reflect.ValueOf(histories.Tries{Shown: d.IntN(of + 1), Of: of}))
	case report.Distribution:
		all := make([]time.Duration, d.IntN(3)*d.IntN(40))
		for i := range all {
			all[i] = time.Duration(d.IntN(1<<(1+d.IntN(34)))) * time.Nanosecond
		}
		v.Set(reflect.ValueOf(report.NewDistribution(all)))
	case report.Spread:
		var s, other report.Spread
		for range d.IntN(4) {
			s.Add(d.IntN(9))
			if d.IntN(3) == 0 {
				other.Add(d.IntN(20))
			}
		}
		s.Merge(other)
		v.Set(reflect.ValueOf(s))
	case time.Time:
		if d.IntN(2) == 0 {
			v.Set(reflect.ValueOf(time.Unix(int64(d.IntN(2_000_000_000)), 0).UTC()))
		}
	default:
		d.fillKind(v)
	}
}

func (d *dice) fillKind(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(d.words())
	case reflect.Bool:
		v.SetBool(d.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64([]int{0, 1, 2, d.IntN(30), d.IntN(5000), d.IntN(10_000_000)}[d.IntN(6)]))
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(uint64(d.IntN(5)))
	case reflect.Float64:
		v.SetFloat(float64(d.IntN(64)) / 8) // a multiple of 1/8 is exact on every machine
	case reflect.Struct:
		seed := d.Uint64() // with a seed for each field, adding a field changes no other
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				name := fnv.New64a()
				_, _ = io.WriteString(name, v.Type().Field(i).Name) // never fails: it writes to memory
				(&dice{rand.New(rand.NewPCG(seed, name.Sum64())), d.i}).fill(v.Field(i))
			}
		}
	case reflect.Pointer:
		if d.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			d.fill(v.Elem())
		}
	case reflect.Slice:
		for range d.IntN(4) {
			e := reflect.New(v.Type().Elem()).Elem()
			d.fill(e)
			v.Set(reflect.Append(v, e))
		}
	}
}
