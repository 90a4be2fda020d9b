package report

import (
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/histories/draw"
	"github.com/lockproof/lockproof/histories/safetext"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/property"
)

var sweepTemplate = template.Must(template.ParseFS(pageFiles, "page/sweep.html", "page/made.html"))

// sweepData is the data for the HTML template of a table of configurations.
type sweepData struct {
	*Sweep
	Style              template.CSS
	Configurations     string
	How                string
	Shortfall, Without string
	Cite               string
	Varied             []sweepAxisData
	Judged             []sweepPropertyData
	Choices            []sweepChoiceData
	Short              []string // names of the contested properties, for narrow columns
	Proved, Untested   string   // names of the properties that are not contested
	Table              []sweepRowData
	Made               madeData
}

// sweepAxisData describes one axis, which is a dimension in which configurations differ.
type sweepAxisData struct {
	Name   string
	Values []sweepValueData
}

type sweepValueData struct {
	Value, Words string
	Baseline     bool
}

type sweepPropertyData struct {
	Property                              property.Property
	Sentence                              string
	Proved, Violated, Undecided, Untested string // numbers of configurations with the verdict; "" for 0
	Causes                                []string
	Example                               *sweepExampleData
}

type sweepExampleData struct {
	SweepExample
	Configuration string
	Length        string // number of steps of the execution, in words
	Repeat        string
	Diagram       template.HTML
}

type sweepChoiceData struct {
	Axis, Value string
	Baseline    bool
	First       bool // the value is the first of its axis
	Rows        string
	Lost        []sweepShare
}

type sweepShare struct {
	Class, Text string
}

type sweepRowData struct {
	Number int
	*SweepRow
	Chosen, Marks []sweepShare
}

// WriteSweepPage writes a table of configurations as one self-contained HTML page.
func WriteSweepPage(w io.Writer, s *Sweep) error {
	css, err := pageFiles.ReadFile("page/page.css")
	if err != nil {
		return err
	}
	data := sweepData{
		Sweep: s, Style: template.CSS(css), Configurations: style.Plural(len(s.Rows), "configuration"),
		Made: (&Made{s.Tool, s.At, s.Command, s.Axes, s.Broker}).data(),
		How:  strings.Join(s.how(), "; "), Shortfall: s.shortfall(), Without: s.leftOut(), Cite: s.cite(),
	}
	for _, p := range s.Properties {
		data.Judged = append(data.Judged, s.judgedData(p))
	}
	proved, untested := s.uncontested()
	data.Proved, data.Untested = strings.Join(proved, " · "), strings.Join(untested, " · ")
	columns := s.contested()
	for _, k := range columns {
		data.Short = append(data.Short, s.Properties[k].String())
	}
	for axis := range s.Axes {
		effects := s.Effects(axis)
		if len(effects) == len(s.Rows) && len(effects) > 1 { // the axis only names the configurations
			continue
		}
		data.Varied = append(data.Varied, s.varied(axis, effects))
		data.Choices = append(data.Choices, s.choices(axis, effects, columns)...)
	}
	for i := range s.Rows {
		data.Table = append(data.Table, s.rowData(i, columns))
	}
	return sweepTemplate.Execute(safetext.NewWriter(w), data)
}

// cite identifies the table in one line, so that it can be cited.
func (s *Sweep) cite() string {
	out := fmt.Sprintf("lockproof %s", s.Tool)
	if s.Build != "" { // a commit, or a hash of the program
		out += " (" + s.Build + ")"
	}
	return fmt.Sprintf("%s: table “%s”, %s of %s, %s, visited exhaustively", out, s.Name, style.Plural(len(s.Rows), "configuration"), s.Target, style.Plural(s.States(), "state"))
}

func (s *Sweep) varied(axis int, effects []Effect) sweepAxisData {
	d := sweepAxisData{Name: s.Axes[axis]}
	for _, e := range effects {
		d.Values = append(d.Values, sweepValueData{e.Value, s.spelled(e.Value), e.Value == s.Baseline[axis]})
	}
	return d
}

// rowData describes a configuration as a row of the page's table. Values of the baseline are in a soft colour.
func (s *Sweep) rowData(i int, columns []int) sweepRowData {
	r := &s.Rows[i]
	d := sweepRowData{Number: i + 1, SweepRow: r}
	for axis, v := range r.Values {
		class := ""
		if v == s.Baseline[axis] {
			class = "d"
		}
		d.Chosen = append(d.Chosen, sweepShare{class, v})
	}
	for _, k := range columns {
		d.Marks = append(d.Marks, sweepMarks[r.Verdicts[k]])
	}
	return d
}

// sweepMarks are the marks for verdicts in narrow columns.
var sweepMarks = map[Verdict]sweepShare{
	Proved: {"g", "✓"}, Violated: {"r", "✗"}, Undecided: {"y", "?"}, Passed: {"y", "?"}, Skipped: {"d", "–"},
}

// some writes a number, and "" for 0.
func some(n int) string {
	if n == 0 {
		return ""
	}
	return style.Grouped(n)
}

func (s *Sweep) judgedData(p property.Property) sweepPropertyData {
	tally := s.Tally(p)
	d := sweepPropertyData{
		Property: p, Sentence: property.Properties[p].Sentence, Proved: some(tally[Proved]), Violated: some(tally[Violated]),
		Undecided: some(tally[Undecided] + tally[Passed]), Untested: some(tally[Skipped]),
	}
	for _, c := range s.Causes(p) {
		d.Causes = append(d.Causes, c.String())
	}
	for _, e := range s.Examples {
		if e.Property == p {
			// This package has drawn the diagram, with every text escaped.
			r := &s.Rows[e.Row]
			d.Example = &sweepExampleData{e, s.configuration(r), e.inSteps(), r.Command, template.HTML(draw.SVG(e.Trace, ""))}
		}
	}
	return d
}

// configuration describes a configuration by the values in which it differs from the baseline.
func (s *Sweep) configuration(r *SweepRow) string {
	var out []string
	for _, axis := range s.changed(r) {
		out = append(out, s.said(axis, r.Values[axis]))
	}
	if len(out) == 0 {
		return "the baseline"
	}
	return strings.Join(out, ", ")
}

// choices has a row for each value on an axis, with the number of violations of each contested property. If all values
// have the same number, it is in a soft colour.
func (s *Sweep) choices(axis int, effects []Effect, columns []int) (out []sweepChoiceData) {
	percent := func(e Effect, k int) string { return fmt.Sprintf("%d %%", (100*e.Lost[k]+e.Rows/2)/e.Rows) }
	for i, e := range effects {
		d := sweepChoiceData{Axis: s.Axes[axis], Value: e.Value, Baseline: e.Value == s.Baseline[axis], Rows: style.Grouped(e.Rows), First: i == 0}
		for _, k := range columns {
			share := sweepShare{"d", "·"}
			if e.Lost[k] > 0 {
				share.Text = percent(e, k)
			}
			if slices.ContainsFunc(effects, func(o Effect) bool { return e.Lost[k]*o.Rows > o.Lost[k]*e.Rows }) {
				share.Class = "r"
			}
			d.Lost = append(d.Lost, share)
		}
		out = append(out, d)
	}
	return out
}
