package report

import (
	"fmt"
	"strings"

	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/property"
)

// cardNotes are the notes after the verdicts on the card: the evidence, the longest stale belief, and the coverage.
func cardNotes(r *Report, s style.Style) []style.Line {
	var out []style.Line
	if len(r.Readings) > 0 {
		out = append(out, labelled("read as", style.List(r.Readings), style.Plain, s)...)
	}
	for e := property.FromHistory; e <= property.FromCommands; e++ {
		if names := restingOn(r, e); len(names) > 0 {
			out = append(out, labelled("from "+r.evidence(e), names, style.Plain, s)...)
		}
	}
	if o := r.Stale; o.Scenarios > 0 {
		out = append(out, labelled("stale belief", strings.Fields(fmt.Sprintf(
			"beside another's grant for up to %s, %s; in %s. Not a violation: no lock without fencing can exclude it.",
			style.Plural(o.Commands, "command"), o.lasted(), style.Plural(o.Scenarios, "execution"))), style.Plain, s)...)
	}
	var seen, never []string
	for _, e := range r.Exercised {
		if e.Scenarios == 0 {
			never = append(never, e.Name)
			continue
		}
		seen = append(seen, fmt.Sprintf("%s %s", e.Name, style.Grouped(e.Scenarios)))
	}
	if len(seen) > 0 {
		out = append(out, labelled("exercised", style.List(seen), style.Plain, s)...)
	}
	if len(never) > 0 {
		out = append(out, labelled("never", style.List(never), style.Yellow, s)...)
	}
	if len(r.Covered) > 0 {
		out = append(out, labelled("covered", style.List(counted(r.Covered)), style.Plain, s)...)
	}
	if len(r.Guided) > 0 {
		out = append(out, labelled("guided", style.List(r.Guided), style.Plain, s)...)
	}
	if len(r.Uncontrolled) > 0 {
		out = append(out, labelled("not controlled", style.List(r.Uncontrolled), style.Yellow, s)...)
	}
	out = append(out, r.machines(s)...)
	if len(r.Spent) > 0 && r.Elapsed > 0 {
		out = append(out, labelled("time went into", style.List(r.Spent), style.Plain, s)...)
	}
	if len(r.Wire) > 0 {
		out = append(out, labelled("over the wire", style.List(counted(r.Wire)), style.Plain, s)...)
	}
	if len(r.Traffic) > 0 {
		out = append(out, labelled("a call sends", style.List(traffic(r.Traffic)), style.Plain, s)...)
	}
	return out
}

// machines lists the faults of a cluster's machines and what they caused, for the card.
func (r *Report) machines(s style.Style) (out []style.Line) {
	for _, part := range []struct {
		label  string
		lines  []string
		colour style.Colour
	}{{"nemesis", r.Nemesis, style.Plain}, {"held twice", r.Together, style.Red}, {"left", r.Left, style.Plain}} {
		if len(part.lines) > 0 {
			out = append(out, labelled(part.label, style.List(part.lines), part.colour, s)...)
		}
	}
	return out
}

// lasted says how long a stale belief lasted, by the servers' clock and, if it differs, by the client's.
func (o *Overlap) lasted() string {
	if o.Own == o.Time {
		return took(o.Time)
	}
	return fmt.Sprintf("%s by the servers' clock, %s by the believer's own", took(o.Time), took(o.Own))
}

// traffic lists the traffic of each operation in words: the frames and bytes sent, and those received.
func traffic(all []Traffic) (words []string) {
	for _, t := range all {
		words = append(words, fmt.Sprintf("%s %.1f frames, %.0f bytes (back: %.1f, %.0f)", t.Operation, t.Frames, t.Bytes, t.Back, t.BytesBack))
	}
	return words
}

// counted lists names with their counts.
func counted(counts []Count) (words []string) {
	for _, c := range counts {
		words = append(words, fmt.Sprintf("%s %s", c.Name, style.Grouped(c.Number)))
	}
	return words
}

// restingOn are the names of the properties that are judged from a kind of evidence.
func restingOn(r *Report, e property.Evidence) []string {
	var names []string
	for i := range r.Properties {
		p := &r.Properties[i]
		if verdict, _ := r.Verdict(p); verdict != Skipped && p.Evidence == e {
			names = append(names, p.Name())
		}
	}
	return style.List(names)
}

// evidence names a kind of evidence in a word, such as "history". The server's state is named after the server, such as
// "broker".
func (r *Report) evidence(e property.Evidence) string {
	if e == property.FromTruth {
		return r.words().Called()
	}
	return e.String()
}

// labelled is a paragraph of the card, with a label in its left margin.
func labelled(label string, words []string, colour style.Colour, s style.Style) []style.Line {
	const margin = 17
	return style.Beside(style.Line{{Text: "  "}, style.Dim.Of(label)}, words, colour, margin, s.Columns()-margin)
}
