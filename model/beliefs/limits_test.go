package beliefs

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// limited makes a history of a lock with three slots. Each word is an event of the client with that digit: "2<1" is an
// acquire with a limit of 1, and "2+", "2-" and "2?" are its answers yes, no and unknown. "2v" is a verify with the
// answers "2y" and "2n". "2r" and "2R" are a release and its answer, "2x" and "2X" those of a removal. "2d" is a crash,
// "2g" the end of a connection, and "0!" a restart.
func limited(t *testing.T, words string) *history.History {
	lines := map[byte]string{
		'+': "ok acquire 1", '-': "fail acquire full", 'v': "verify 1", 'y': "ok verify 1", 'n': "ok verify 1 no",
		'r': "release 1", 'R': "ok release 1", 'x': "remove 1", 'X': "ok remove",
	}
	happened := map[byte]string{'d': "crash", 'g': "gone", '!': "restart"}
	var text strings.Builder
	called := make(map[byte]string)
	for _, word := range strings.Fields(words) {
		line, ok := lines[word[1]]
		switch world := happened[word[1]]; {
		case world != "":
			fmt.Fprintf(&text, "%s c%c\n", world, word[0])
			continue
		case word[1] == '<':
			line = "acquire " + word[2:]
		case word[1] == '?':
			line = "info " + called[word[0]]
		case !ok:
			t.Fatalf("%q is no word", word)
		}
		called[word[0]], _, _ = strings.Cut(line, " ")
		fmt.Fprintf(&text, "c%c %s\n", word[0], line)
	}
	h := drawn.Script(t, lock.Semaphore, 3, text.String())
	h.Clients = 5
	for i := range h.Events {
		if e := &h.Events[i]; e.F.Op() == lock.Acquire && e.Type == history.Invoke {
			e.Slot, e.Slots = 0, e.Slot
		} else if e.Slot > 0 {
			e.Slot = uint16((e.Process-1)%5 + 1)
		}
	}
	return h
}

// TestLimits: an acquire violates its limit if that many other clients certainly held the lock during the whole call.
// Clients that hold the lock together may violate their limits too. Holds that are not certain violate nothing.
func TestLimits(t *testing.T) {
	for _, test := range []struct {
		name, words string
		checked     int
		event       int // index of the violating event; -1 if there is none
	}{
		{"one holds, and one may", "1<1 1+ 2<1 2+", 2, 3},
		{"one holds, and two may", "1<1 1+ 2<2 2+", 2, -1},
		{"two hold, and two may", "1<3 1+ 2<3 2+ 3<2 3+", 3, 5},
		{"it is told no", "1<1 1+ 2<1 2-", 1, -1},
		{"who states nothing is not judged", "1<1 1+ 2<0 2+", 1, -1},
		{"nobody states anything", "1<0 1+ 2<0 2+", 0, -1},
		{"who came before the first limit is not counted", "1<0 1+ 2<1 2+", 1, -1},
		{"it is released before", "1<1 1+ 1r 1R 2<1 2+", 2, -1},
		{"it is released meanwhile", "1<1 1+ 2<1 1r 2+", 2, -1},
		{"it has just been released when another holds it", "1<3 1+ 3<3 3+ 2<1 1r 1R 2+", 3, 7},
		{"another takes over while nobody asks", "1<3 1+ 2<1 3<3 3+ 1r 2+", 3, 6},
		{"nobody held it at one moment", "1<3 1+ 2<1 1r 1R 3<3 3+ 2+", 3, -1},
		{"both ask at once", "1<1 2<1 1+ 2+", 2, 3},
		{"both ask at once, and one may be the second", "1<1 2<2 1+ 2+", 2, -1},
		{"both ask at once, and none may be the third", "3<3 3+ 1<2 2<2 1+ 2+", 3, 5},
		{"both ask at once, and one may be the third", "3<3 3+ 1<2 2<3 1+ 2+", 3, -1},
		{"all ask at once, and one states nothing", "1<1 2<1 3<0 1+ 3+ 2+", 2, 5},
		{"the first two may not, whoever was the third", "1<1 2<1 3<3 3+ 1+ 2+", 3, 5},
		{"both ask at once, and one has died", "1<1 2<1 1+ 1d 2+", 2, -1},
		{"both ask at once, and one verifies meanwhile", "1<1 2<1 1+ 1v 2+", 2, -1},
		{"both ask at once, and one had it still", "1<1 2<1 1+ 1v 2+ 1y", 2, 5},
		{"one had it still, while the other verifies", "1<1 2<1 1+ 1v 2+ 2v 1y", 2, 6},
		{"one had it still, and the other verifies and dies", "1<1 2<1 1+ 1v 2+ 2v 2d 1y", 2, -1},
		{"one had it still, and the other had it no more", "1<1 2<1 1+ 1v 2+ 2v 2n 1y", 2, -1},
		{"one had it still, and the other had verified before", "1<1 2<1 2+ 2v 1+ 1v 1y 2y", 2, 7},
		{"one had it still, and the other verifies and loses its connection", "1<1 2<1 1+ 1v 2+ 2v 2g 1y", 2, -1},
		{"one had it still, and slots were taken away while the other verifies", "1<1 2<1 1+ 1v 2+ 2v 3x 3X 1y 1v 1y", 2, -1},
		{"one had it still, and the third came when the second had it no more", "1<2 1+ 2<2 2+ 2v 1v 3<2 3+ 1y 2n", 3, -1},
		{"both ask at once, and one had it no more", "1<1 2<1 1+ 1v 2+ 1n", 2, -1},
		{"the holder verifies meanwhile", "1<1 1+ 2<1 1v 2+", 2, -1},
		{"the holder verifies before", "1<1 1+ 1v 1y 2<1 2+", 2, 5},
		{"the holder finds that it is over", "1<1 1+ 1v 1n 2<1 2+", 2, -1},
		{"the holder dies", "1<1 1+ 1d 2<1 2+", 2, -1},
		{"its connection ends", "1<1 1+ 1g 2<1 2+", 2, -1},
		{"its connection, by another number, ends", "1<1 1+ 6g 2<1 2+", 2, -1},
		{"its connection ends while it asks", "1<1 1g 1+ 2<1 2+", 2, -1},
		{"a stale belief is not certain", "1<1 1+ 1g 1v 1y 2<1 2+", 2, -1},
		{"its connection ends while it verifies, and it believes on", "1<1 1+ 1v 1g 1y 1v 1y 2<1 2+", 2, -1},
		{"its connection ended while it acquired, and it believes", "1<1 1g 1+ 1v 1y 2<1 2+", 2, -1},
		{"it was told no, and then yes", "1<1 1+ 1v 1n 1v 1y 2<1 2+", 2, -1},
		{"it was refused what it had, and believes on", "1<1 1+ 1<1 1- 1v 1y 2<1 2+", 2, -1},
		{"everything ends", "1<1 1+ 0! 2<1 2+", 2, -1},
		{"slots are taken away", "1<1 1+ 3x 3X 2<1 2+", 2, -1},
		{"slots are being taken away", "3x 1<1 1+ 2<1 2+", 2, -1},
		{"slots have been taken away meanwhile", "3x 1<1 1+ 3X 2<1 2+", 2, -1},
		{"slots may still be taken away", "3x 3? 1<1 1+ 2<1 2+", 2, -1},
		{"it is there after slots were taken away", "1<1 1+ 3x 3X 1v 1y 2<1 2+", 2, 7},
		{"what nobody answered is not certain", "1<1 1? 2<1 2+", 1, -1},
		{"a client goes on under another number", "1<1 1+ 6v 6y 2<1 2+", 2, 5},
		{"and acquires", "1<1 1+ 6<1 6+", 2, -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := limited(t, test.words)
			v := Limits(h)
			if v.Checked != test.checked || v.Event != test.event || (v.Why == "") != (test.event < 0) {
				t.Errorf("%d judged, event %d: %s", v.Checked, v.Event, v.Why)
			}
			if i := slices.IndexFunc(judge(h, linear.Options{}), func(v linear.Verdict) bool { return v.Property == property.LimitRespected }); i >= 0 != (test.checked > 0) {
				t.Errorf("it is judged of a history that states no limit, or not of one that does: %d", i)
			} else if got := judge(h, linear.Options{}); i >= 0 && (got[i].Decision != v.Decision || got[i].Event != v.Event || got[i].Why != v.Why) {
				t.Errorf("by itself it says %+v, among others %+v", v, judge(h, linear.Options{})[i])
			}
		})
	}
	anyone := limits{h: limited(t, "1<1 1+ 3r 3R 2<1 2+"), anyone: true}
	for i := range anyone.h.Events {
		if why, _ := anyone.event(i, &anyone.h.Events[i]); why != "" {
			t.Errorf("it was released by somebody else: %s", why)
		}
	}
}

// granting simulates a lock that respects its callers' limits, and clients that call random operations. Each operation
// takes effect at a random moment of its call.
type granting struct {
	*rand.Rand
	h     *history.History
	calls [6]lock.Op
	limit [6]int
	did   [6]bool // the operation under way has taken effect
	held  [6]bool
	said  [6]bool // what the operation under way will return
}

// step adds a random event: an invocation, an operation's effect or answer, or the end of a connection.
func (g *granting) step() {
	p := 1 + g.IntN(5)
	e := history.Event{Process: int32(p), F: history.F(g.calls[p])}
	switch {
	case g.IntN(20) == 0:
		g.held[p] = false
		g.h.Events = append(g.h.Events, history.Occurrence(history.Gone, int32(p)))
		return
	case g.calls[p] == lock.NoOp:
		g.calls[p] = []lock.Op{lock.Acquire, lock.Acquire, lock.Verify, lock.Release}[g.IntN(4)]
		if g.IntN(40) == 0 {
			g.calls[p] = lock.Remove
		}
		if g.calls[p] == lock.Acquire && g.held[p] {
			g.calls[p] = lock.Release
		}
		g.did[p], g.said[p], g.limit[p] = false, false, g.IntN(4)
		if e.F = history.F(g.calls[p]); g.calls[p] == lock.Acquire {
			e.Slots = uint16(g.limit[p])
		}
	case !g.did[p]:
		g.did[p] = true
		g.effect(p)
		return
	default:
		e.Type, e.Held = history.OK, g.said[p]
		if e.F.Op() == lock.Acquire && !e.Held {
			e.Type = history.Fail
		}
		g.calls[p] = lock.NoOp
	}
	g.h.Events = append(g.h.Events, e)
}

func (g *granting) effect(p int) {
	others := 0
	for o, held := range g.held {
		if held && o != p {
			others++
		}
	}
	switch g.calls[p] {
	case lock.Acquire:
		g.held[p] = g.limit[p] == 0 || others < g.limit[p]
		g.said[p] = g.held[p]
	case lock.Verify:
		g.said[p] = g.held[p]
	case lock.Release:
		g.held[p] = false
	case lock.Remove:
		g.held = [6]bool{}
	}
}

// TestLimitsRespected: in random histories of a lock that respects limits, no violation is found.
func TestLimitsRespected(t *testing.T) {
	judged := 0
	for seed := range uint64(3000) {
		g := &granting{Rand: rand.New(rand.NewPCG(seed, 1)), h: &history.History{Kind: lock.Semaphore, Locks: []string{"jobs"}, Slots: []int{3}}}
		for range 60 {
			g.step()
		}
		v := Limits(g.h)
		if judged += v.Checked; v.Decision != linear.Legal {
			t.Fatalf("seed %d: %s", seed, v.Why)
		}
	}
	if judged < 10_000 {
		t.Errorf("%d grants were judged, expected more", judged)
	}
}
