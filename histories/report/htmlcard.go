package report

import (
	"html/template"
	"maps"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/histories/style"
)

// cardData is the card (the table of verdicts) on an HTML page. It is like the terminal's, but properties link to
// executions.
type cardData struct {
	Doc, Ran, With string
	Interrupted    bool
	Total, Rest    template.HTML
	Rows           []cardRow
	Skipped        []cardSkipped
}

type cardRow struct {
	Asked, Answer   string // question of the part that begins here, and its answer
	Class, Verdict  string // CSS class and text of the verdict
	Property, Link  string
	Checked, Remark string
	Detail, Where   string
	Errors          []string
	Command         string
}

// cardSkipped is a group of properties that were skipped for the same reason.
type cardSkipped struct {
	Properties, Reason string
}

// pageCard is the width of the card's tables on a page, in characters.
const pageCard = 100

// newCardData makes the card for a report. Properties link to the given executions. recorded says that the page shows a
// recorded history.
func newCardData(r *Report, executions []executionData, recorded bool) *cardData {
	s := style.Style{Width: pageCard}
	d := &cardData{Doc: r.Doc, Ran: strings.Join(howMuch(r), " · "), With: strings.Join(r.Fixed, ", "), Interrupted: r.Interrupted}
	together := skippedTogether(r)
	var last part
	for _, p := range r.ordered() {
		if together[p.Skip] != nil && p.Violation == nil {
			continue
		}
		row := newCardRow(r, p, executions, recorded)
		if now := partOf(p); r.Contract != nil && now != last {
			last = now
			row.Asked, row.Answer = now.question(), r.answer(now)
		}
		d.Rows = append(d.Rows, row)
	}
	for _, reason := range slices.Sorted(maps.Keys(together)) {
		d.Skipped = append(d.Skipped, cardSkipped{strings.Join(together[reason], ", "), reason})
	}
	d.Total = template.HTML(coloured(append(cardTotal(r), cardMissing(r, s)...)))
	var rest []style.Line
	for _, part := range [][]style.Line{r.Earlier.card(s), cardSpace(r, s), cardViews(r, s), cardRuns(r, s), cardEfficiency(r, s), cardNotes(r, s)} {
		if len(part) > 0 && len(rest) > 0 {
			rest = append(rest, nil)
		}
		rest = append(rest, part...)
	}
	d.Rest = template.HTML(coloured(rest))
	return d
}

func newCardRow(r *Report, p *PropertyResult, executions []executionData, recorded bool) cardRow {
	verdict, _ := r.Verdict(p)
	mark := verdictMarks[verdict]
	row := cardRow{Class: colourClasses[mark.Colour], Verdict: mark.Text, Property: p.Name()}
	row.Remark, _ = remark(r, p)
	if verdict != Skipped {
		row.Checked = style.Grouped(p.Checked)
	}
	if f := p.Violation; f != nil {
		row.Detail, row.Where, row.Errors, row.Command = f.Detail, r.where(p), f.Errors, f.Command
		if f.Known != nil {
			row.Errors = append(slices.Clone(f.Errors), r.known(p))
		}
		if row.Link = linkTo(executions, row.Property); row.Link == "" && recorded {
			row.Link = "#history"
		}
	}
	return row
}

// linkTo is the link to the first execution on the page that violates a property; "" if there is none.
func linkTo(executions []executionData, property string) string {
	for i := range executions {
		for _, b := range executions[i].Broken {
			if b.Property == property {
				return "#" + executions[i].Name + "-" + property
			}
		}
	}
	return ""
}
