package report

import (
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/lockproof/lockproof/histories/draw"
	"github.com/lockproof/lockproof/histories/safetext"
	"github.com/lockproof/lockproof/model/property"
)

var sweepTemplate = template.Must(template.ParseFS(pageFiles, "page/sweep.html"))

// sweepData is what the template sees.
type sweepData struct {
	*Sweep
	Style              template.CSS
	How                string
	Shortfall, Without string
	Judged             []sweepPropertyData
	Choices            []sweepChoiceData
	Short              []string // the properties' names, as the heads of narrow columns
	Table              []sweepRowData
}

type sweepPropertyData struct {
	Property                              property.Property
	Sentence                              string
	Proved, Violated, Undecided, Untested int
	Causes                                []string
	Example                               *sweepExampleData
}

type sweepExampleData struct {
	SweepExample
	Configuration string
	Repeat        string
	Diagram       template.HTML
}

type sweepChoiceData struct {
	Axis, Value string
	Baseline    bool
	Rows        int
	Lost        []sweepShare
}

type sweepShare struct {
	Class, Text string
}

type sweepRowData struct {
	Number int
	*SweepRow
	Marks []sweepShare
}

// WriteSweepPage writes a table of configurations as one HTML page that needs nothing else.
func WriteSweepPage(w io.Writer, s *Sweep) error {
	style, err := pageFiles.ReadFile("page/page.css")
	if err != nil {
		return err
	}
	data := sweepData{
		Sweep: s, Style: template.CSS(style), How: strings.Join(s.how(), "; "), Shortfall: s.shortfall(), Without: s.leftOut(),
	}
	for _, p := range s.Properties {
		data.Short = append(data.Short, p.String())
		data.Judged = append(data.Judged, s.judgedData(p))
	}
	for axis := range s.Axes {
		data.Choices = append(data.Choices, s.choices(axis)...)
	}
	for i := range s.Rows {
		d := sweepRowData{Number: i + 1, SweepRow: &s.Rows[i]}
		for _, v := range s.Rows[i].Verdicts {
			d.Marks = append(d.Marks, sweepMarks[v])
		}
		data.Table = append(data.Table, d)
	}
	return sweepTemplate.Execute(safetext.NewWriter(w), data)
}

// sweepMarks are verdicts in a narrow column.
var sweepMarks = map[Verdict]sweepShare{
	Proved: {"g", "✓"}, Violated: {"r", "✗"}, Undecided: {"y", "?"}, Passed: {"y", "?"}, Skipped: {"d", "–"},
}

func (s *Sweep) judgedData(p property.Property) sweepPropertyData {
	tally := s.Tally(p)
	d := sweepPropertyData{
		Property: p, Sentence: property.Properties[p].Sentence, Proved: tally[Proved], Violated: tally[Violated],
		Undecided: tally[Undecided] + tally[Passed], Untested: tally[Skipped],
	}
	for _, c := range s.Causes(p) {
		d.Causes = append(d.Causes, c.String())
	}
	for _, e := range s.Examples {
		if e.Property == p {
			// The diagram is what this package drew itself, with every text escaped.
			r := &s.Rows[e.Row]
			d.Example = &sweepExampleData{e, s.configuration(r), r.Command, template.HTML(draw.SVG(e.Trace))}
		}
	}
	return d
}

// configuration is a configuration in words: what is not at the baseline.
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

func (s *Sweep) choices(axis int) (out []sweepChoiceData) {
	for _, e := range s.Effects(axis) {
		d := sweepChoiceData{Axis: s.Axes[axis], Value: e.Value, Baseline: e.Value == s.Baseline[axis], Rows: e.Rows}
		for _, n := range e.Lost {
			share := sweepShare{"d", "·"}
			if n > 0 {
				share = sweepShare{"r", fmt.Sprintf("%d %%", (100*n+e.Rows/2)/e.Rows)}
			}
			d.Lost = append(d.Lost, share)
		}
		out = append(out, d)
	}
	return out
}
