package beliefs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestDoubts: what a client is told, or not told, after another was granted the lock decides whether both held it.
func TestDoubts(t *testing.T) {
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
		{"a crash", both + "crash c1\n", linear.ByHolder, linear.Legal},
		{"an answer, and then a crash", both + "c1 verify\nc1 ok verify 1\ncrash c1\n", linear.ByHolder, linear.Illegal},
		{"no answer in time, and then a lost connection", both + "c1 acquire\nc1 fail acquire timed-out\nc1 release\nc1 info release disconnected\n", linear.ByHolder, linear.Legal},
		{"a release by another, answered after a verify", "c4 release\nc1 acquire\nc1 ok acquire\nc1 verify\nc2 acquire\nc2 ok acquire\nc1 ok verify 1\nc4 ok release\n",
			linear.ByAnyone, linear.Legal},
		{"one release by another that lost its connection, for three", "c3 release\nc3 info release disconnected\n" + both + "c4 acquire\nc4 ok acquire\n", linear.ByAnyone, linear.Illegal},
		{"a release by another before both asked, of which the answer names a slot", "c3 release\nc3 ok release 1\n" + both, linear.ByAnyone, linear.Illegal},
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

// TestDoubtsOfPermits: the same for a semaphore with two permits.
func TestDoubtsOfPermits(t *testing.T) {
	const both = "c1 acquire\nc1 ok acquire\nc2 acquire\nc2 ok acquire\n"
	for _, test := range []struct {
		name, text string
		want       linear.Decision
	}{
		{"a lost connection during another's verify", both + "c2 verify\nc3 acquire\nc3 ok acquire\nc1 release\nc1 info release disconnected\nc2 ok verify 0\n", linear.Legal},
		{"an answer, and then a lost connection", both + "c2 verify\nc3 acquire\nc3 ok acquire\nc1 acquire\nc1 fail acquire full\n" +
			"c1 release\nc1 info release disconnected\nc2 ok verify 0\n", linear.Illegal},
		{"an answer of one with two", "c1 acquire\nc1 ok acquire\nc1 acquire\nc1 ok acquire\nc3 acquire\nc3 ok acquire\n" +
			"c1 acquire\nc1 fail acquire full\nc1 release\nc1 info release disconnected\n", linear.Illegal},
	} {
		for _, v := range judge(drawn.Script(t, lock.Semaphore, 2, test.text), linear.Options{}) {
			if v.Property == property.MutualExclusion && v.Decision != test.want {
				t.Errorf("%s: %s, expected %s: %s", test.name, v.Decision, test.want, v.Why)
			}
		}
	}
}

// TestNotKept: a client whose release failed, as its connection was lost, may hold nothing.
func TestNotKept(t *testing.T) {
	h := drawn.Script(t, lock.Mutex, 0, "c1 acquire\nc1 ok acquire\nc1 release\nc1 fail release disconnected\nc2 acquire\nc2 ok acquire\n")
	for _, v := range judge(h, linear.Options{FailedRelease: linear.KeepsBelief}) {
		if v.Decision != linear.Legal {
			t.Errorf("%s: %s", v.Property, v.Why)
		}
	}
}

// TestTooManyDoubts: if there are too many doubts, mutual-exclusion is undecided, unless a violation is found.
func TestTooManyDoubts(t *testing.T) {
	var text strings.Builder
	for i := range mostDoubts + 1 {
		for p := range 2 {
			fmt.Fprintf(&text, "c%[1]d acquire\nc%[1]d ok acquire\n", 2*i+p)
		}
		for p := range 2 {
			fmt.Fprintf(&text, "c%[1]d release\nc%[1]d info release timed-out\n", 2*i+p)
		}
	}
	for i := range mostDoubts + 1 {
		fmt.Fprintf(&text, "c%[1]d release\nc%[1]d info release disconnected\n", 2*i)
	}
	for _, end := range []struct {
		text string
		want linear.Decision
	}{{"", linear.Undecided}, {"c1 acquire\nc1 ok acquire\nc3 acquire\nc3 ok acquire\n", linear.Illegal}} {
		for _, v := range judge(drawn.Script(t, lock.Mutex, 0, text.String()+end.text), linear.Options{}) {
			if v.Property == property.MutualExclusion && (v.Decision != end.want || v.Why == "") {
				t.Errorf("%s, expected %s: %s", v.Decision, end.want, v.Why)
			}
		}
	}
}

// TestStraysAreForgotten: releases by others that can end no hold any more take no memory.
func TestStraysAreForgotten(t *testing.T) {
	h := drawn.Script(t, lock.Mutex, 0, "c1 acquire\nc1 ok acquire\nc1 release\nc1 ok release\nc2 release\nc2 ok release\n")
	w := New(h, linear.Options{Releases: linear.ByAnyone})
	for i := range 6000 {
		w.Event(i, &h.Events[i%6])
	}
	for at, s := range w.strays {
		if n := len(s.answered); n > 8 {
			t.Errorf("%d are kept of %v", n, at)
		}
	}
}
