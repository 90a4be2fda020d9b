package judge_test

import (
	"strings"
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/judge"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestRefusals: a refusal of a permit is wrong if fewer holds than permits can overlap the call.
func TestRefusals(t *testing.T) {
	const (
		one     = "c1 acquire\nc1 ok acquire\n"
		refused = "c2 acquire\nc2 fail acquire full\n"
	)
	for _, test := range []struct{ name, text, why string }{
		{"one of two is held", one + refused, "c2 was refused a permit (events 2 to 3), but at most 1 of 2 can have been taken during the call"},
		{"nobody was granted one before", refused + one, "c2 was refused a permit (events 0 to 1), but at most 0 of 2 can have been taken during the call"},
		{"both were given back", one + "c3 acquire\nc3 ok acquire\nc3 release\nc3 ok release\nc1 release\nc1 ok release\n" + refused, "but at most 0 of 2"},
		{"the other was refused, too", one + "c3 acquire\nc2 acquire\nc3 fail acquire full\nc2 fail acquire full\n", "but at most 1 of 2"},
		{"both are held", one + "c3 acquire\nc3 ok acquire\n" + refused, ""},
		{"each at a moment of the call", one + "c2 acquire\nc1 release\nc1 ok release\nc3 acquire\nc3 ok acquire\nc2 fail acquire full\n", ""},
		{"an acquire without an answer", one + "c3 acquire\nc3 info acquire\n" + refused, ""},
		{"a release that is under way", one + "c3 acquire\nc3 ok acquire\nc1 release\n" + refused + "c1 ok release\n", ""},
		{"refused for no known reason", one + "c2 acquire\nc2 fail acquire\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := drawn.Script(t, lock.Semaphore, 2, test.text)
			verdicts, err := judge.History(h, linear.Options{})
			read, unread := judge.Read(h, judge.Events(h), linear.Options{})
			if err != nil || unread != nil {
				t.Fatal(err, unread)
			}
			for _, v := range append(verdicts, read...) {
				if v.Property == property.Linearizable && (v.Decision == linear.Illegal != (test.why != "") || !strings.Contains(v.Why, test.why)) {
					t.Errorf("%s: %q, expected %q", v.Decision, v.Why, test.why)
				}
			}
			limited := *h
			limited.Events = append([]history.Event(nil), h.Events...)
			for i := range limited.Events {
				if e := &limited.Events[i]; e.Process == 2 && e.Type == history.Invoke {
					e.Slots = 1
				}
			}
			if verdicts, err = judge.History(&limited, linear.Options{}); err != nil || verdicts[0].Decision != linear.Legal {
				t.Errorf("a caller that states a limit of 1: %v, %s", err, verdicts[0].Why)
			}
		})
	}
}
