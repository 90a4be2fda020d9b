package judge_test

import (
	"slices"
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/judge"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// two is a history in which two clients are granted a mutex at once.
func two() *history.History {
	h := &history.History{Kind: lock.Mutex, Locks: []string{"jobs"}, Slots: []int{0}, Clients: 2}
	for p := range int32(2) {
		h.Events = append(h.Events, history.Invocation(p+1, 0, lock.Acquire, 0, 0),
			history.Completion(p+1, 0, lock.Acquire, lock.Result{Outcome: lock.Done, Held: true, Slot: 1}))
	}
	return h
}

// TestExecution: with a witness of linearizability, the history is not judged. Without a witness it is. Without a
// monitor, the clients' beliefs are judged too.
func TestExecution(t *testing.T) {
	truth := []monitor.Truth{{Exists: 1 << 1}}
	verdicts := func(m *monitor.Monitor) (all []linear.Verdict, asked bool) {
		judge.Execution(m, linear.Options{}, func() *history.History { asked = true; return two() }, func(v linear.Verdict) { all = append(all, v) })
		return all, asked
	}
	var m monitor.Monitor
	m.Reset(lock.Mutex, lock.Facts{}, 2, truth)
	if all, asked := verdicts(&m); asked || len(all) != 1 || all[0].Decision != linear.Legal {
		t.Errorf("with a witness: %+v, the history was asked for: %v", all, asked)
	}
	m.Witnessed, m.WitnessedStrong = false, false
	if all, asked := verdicts(&m); !asked || len(all) != 1 || all[0].Decision != linear.Illegal {
		t.Errorf("without a witness: %+v, the history was asked for: %v", all, asked)
	}
	m.Witnessed = true
	if m.Witnesses(property.Strong) || !m.Witnesses(property.Weak) {
		t.Error("a witness of the weak semantics is taken for one of the strong, or for none")
	}
	all, _ := verdicts(nil)
	var shown, broken property.Set
	for _, v := range all {
		if shown = shown.With(v.Property); v.Decision == linear.Illegal {
			broken = broken.With(v.Property)
		}
	}
	if want := property.Set(1<<property.Linearizable | 1<<property.MutualExclusion); shown != judge.FromHistory || broken != want {
		t.Errorf("unwatched: judged %v, broken %v", shown.Names(), broken.Names())
	}
}

// TestHistory: History refuses a malformed history. Violation gives a violation its step in the trace.
func TestHistory(t *testing.T) {
	h := two()
	all, err := judge.History(h, linear.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tr := &scenario.Trace{History: *h, Scenario: scenario.Scenario{Clients: make([]scenario.Client, 2)}}
	for i := range h.Events {
		tr.Steps = append(tr.Steps, scenario.TraceStep{First: i, Events: 1})
	}
	for _, v := range all {
		if v.Decision != linear.Illegal {
			continue
		}
		at := judge.Violation(tr, v)
		if at.Property != v.Property || at.Step != v.Event || at.Detail != v.Why || v.Property == property.MutualExclusion && at.Client != 2 {
			t.Errorf("%s at event %d: %+v", v.Property, v.Event, at)
		}
	}
	h.Events = h.Events[1:]
	if _, err := judge.History(h, linear.Options{}); err == nil {
		t.Error("a completion that nobody invoked is accepted")
	}
}

// TestRead: a history that is read event by event gets the same verdicts as one in memory.
func TestRead(t *testing.T) {
	undecided := 0
	for i := range 400 {
		h := drawn.Pinned(7000, i, 40)
		o := linear.Options{Releases: linear.Releases(i % 5 / 4), FailedRelease: linear.FailedRelease(i % 2)}
		whole, err := judge.History(h, o)
		empty := *h
		empty.Events = nil
		read, again := judge.Read(&empty, func(event func(e *history.Event) error) error {
			for i := range h.Events {
				if err := event(&h.Events[i]); err != nil {
					return err
				}
			}
			return nil
		}, o)
		if len(read) > 0 && read[0].Decision == linear.Undecided { // linearizations are searched only in memory
			whole[0], undecided = read[0], undecided+1
		}
		if (err == nil) != (again == nil) || !slices.Equal(whole, read) {
			t.Fatalf("history %d: as a whole %+v, %v; read %+v, %v", i, whole, err, read, again)
		}
	}
	if undecided > 150 {
		t.Errorf("%d of 400 are undecided", undecided)
	}
}
