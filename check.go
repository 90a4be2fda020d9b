package lockproof

import (
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/model/spec"
)

// CheckOptions say what a recorded history is judged by.
type CheckOptions struct {
	Strength spec.Strength
	// Source is the file that the history was read from, or what else it is of.
	Source string
	// Permits is how many there are of a lock whose history names no slots; 0 is the number of slots
	// that it begins with.
	Permits int
}

// Check judges a recorded history: linearizability, and the other properties as far as a history
// alone can show them broken. The error is for a history that is none.
func Check(h *spec.History, o CheckOptions) (*histories.Report, error) {
	if err := spec.Validate(h); err != nil {
		return nil, err
	}
	r := &histories.Report{
		Tool: Version, Target: h.Kind.String(), Kind: h.Kind, Mode: histories.Recorded, Source: o.Source,
		Strength: o.Strength.String(), Scenarios: 1, Operations: operations(h),
	}
	judged := make(map[spec.Property]spec.HistoryVerdict)
	for _, v := range spec.CheckHistory(h, spec.LinearizableOptions{Strength: o.Strength, Permits: o.Permits}) {
		judged[v.Property] = v
	}
	applicable := spec.Applicable(h.Kind)
	for p := range spec.PropertyCount {
		if applicable.Has(p) {
			v, ok := judged[p]
			r.Properties = append(r.Properties, fromHistory(p, v, ok))
		}
	}
	return r, nil
}

// notShown is why a property is skipped that takes what the broker had, or what was sent.
const notShown = "not shown by a history alone: judged on the simulated broker"

// fromHistory is what a history says of a property.
func fromHistory(p spec.Property, v spec.HistoryVerdict, judged bool) histories.PropertyResult {
	r := histories.PropertyResult{Property: p, Evidence: spec.FromHistory, Checked: v.Checked, Scenarios: 1}
	switch {
	case !judged:
		r.Skip = notShown
	case v.Decision == spec.Undecided:
		r.Checked, r.Undecided, r.Skip = 0, 1, v.Why
	case v.Decision == spec.Illegal:
		r.Violation = &histories.Found{Detail: v.Why}
	}
	return r
}

// operations is how many a history has.
func operations(h *spec.History) (n int) {
	for i := range h.Events {
		if h.Events[i].Type == spec.Invoke {
			n++
		}
	}
	return n
}
