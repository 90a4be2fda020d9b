package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/histories/known"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/property"
)

// part is one of the questions that a report on an external lock answers: is it safe, does it recover, what does it
// promise, and the user's own properties.
type part int

const (
	safety part = iota + 1
	recovery
	promise
	yours
)

// partOf is the part to which a property belongs.
func partOf(p *PropertyResult) part {
	switch {
	case p.Own != nil:
		return yours
	case property.Recovery.Has(p.Property):
		return recovery
	case property.Promises.Has(p.Property):
		return promise
	}
	return safety
}

func (p part) String() string {
	return [...]string{safety: "safety", recovery: "recovery", promise: "promise", yours: "own"}[p]
}

func (p part) question() string {
	return [...]string{safety: "Is it safe?", recovery: "Does it recover?", promise: "What does it promise?", yours: "Your own properties"}[p]
}

// part names the part of a report to which a property belongs. It is "" unless the report is on an external lock.
func (r *Report) part(p *PropertyResult) string {
	if r.Contract == nil {
		return ""
	}
	return partOf(p).String()
}

// ordered are the properties in the order in which they are shown. In the report on an external lock they are sorted by
// part.
func (r *Report) ordered() []*PropertyResult {
	all := make([]*PropertyResult, len(r.Properties))
	for i := range all {
		all[i] = &r.Properties[i]
	}
	if r.Contract != nil {
		slices.SortStableFunc(all, func(a, b *PropertyResult) int { return cmp.Compare(partOf(a), partOf(b)) })
	}
	return all
}

// answer answers the question of a part in one line, with advice.
func (r *Report) answer(which part) string {
	counts := make(map[Verdict]int)
	for i := range r.Properties {
		if p := &r.Properties[i]; partOf(p) == which {
			verdict, _ := r.Verdict(p)
			counts[verdict]++
		}
	}
	violated := counts[Violated]+counts[Suspected] > 0
	switch {
	case violated && r.accepted(which) && counts[Broken] > 0:
		return "The violations of its contract are known: " + known.FileName + " accepts them. It breaks further promises, which the contract does not demand."
	case violated && r.accepted(which):
		return "All that is violated here is known: " + known.FileName + " accepts it."
	case violated && which == safety && r.onlyCrashes():
		return "Nobody was promised what another has, but a call ends its client. Mend that before anything else."
	case violated:
		return [...]string{
			safety:   "No: what one client was promised, another has. Mend this before anything else.",
			recovery: "No: with everybody gone, the lock is not as it was. Mend it, or have somebody clear the server after each such fault.",
			promise:  "Its contract demands what it breaks. Mend it, or demand less with --contract.",
			yours:    "Violated.",
		}[which]
	case counts[Undecided] > 0:
		return "Undecided: run it again with smaller scenarios."
	case counts[Passed]+counts[Proved]+counts[Kept]+counts[Broken] == 0:
		return "Not judged."
	case which == promise && counts[Broken] > 0:
		return "Not all of this, and its contract demands none that is broken. Callers must not rely on what is broken."
	case which == promise:
		return "All that was judged was kept."
	case which == yours:
		return "Nothing is wrong in what was judged."
	}
	return "Yes, in all that was judged."
}

// accepted reports whether all violations in a part are known and have not expired.
func (r *Report) accepted(which part) bool {
	return !slices.ContainsFunc(r.Properties, func(p PropertyResult) bool {
		verdict, _ := r.Verdict(&p)
		return (verdict == Violated || verdict == Suspected) && partOf(&p) == which && !p.Violation.Accepted()
	})
}

// onlyCrashes reports whether no safety property is violated other than no-crash: clients ended by themselves.
func (r *Report) onlyCrashes() bool {
	return !slices.ContainsFunc(r.Properties, func(p PropertyResult) bool {
		return p.Violation != nil && p.Property != property.NoCrash && partOf(&p) == safety
	})
}

// heading is the question of a part and its answer, for the card.
func (r *Report) heading(p part, s style.Style) []style.Line {
	lead := style.Line{{Text: "  "}, style.Bold.Of(p.question())}
	margin := lead.Width() + 1
	return style.Beside(append(lead, style.Span{Text: " "}), strings.Fields(r.answer(p)), style.Plain, margin, max(s.Columns()-margin, 24))
}
