package linear

import (
	"fmt"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestCutsMakeNoDifference: simplifying a history for porcupine does not change its decision. The test narrows
// intervals and cuts at every possible moment, more often than usual.
func TestCutsMakeNoDifference(t *testing.T) {
	cuts := 0
	for seed := range uint64(1500) {
		choose := drawn.BySeed(seed)
		d := drawn.Any(choose)
		d.Steps = min(d.Steps, 30)
		h := drawn.History(choose, d)
		if Validate(h) != nil {
			continue
		}
		for _, o := range readings {
			if o.Releases == ByAnyone {
				h = usurped(choose, h)
			}
			r := new(normaliser)
			if r.normalise(h, 0, o) != nil || r.inconsistent() {
				continue
			}
			p := r.decomposed(o.FailedAcquire)
			want := byPorcupine(p, [][]porcupine.Operation{p.Operations()})
			p.tighten()
			p.cuts = p.cut(1)
			cuts += len(p.cuts)
			got := byPorcupine(p, p.partition(p.Operations()))
			if got != want && got != Undecided && want != Undecided {
				t.Fatalf("seed %d, %+v: %s in parts, %s as a whole:\n%s", seed, o, got, want, drawn.Tell(h))
			}
		}
	}
	if cuts < 1000 {
		t.Errorf("only %d cuts were made: that says little", cuts)
	}
}

// TestOverlappingAdministration: mixes reports overlapping administrative operations, even if others come between them.
func TestOverlappingAdministration(t *testing.T) {
	overlap := func(a, b *operation) bool { return a.inv < b.ret && b.inv < a.ret }
	var counts [2]int
	for seed := range uint64(1000) {
		choose := drawn.BySeed(seed)
		h := drawn.History(choose, drawn.Any(choose))
		r := new(normaliser)
		if r.normalise(h, 0, Options{}) != nil {
			continue
		}
		var all []*operation
		for i := range r.calls {
			switch c := &r.calls[i]; c.effect {
			case adds, creates, removes, destroys:
				all = append(all, c)
			}
		}
		want := 0
		for i, a := range all {
			for _, b := range all[:i] {
				if overlap(a, b) {
					want = 1
				}
			}
		}
		counts[want]++
		if got := r.mixes(); got != (want == 1) {
			t.Fatalf("seed %d: overlapping administration is %v, want %v:\n%s", seed, got, want == 1, drawn.Tell(h))
		}
	}
	if min(counts[0], counts[1]) < 50 {
		t.Errorf("%d histories without, %d with overlapping administration: that says little", counts[0], counts[1])
	}
}

// TestCutAfterUnanswered: if any client may release, the released slot may be one that an unanswered acquire took.
// Answers alone then do not show that the lock is free, so the history is not cut there.
func TestCutAfterUnanswered(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       Decision
	}{
		{"unanswered", "c1 acquire\nc1 info acquire timed-out\nc1 release 1\ngone c1\nc1 ok release 1\nc2 acquire\nc2 ok acquire 1\n", Legal},
		{"answered", "c1 acquire\nc1 ok acquire 1\nc1 release 1\nc1 ok release 1\nc2 acquire\nc2 ok acquire 1\n", Legal},
		{"released as the broker restarts", "c1 acquire\nc1 ok acquire 1\nc1 release 1\nrestart\nc1 ok release 1\nc2 acquire\nc2 ok acquire 1\n", Legal},
		{"released after a restart", "c1 acquire\nc1 ok acquire 1\nrestart\nc2 acquire\nc2 ok acquire 1\nc2 release 1\nc2 ok release 1\nc4 acquire\nc4 ok acquire 1\n", Legal},
		{"released again", "c1 acquire\nc1 ok acquire 1\nc1 release 1\nc1 ok release 1\nc2 acquire\nc2 ok acquire 1\nc1 release 1\nc1 ok release 1\n", Illegal},
	} {
		text := strings.Repeat("c9 acquire\nc9 fail acquire gave-up\n", cutSize/2-3) + "restart\n" + c.text + "c3 acquire\nc3 fail acquire full\n"
		h := drawn.Script(t, lock.Semaphore, 1, text)
		if f := Check(h, Options{Releases: ByAnyone}); f.Decision != c.want {
			t.Errorf("%s: %s by %s: %s; want %s", c.name, f.Decision, f.How, f.Why, c.want)
		}
	}
}

// TestMoreUnansweredThanCanBeTold: the fast check can keep track of 64 unanswered acquires only. With more it is
// undecided, but never wrong. In this history, only the last acquire can have had the slot.
func TestMoreUnansweredThanCanBeTold(t *testing.T) {
	const many = 70
	var text strings.Builder
	for c := range many {
		fmt.Fprintf(&text, "c%d acquire\nc%d info acquire timed-out\n", c+10, c+10)
	}
	fmt.Fprintf(&text, "c1 acquire\nc1 fail acquire full\ngone c%d\nc2 acquire\nc2 ok acquire 1\n", many+9)
	for c := range many - 1 {
		fmt.Fprintf(&text, "gone c%d\n", c+10)
	}
	h := drawn.Script(t, lock.Semaphore, 1, text.String())
	if err := Validate(h); err != nil {
		t.Fatal(err)
	}
	for s := property.Weak; s <= property.Strong; s++ {
		if f := Check(h, Options{FailedAcquire: s}); f.Decision == Illegal {
			t.Errorf("%s: illegal by %s: %s", s, f.How, f.Why)
		}
	}
}

// TestMoreSlotsThanCanBeTold: the fast check is undecided if a lock has more slots than it supports. The search then
// decides.
func TestMoreSlotsThanCanBeTold(t *testing.T) {
	for slots, want := range map[int]Decision{maxFrontierSlots: Legal, maxFrontierSlots + 1: Undecided} {
		h := drawn.Script(t, lock.Semaphore, slots, "c1 acquire\nc1 ok acquire 1\n")
		var c Checker
		if err := c.normaliser.normalise(h, 0, Options{}); err != nil {
			t.Fatal(err)
		}
		if f := c.fast(Options{}); f.Decision != want || f.Event != -1 || (want == Undecided) != (f.Why == "there are too many slots") {
			t.Errorf("%d slots: %+v", slots, f)
		}
		if f := c.Linearizable(h, Options{}); f.Decision != Legal {
			t.Errorf("%d slots: %+v", slots, f)
		}
	}
}

// TestPermitOfACrashed: if ends of connections are recorded late, a crashed client may lose its permit at any moment
// since the crash. Another client may then get the permit before the record, but not before the crash.
func TestPermitOfACrashed(t *testing.T) {
	for _, c := range []struct {
		name, text string
		late       bool
		want       Decision
	}{
		{"told late", "c1 acquire\nc1 ok acquire\ncrash c1\nc2 acquire\nc2 ok acquire\ngone c1\n", true, Legal},
		{"told in time", "c1 acquire\nc1 ok acquire\ncrash c1\nc2 acquire\nc2 ok acquire\ngone c1\n", false, Illegal},
		{"told before", "c1 acquire\nc1 ok acquire\ncrash c1\ngone c1\nc2 acquire\nc2 ok acquire\n", false, Legal},
		{"not crashed yet", "c1 acquire\nc1 ok acquire\nc2 acquire\nc2 ok acquire\ncrash c1\ngone c1\n", true, Illegal},
		{"two after one crash", "c1 acquire\nc1 ok acquire\ncrash c1\nc2 acquire\nc2 ok acquire\nc3 acquire\nc3 ok acquire\ngone c1\n", true, Illegal},
	} {
		h := drawn.Script(t, lock.Semaphore, 1, c.text)
		h.GoneLate = c.late
		if f := Check(h, Options{}); f.Decision != c.want {
			t.Errorf("%s: %s by %s: %s; want %s", c.name, f.Decision, f.How, f.Why, c.want)
		}
	}
}
