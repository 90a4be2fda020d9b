package beliefs

import (
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestSuspects: what a client is told, or not told, after another was granted the lock decides whether both held it.
func TestSuspects(t *testing.T) {
	const both = "c1 acquire\nc1 ok acquire\nc2 acquire\nc2 ok acquire\n"
	for _, test := range []struct {
		name, text string
		releases   linear.Releases
		want       linear.Decision
	}{
		{"nothing", both, linear.ByHolder, linear.Illegal},
		{"a lost connection in a release", both + "c1 release\nc1 info release disconnected\n", linear.ByHolder, linear.Legal},
		{"a crash in a verify", both + "c1 verify\nc1 info verify crashed\n", linear.ByHolder, linear.Legal},
		{"no answer", both + "c1 release\nc1 info release timed-out\n", linear.ByHolder, linear.Illegal},
		{"an answer, and then a lost connection", both + "c1 verify\nc1 ok verify 1\nc1 release\nc1 info release disconnected\n", linear.ByHolder, linear.Illegal},
		{"the end of another connection, as ends are recorded", "gone c3\n" + both + "c1 release\nc1 info release disconnected\n", linear.ByHolder, linear.Illegal},
		{"a lost connection before the other grant", "c1 acquire\nc1 ok acquire\nc1 acquire\nc1 info acquire disconnected\nc2 acquire\nc2 ok acquire\n", linear.ByHolder, linear.Legal},
		{"a verify without an answer", "c1 acquire\nc1 ok acquire\nc1 verify\nc1 info verify\nc2 acquire\nc2 ok acquire\n", linear.ByHolder, linear.Legal},
		{"the grant of a third", both + "c3 acquire\nc3 ok acquire\nc1 release\nc1 info release disconnected\n", linear.ByHolder, linear.Illegal},
		{"a release by another, called before the first grant", "c3 release\n" + both + "c3 info release\n", linear.ByAnyone, linear.Legal},
		{"a release by another, answered after both", "c3 release\n" + both + "c3 ok release\n", linear.ByAnyone, linear.Legal},
		{"a release by another that failed", "c3 release\nc3 fail release\n" + both, linear.ByAnyone, linear.Illegal},
		{"a release by another, answered before both asked", "c3 release\nc3 ok release\n" + both, linear.ByAnyone, linear.Illegal},
		{"a release by another, answered before the first is told", "c1 acquire\nc3 release\nc3 ok release\nc1 ok acquire\nc2 acquire\nc2 ok acquire\n", linear.ByAnyone, linear.Legal},
		{"a release by another, answered before the second is told", "c2 acquire\nc3 release\nc3 ok release\nc1 acquire\nc1 ok acquire\nc2 ok acquire\n", linear.ByAnyone, linear.Legal},
		{"a release by the holder, which had lost it", "c1 acquire\nc1 ok acquire\nc1 release\nc2 acquire\nc2 ok acquire\nc1 info release crashed\nc3 acquire\nc3 ok acquire\n", linear.ByAnyone, linear.Legal},
		{"one release by another for three", "c3 release\n" + both + "c4 acquire\nc4 ok acquire\n", linear.ByAnyone, linear.Illegal},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := drawn.Script(t, lock.Mutex, 0, test.text)
			for _, v := range judge(h, linear.Options{Releases: test.releases}) {
				if v.Property == property.MutualExclusion && v.Decision != test.want {
					t.Errorf("%s, expected %s: %s", v.Decision, test.want, v.Why)
				}
			}
		})
	}
}

// TestBeside: a grant beside others names them, and a client that holds the lock twice is no two clients.
func TestBeside(t *testing.T) {
	const both = "c1 acquire\nc1 ok acquire\nc2 acquire\nc2 ok acquire\n"
	for _, test := range []struct {
		kind      lock.Kind
		permits   int
		text, why string
	}{
		{lock.Mutex, 0, both, "c2 was told that it holds the lock (event 3), and c1 holds it"},
		{lock.Mutex, 0, "c1 acquire\nc1 ok acquire\nc1 acquire\nc1 ok acquire\n", ""},
		{lock.Semaphore, 2, both + "c3 acquire\nc3 ok acquire\n", "c3 was told that it holds a permit (event 5), but all 2 are held, by c1 and c2"},
		{lock.Semaphore, 2, "c1 acquire\nc1 ok acquire\nc1 acquire\nc1 ok acquire\nc3 acquire\nc3 ok acquire\n", "c3 was told that it holds a permit (event 5), but all 2 are held, by c1"},
		{lock.Semaphore, 1, "c1 acquire\nc1 ok acquire\nc1 acquire\nc1 ok acquire\n", "c1 was told that it holds a permit (event 3), but the only one is held, by c1"},
	} {
		for _, v := range judge(drawn.Script(t, test.kind, test.permits, test.text), linear.Options{}) {
			if v.Property == property.MutualExclusion && v.Why != test.why {
				t.Errorf("%s%q, expected %q", test.text, v.Why, test.why)
			}
		}
	}
}

// TestLapsed: a client that believes in its hold after its lease ended is told of its lease, not of a connection.
func TestLapsed(t *testing.T) {
	h := drawn.Script(t, lock.Mutex, 0, "c1 acquire\nc1 ok acquire\nlapse c1\nc1 verify\nc1 ok verify 1\n")
	for _, v := range judge(h, linear.Options{}) {
		if want := "c1 was told that it holds the lock (event 4), but its lease had ended before it asked"; v.Property == property.StaleBeliefEnds && v.Why != want {
			t.Errorf("%q, expected %q", v.Why, want)
		}
	}
}
