package linear

import (
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestPermits: histories whose acquires name no slots are decided by the fast check alone.
func TestPermits(t *testing.T) {
	const held = "c1 acquire\nc1 ok acquire\nc2 acquire\nc2 ok acquire\n" // both permits are held
	for _, c := range []struct {
		name         string
		late         bool // ends of connections are recorded when they are noticed, which may be late
		text         string
		weak, strong Decision
	}{
		{"a third", false, held + "c3 acquire\nc3 ok acquire\n", Illegal, Illegal},
		{"a third after a crash that may have freed one", true, held + "crash c1\nc3 acquire\nc3 ok acquire\n", Legal, Legal},
		{"and a fourth after the same crash", true, held + "crash c1\nc3 acquire\nc3 ok acquire\nc4 acquire\nc4 ok acquire\n", Illegal, Illegal},
		{"a third before the crash", true, held + "c3 acquire\nc3 ok acquire\ncrash c1\ngone c1\n", Illegal, Illegal},
		{"a third after the crash of one who holds none", true, held + "c5 count\ncrash c5\nc3 acquire\nc3 ok acquire\n", Illegal, Illegal},
		{"granted as the last thing that was heard of one who crashed", false,
			held + "c1 acquire\nc1 ok acquire\ncrash c1\n", Legal, Legal},
		{"a connection ends", false, held + "gone c1\nc3 acquire\nc3 ok acquire\n", Legal, Legal},
		{"another's connection ends", false, "c4 acquire\nc4 fail acquire full\n" + held + "gone c4\nc3 acquire\nc3 ok acquire\n", Illegal, Undecided},
		{"all connections end", false, held + "restart\nc3 acquire\nc3 ok acquire\nc4 acquire\nc4 ok acquire\n", Legal, Legal},
		{"verified after the end of its connection", false, held + "gone c1\nc1 verify\nc1 ok verify\n", Illegal, Illegal},
		{"verified while another is without", false, held + "gone c1\nc2 verify\nc2 ok verify\n", Legal, Legal},
		{"verified as its connection ends", false, held + "c1 verify\ngone c1\nc1 ok verify\n", Legal, Legal},
		{"verified after the end of its connection, while the next one ends", false,
			held + "gone c1\nc1 verify\nrestart\nc1 ok verify\n", Illegal, Illegal},
		{"released, and verified", false, held + "c1 release\nc1 ok release\nc1 verify\nc1 ok verify\n", Illegal, Illegal},
		{"a release without an answer, and verified", false,
			held + "c1 release\nc1 info release timed-out\nc1 verify\nc1 ok verify\ngone c9\n", Undecided, Undecided},
		{"two releases without an answer of one who has both", false,
			"c1 acquire\nc1 ok acquire\nc1 acquire\nc1 ok acquire\nc1 release\nc1 info release\nc1 release\n" +
				"c2 acquire\nc2 ok acquire\nc3 acquire\nc3 ok acquire\nc1 info release timed-out\n", Legal, Legal},
		{"and a third that is granted one", false,
			"c1 acquire\nc1 ok acquire\nc1 acquire\nc1 ok acquire\nc1 release\nc1 info release\nc1 release\n" +
				"c2 acquire\nc2 ok acquire\nc3 acquire\nc3 ok acquire\nc4 acquire\nc4 ok acquire\nc1 info release timed-out\n", Illegal, Illegal},
		{"waited for none in particular", false, held + "c3 wait\nc3 ok wait\n", Legal, Legal},
		{"granted, and lost before the answer", false,
			"c1 acquire\nc1 ok acquire\nc2 acquire\ngone c2\nc3 acquire\nc3 ok acquire\nc2 ok acquire\n", Legal, Legal},
		{"lost before the answer, while all were held", false,
			"c1 acquire\nc1 ok acquire\nc2 acquire\nc3 acquire\nc3 ok acquire\ngone c2\nc2 ok acquire\n", Illegal, Illegal},
		{"lost before the answer, and not held since", false,
			"c2 acquire\ngone c2\nc2 ok acquire\n" + held, Legal, Legal},
		{"full while all are held", false, held + "c3 acquire\nc3 fail acquire full\n", Legal, Legal},
		{"full while all were held when it was asked", false, held + "c3 acquire\nc1 release\nc1 ok release\nc3 fail acquire full\n", Legal, Legal},
		{"full while one is left", false, "c1 acquire\nc1 ok acquire\nc3 acquire\nc3 fail acquire full\n", Legal, Undecided},
		{"full after all were held", false, held + "c1 release\nc1 ok release\nc3 acquire\nc3 fail acquire full\n", Legal, Undecided},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := drawn.Script(t, lock.Semaphore, 2, c.text)
			h.GoneLate = c.late
			if err := Validate(h); err != nil {
				t.Fatal(err)
			}
			for s, want := range map[property.FailedAcquire]Decision{property.Weak: c.weak, property.Strong: c.strong} {
				f, others := decide(t, new(Checker), h, Options{FailedAcquire: s})
				if f.Decision != want {
					t.Errorf("%s: %s by the fast check: %s; want %s", s, f.Decision, f.Why, want)
				}
				if disagree(f, others) {
					t.Errorf("%s: %s by the fast check, but %v by the others", s, f.Decision, others)
				}
			}
		})
	}
}
