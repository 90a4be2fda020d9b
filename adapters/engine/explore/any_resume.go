package explore

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search/anynumber"
)

// anyNote is stored with the checkpoint of a search. It contains the conclusions that the exploration reached before
// that search.
type anyNote struct {
	Properties []string // names of all properties that the exploration judges
	Searched   []string // names of the properties that the current search judges
	Judged     []anyJudged
	Views      report.Views
}

// anyJudged is the stored conclusion about one property.
type anyJudged struct {
	Property  string
	Checked   int
	Undecided int
	Unclear   string
	Note      string
	Violating *scenario.Scenario // an execution that violates the property, or nil
}

// with returns the note, as JSON, for a search that judges the properties in searched.
func (n anyNote) with(searched property.Set) []byte {
	n.Searched = searched.Names()
	data, err := json.Marshal(n)
	if err != nil {
		panic(err) // cannot happen: a note contains only numbers, names and a scenario
	}
	return data
}

// resume restores the conclusions of an interrupted run from its checkpoint.
func (x *anyExploration) resume() error {
	x.note.Properties = x.bounds.Properties.Names()
	if x.Search.Resume == "" {
		return nil
	}
	data, err := anynumber.Note(x.Search.Resume)
	if err != nil {
		return err
	}
	var n anyNote
	if err = json.Unmarshal(data, &n, histories.ReadingOptions(lock.BackendOf(x.bounds.Target))); err == nil && !slices.Equal(n.Properties, x.note.Properties) {
		err = fmt.Errorf("it is another exploration's: it judges %q there and %q here: give the same properties, or start anew", n.Properties, x.note.Properties)
	}
	for i := 0; err == nil && i < len(n.Judged); i++ {
		err = x.recall(&n.Judged[i])
	}
	if err != nil {
		return fmt.Errorf("resuming from the checkpoint %s: %w", x.Search.Resume, err)
	}
	x.note, *x.views = n, n.Views
	return nil
}

// recall adds a stored conclusion to the report. It repeats the violating execution, if there is one.
func (x *anyExploration) recall(j *anyJudged) error {
	p, err := property.Named(j.Property)
	if err != nil {
		return err
	}
	res := report.PropertyResult{
		Property: p, Evidence: property.Properties[p].Evidence, Checked: j.Checked, Undecided: j.Undecided, Unclear: j.Unclear, Note: j.Note,
	}
	if j.Violating != nil {
		t := new(sim.Runner).Trace(x.bounds.Target, j.Violating, x.bounds.FailedAcquire)
		if _, shown := t.Violation(p); !shown {
			return fmt.Errorf("the execution that violated %s does not do so any more: start anew", p)
		}
		x.traces[p], res.Violation = t, engine.FoundIn(t, p)
	}
	x.report.Properties = append(x.report.Properties, res)
	return nil
}

// conclude stores the results of a search, for later checkpoints. If the run was interrupted after the search had
// completed, it saves the search at once, so that resuming does not repeat it.
func (x *anyExploration) conclude(r *anynumber.Result, shown []report.PropertyResult) {
	file := x.Search.Checkpoint
	switch {
	case file == "":
	case x.ctx.Err() != nil && closed(r):
		var searched property.Set
		for i := range shown {
			searched = searched.With(shown[i].Property)
		}
		x.unsaved = cmp.Or(x.unsaved, r.Save(file, x.note.with(searched)))
	case x.ctx.Err() == nil && !slices.ContainsFunc(shown, func(res report.PropertyResult) bool { return !closed(r) && res.Violation == nil }):
		for i := range shown {
			x.note.Judged = append(x.note.Judged, x.judged(&shown[i]))
		}
		x.note.Views = *x.views
	}
}

func (x *anyExploration) judged(res *report.PropertyResult) anyJudged {
	j := anyJudged{Property: res.Property.String(), Checked: res.Checked, Undecided: res.Undecided, Unclear: res.Unclear, Note: res.Note}
	if t := x.traces[res.Property]; t != nil {
		j.Violating = &t.Scenario
	}
	return j
}
