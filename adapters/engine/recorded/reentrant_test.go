package recorded_test

import (
	"math/rand/v2"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine/recorded"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// reentrantHistory draws a history of a correct mutex that its holder may acquire twice. Each operation takes effect at
// a moment between its invocation and its answer, or not at all. Some answers are lost.
func reentrantHistory(r *rand.Rand) *history.History {
	const clients, most = 3, 2
	h := &history.History{Kind: lock.Mutex, Locks: []string{"lock"}, Slots: []int{1}}
	calling, effected, count := [clients]*history.Event{}, [clients]bool{}, [clients]int{}
	free := func(client int) bool {
		for c, n := range count {
			if c != client && n > 0 {
				return false
			}
		}
		return true
	}
	for range 60 {
		c := r.IntN(clients)
		e := calling[c]
		switch {
		case e == nil:
			op := lock.Acquire
			if r.IntN(2) == 0 {
				op = lock.Release
			}
			e = &history.Event{Process: int32(c + 1), F: history.F(op)}
			h.Events = append(h.Events, *e)
			calling[c], effected[c] = e, false
		case !effected[c] && r.IntN(4) > 0:
			switch {
			case e.F.Op() == lock.Acquire && free(c) && count[c] < most:
				count[c]++
				effected[c] = true
			case e.F.Op() == lock.Release && count[c] > 0:
				count[c]--
				effected[c] = true
			}
		default:
			answer := *e
			answer.Type = history.Fail
			if effected[c] {
				answer.Type, answer.Held = history.OK, e.F.Op() == lock.Acquire
			}
			if r.IntN(6) == 0 {
				answer.Type, answer.Held = history.Info, false
			}
			h.Events = append(h.Events, answer)
			calling[c] = nil
		}
	}
	return h
}

// TestReentrantSound checks that a correct reentrant mutex never looks wrong, whichever answers are lost.
func TestReentrantSound(t *testing.T) {
	judged := 0
	for seed := range uint64(3000) {
		h := reentrantHistory(rand.New(rand.NewPCG(seed, 3)))
		o := recorded.CheckOptions{Reentrant: 2}
		r, err := recorded.Check(o.Arranged(h), o)
		if err != nil || r.Outcome() == report.OutcomeViolated {
			t.Fatalf("seed %d: %v, %+v", seed, err, r.Properties)
		}
		if r.Outcome() == report.OutcomeHolds {
			judged++
		}
	}
	if judged < 2000 {
		t.Errorf("only %d of 3000 are judged", judged)
	}
}

// TestReentrantUnanswered: an operation of the holder without an answer ends no hold that it cannot have ended.
func TestReentrantUnanswered(t *testing.T) {
	const twice = "c1 acquire\nc1 ok acquire\nc1 acquire\nc1 ok acquire\n"
	for text, want := range map[string]report.Outcome{
		"c1 acquire\nc1 ok acquire\nc1 acquire\nc2 acquire\nc2 ok acquire\n":                                                    report.OutcomeViolated,
		"c1 acquire\nc1 ok acquire\nc1 acquire\nc1 info acquire\nc2 acquire\nc2 ok acquire\n":                                   report.OutcomeViolated,
		twice + "c1 release\nc2 acquire\nc2 ok acquire\n":                                                                       report.OutcomeViolated,
		twice + "c1 release\nc1 info release timed-out\nc2 acquire\nc2 ok acquire\n":                                            report.OutcomeViolated,
		twice + "c1 release\nc1 info release\nc1 release\nc1 info release\nc2 acquire\nc2 ok acquire\n":                         report.OutcomeHolds,
		twice + "c1 release\nc1 info release disconnected\nc2 acquire\nc2 ok acquire\n":                                         report.OutcomeHolds,
		"c1 acquire\nc1 ok acquire\nc1 acquire\nc1 info acquire\nc1 release\nc1 ok release\nc2 acquire\nc2 ok acquire\n":        report.OutcomeHolds,
		"c1 acquire\nc1 ok acquire\nc1 acquire\nc1 info acquire\nc1 release\nc1 ok release\nc2 acquire\nc2 fail acquire full\n": report.OutcomeHolds,
	} {
		o := recorded.CheckOptions{Reentrant: 2}
		r, err := recorded.Check(o.Arranged(drawn.Script(t, lock.Mutex, 0, text)), o)
		if err != nil || r.Outcome() != want {
			t.Errorf("%s%v, %v, expected %v", text, err, r.Outcome(), want)
		}
	}
}
