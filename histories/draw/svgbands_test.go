package draw

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
)

// A lasting machine fault is drawn as one band, from the event that began it to the event that ended it. Two network
// cuts between the same nodes, one for each direction, are drawn as one band.
func TestBands(t *testing.T) {
	n1, n2, others := history.NodesOf(1), history.NodesOf(2), history.NodesOf(2, 3)
	fault := func(f history.F, nodes, to history.Nodes) history.Event {
		return history.Event{Process: history.Nemesis, Type: history.Info, F: f, Nodes: nodes, To: to}
	}
	call := history.Event{Process: 1, Type: history.Invoke, F: history.F(lock.Verify)}
	answer := history.Event{Process: 1, Type: history.OK, F: history.F(lock.Verify), Held: true}
	events := []history.Event{
		fault(history.Cut, n1, others), fault(history.Cut, others, n1), call, answer, fault(history.Heal, 0, 0),
		fault(history.KillNode, n1, 0), fault(history.PauseNode, n2, 0), fault(history.StartNode, n1, 0), call, answer,
	}
	var got []string
	for _, b := range bands(events) {
		got = append(got, fmt.Sprintf("%d to %d: %s", b.begin, b.end, b.words))
	}
	want := []string{"0 to 4: cut n1 → n2, n3; cut n2, n3 → n1", "5 to 7: kill n1", "6 to 10: pause n2"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, expected %q", got, want)
	}
	h := &history.History{Kind: lock.Mutex, Locks: []string{"jobs"}, Slots: []int{1}, Events: events}
	picture := History(h, 0, &linear.Prefix{Events: len(events)})
	for _, words := range []string{"cut n1 → n2, n3; cut n2, n3 → n1", "kill n1", "pause n2"} {
		if strings.Count(picture, ">"+words+"<") != 1 {
			t.Errorf("%q is not in\n%s", words, picture)
		}
	}
}
