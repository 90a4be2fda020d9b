package recorded

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
)

// MostEvents is the maximum number of events of several recordings together.
const MostEvents = wholeEvents

// CheckMachines judges the recordings of several machines together. bound is the maximum difference between their
// clocks. Operations closer in time than bound count as concurrent: see [history.Loosen]. For a single machine bound is
// 0.
func CheckMachines(m *histories.Machines, bound time.Duration, o CheckOptions) (*report.Report, error) {
	h, readings := m.History, []string{fmt.Sprintf("%s, ordered by their times", style.Plural(len(m.Names), "machine"))}
	if err := linear.Validate(h); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Source, err)
	}
	if o.Reentrant > 1 {
		once := *m
		once.History = history.Reentrant(h, o.Reentrant)
		m, h = &once, once.History
	}
	if bound > 0 {
		if err := o.loosens(h); err != nil {
			return nil, err
		}
		loose, short, all := history.Loosen(h, int64(bound))
		readings[0] += fmt.Sprintf(": clocks differ by at most %s, and what is nearer than that is concurrent", bound)
		if short > 0 {
			readings = append(readings, fmt.Sprintf("%s of %s may have been shorter than that: between machines they are not judged", style.Grouped(short), style.Plural(all, "hold")))
		}
		h = loose
	} else if len(m.Names) > 1 {
		readings[0] += ": of one clock, as --clock-error 0s says"
	}
	if m.Relative {
		readings = append(readings, "times do not count from 1970: that all count from one moment is taken as given")
	}
	verdicts, err := o.judge(h)
	if err == nil && bound > 0 {
		err = o.alone(m, verdicts)
	}
	if err != nil {
		return nil, err
	}
	if bound > 0 {
		blurred(m.History, verdicts, bound)
	}
	r := o.report(h, verdicts)
	r.Operations = m.History.Answers().Called
	r.Readings = slices.Concat(readings, m.Notes.Readings(), o.counting(), sharing(h))
	if n := m.Notes.Backwards; n > 0 {
		unordered(r, n, "")
	}
	return r, nil
}

// blurred explains skipped verdicts if every hold was too short to be judged with this clock error.
func blurred(h *history.History, verdicts []linear.Verdict, bound time.Duration) {
	answers := h.Answers()
	if answers.Silence() != "" {
		return
	}
	for i := range verdicts {
		if v := &verdicts[i]; v.Unjudged != "" {
			v.Unjudged = fmt.Sprintf("no hold was certainly longer than the clock error, %s: all of them may have overlapped", bound)
		}
	}
}

// alone judges the events of each machine separately, because their order is certain, and adds the violations found. It
// adds nothing if the history has events, such as a restart, that may end holds: those events come from another clock.
func (o *CheckOptions) alone(m *histories.Machines, verdicts []linear.Verdict) error {
	parts := make([]*history.History, len(m.Names))
	for i := range parts {
		parts[i] = &history.History{Kind: m.History.Kind, Locks: m.History.Locks, Slots: m.History.Slots, Called: m.History.Called}
	}
	for i, e := range m.History.Events {
		switch {
		case m.Of[i] < 0 && (e.F.Whose() || e.F == history.Restart):
			return nil
		case m.Of[i] < 0:
			continue
		case e.F.Op() == lock.Acquire && e.Type == history.Fail:
			e.Reason = lock.NoReason // a client of another machine may hold the lock
		}
		part := parts[m.Of[i]]
		part.Events, part.Places = append(part.Events, e), append(part.Places, m.History.Places[i])
	}
	for _, part := range parts {
		found, err := o.judge(part)
		if err != nil {
			return err
		}
		for _, v := range found {
			i := slices.IndexFunc(verdicts, func(w linear.Verdict) bool { return w.Property == v.Property })
			if i >= 0 && v.Decision == linear.Illegal && verdicts[i].Decision != linear.Illegal {
				v.Checked = max(v.Checked, verdicts[i].Checked)
				verdicts[i] = v
			}
		}
	}
	return nil
}

// loosens returns an error if the history has operations that cannot be judged with a clock error.
func (o *CheckOptions) loosens(h *history.History) error {
	if o.Releases == linear.ByAnyone {
		return errors.New("--clock-error: which hold a release by anyone ends is not known where clocks differ; expected --release-by-others reject")
	}
	for i := range h.Events {
		op := h.Events[i].F.Op()
		if op.Administrative() || op == lock.Count {
			return fmt.Errorf("--clock-error: %s: %s is not judged where clocks differ", h.Places[i], op)
		}
		if n := h.Events[i].Permits; n > 1 {
			return fmt.Errorf("--clock-error: %s: %s of %d permits at once is not judged where clocks differ", h.Places[i], op, n)
		}
	}
	return nil
}
