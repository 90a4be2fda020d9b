package judge_test

import (
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/judge"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// decisions are those on linearizability and on mutual-exclusion.
func decisions(all []linear.Verdict) (order, exclusion linear.Decision) {
	for _, v := range all {
		switch v.Property {
		case property.Linearizable:
			order = v.Decision
		case property.MutualExclusion:
			exclusion = v.Decision
		}
	}
	return order, exclusion
}

// TestAcquit: in a linearizable history nobody is accused of holding what another holds. Here a judge of beliefs alone
// errs: it takes the release by client 3 for the end of the hold of client 1, but it may have been that of client 2.
func TestAcquit(t *testing.T) {
	h := drawn.Script(t, lock.Semaphore, 2, "c1 acquire\nc1 ok acquire\nc2 acquire\nc2 ok acquire\nc3 release\nc3 ok release\n"+
		"c1 verify\nc1 info verify disconnected\nc4 acquire\nc4 ok acquire\nc5 acquire\nc5 ok acquire\n")
	all, err := judge.History(h, linear.Options{Releases: linear.ByAnyone})
	if err != nil {
		t.Fatal(err)
	}
	if order, exclusion := decisions(all); order != linear.Legal || exclusion != linear.Legal {
		t.Errorf("linearizable is %s, mutual-exclusion %s: %+v", order, exclusion, all)
	}
}

// TestContradiction: on no random history do the verdicts contradict one another.
func TestContradiction(t *testing.T) {
	legal, illegal := 0, 0
	for i := range 1500 {
		h := drawn.Pinned(9000, i, 30)
		h.GoneMayFree = i%7 == 3
		all, err := judge.History(h, linear.Options{Releases: linear.Releases(i % 5 / 4), FailedRelease: linear.FailedRelease(i % 2)})
		if err != nil {
			continue
		}
		order, exclusion := decisions(all)
		if order == linear.Legal && exclusion != linear.Legal {
			t.Fatalf("history %d: linearizable, but mutual-exclusion is %s:\n%s", i, exclusion, drawn.Tell(h))
		}
		if order == linear.Legal {
			legal++
		}
		if exclusion == linear.Illegal {
			illegal++
		}
	}
	if legal < 400 || illegal < 20 {
		t.Errorf("%d histories are linearizable, and %d break mutual-exclusion", legal, illegal)
	}
}
