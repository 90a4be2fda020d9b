package lockproof

import (
	"fmt"

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
	// Properties are those to judge; empty is all that apply.
	Properties spec.PropertySet
	// Releases is who may release a lock, and Failed what a release that failed says of who called it.
	Releases spec.Releases
	Failed   spec.FailedRelease
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
	for _, v := range spec.CheckHistory(h, spec.LinearizableOptions{Strength: o.Strength, Permits: o.Permits, Releases: o.Releases, Failed: o.Failed}) {
		judged[v.Property] = v
	}
	asked := judgedOf(spec.Applicable(h.Kind), o.Properties)
	for p := range spec.PropertyCount {
		if asked.Has(p) {
			v, ok := judged[p]
			res := fromHistory(p, v, ok)
			res.Note = o.note(p)
			r.Properties = append(r.Properties, res)
		}
	}
	return r, nil
}

// note is the reading that a property was judged by.
func (o *CheckOptions) note(p spec.Property) string {
	switch p {
	case spec.Linearizable:
		return fmt.Sprintf("%s; releases by others: %s", o.Strength, o.Releases)
	case spec.MutualExclusion:
		return fmt.Sprintf("releases by others: %s; a failed release %s a belief", o.Releases, o.Failed)
	}
	return ""
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
		r.Checked, r.Undecided, r.Unclear = 0, 1, v.Why
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
