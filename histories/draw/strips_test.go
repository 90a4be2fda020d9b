package draw

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/internal/historiestest"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// TestStrips: if a slot belongs to two clients at once, the strips mark the overlap and describe it in words.
func TestStrips(t *testing.T) {
	svg := Strips(historiestest.LockedTaken())
	if !strings.Contains(svg, `class="overlap"`) || !strings.Contains(svg, "slot 1 is not one client&#39;s alone") {
		t.Errorf("no overlap is shown:\n%s", svg)
	}
	alone := historiestest.LockedTaken()
	alone.Steps, alone.Violations = alone.Steps[:3], nil
	if svg := Strips(alone); strings.Contains(svg, `class="overlap"`) {
		t.Errorf("an overlap is shown where there is none:\n%s", svg)
	}
	if svg := Strips(&scenario.Trace{}); svg != "" {
		t.Errorf("nothing is drawn as %s", svg)
	}
}

// TestHistory: the picture ends with the answer that has no explanation, and marks it. Calls before it have dots.
func TestHistory(t *testing.T) {
	event := func(process int32, kind history.EventType, held bool) history.Event {
		return history.Event{Process: process, Type: kind, F: history.F(lock.Acquire), Slot: 1, Held: held}
	}
	h := &history.History{Kind: lock.Mutex, Locks: []string{"jobs"}, Slots: []int{1}, Events: []history.Event{
		event(1, history.Invoke, false), event(1, history.OK, true), event(2, history.Invoke, false), event(2, history.OK, true), event(3, history.Invoke, false),
	}}
	p := linear.LongestPrefix(h, 0, linear.Options{}, 1<<40)
	if p == nil || p.Events != 3 || len(p.Effects) != 1 {
		t.Fatalf("the prefix is %+v", p)
	}
	svg := History(h, 0, p)
	imported := *h // imported histories may number clients from 0
	imported.Events = slices.Clone(h.Events)
	for i := range imported.Events {
		imported.Events[i].Process--
	}
	if got := History(&imported, 0, p); strings.Count(got, `class="call`) != strings.Count(svg, `class="call`) {
		t.Errorf("counted from 0, the clients are drawn as\n%s\nfrom 1, as\n%s", got, svg)
	}
	for _, want := range []string{"no explanation", `class="call wrong"`, "<title>c1 acquire", p.Why, "acquire: holds"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q in\n%s", want, svg)
		}
	}
	if strings.Contains(svg, ">c3<") {
		t.Error("what comes after that is drawn, too")
	}
	if svg := History(&history.History{}, 0, &linear.Prefix{}); svg != "" {
		t.Errorf("nothing is drawn as %s", svg)
	}
}
