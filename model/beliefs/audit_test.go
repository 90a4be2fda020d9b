package beliefs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// auditedIn runs an Audit on a history and returns the violated properties and the last reason. In words, "2+" means
// that client 2 acquires the lock, "2-" that its acquire fails, "2r" that it releases the lock, and "2k" that it dies.
// Other words are those of [drawn.Script].
func auditedIn(t *testing.T, kind lock.Kind, words string) (broken []string, why string) {
	t.Helper()
	lines := map[byte]string{
		'+': "c%[1]s acquire\nc%[1]s ok acquire 1", '-': "c%[1]s acquire\nc%[1]s fail acquire full", 'r': "c%[1]s release 1\nc%[1]s ok release 1",
		'?': "c%[1]s acquire\nc%[1]s info acquire", 'R': "c%[1]s release 1\nc%[1]s fail release 1", 'k': "crash c%[1]s", 'g': "gone c%[1]s", 'l': "lapse c%[1]s",
		'v': "c%[1]s verify 1\nc%[1]s ok verify 1", 'n': "c%[1]s verify 1\nc%[1]s ok verify 1 no", 'a': "c%[1]s add 1\nc%[1]s ok add",
		'c': "c%[1]s count\nc%[1]s ok count 2", '<': "c%[1]s acquire", '>': "c%[1]s fail acquire full",
	}
	var text strings.Builder
	for _, word := range strings.Fields(words) {
		if n := len(word) - 1; n > 0 && lines[word[n]] != "" {
			fmt.Fprintf(&text, lines[word[n]]+"\n", word[:n])
		} else {
			fmt.Fprintln(&text, word)
		}
	}
	h := drawn.Script(t, kind, 2, text.String())
	h.GoneMayFree = true
	a := NewAudit(h, linear.Options{})
	for i := range h.Events {
		a.Event(i, &h.Events[i])
	}
	for _, v := range a.Verdicts() {
		if v.Checked == 0 || (v.Decision == linear.Illegal) != (v.Why != "") {
			t.Errorf("%+v", v)
		}
		if v.Decision == linear.Illegal {
			broken, why = append(broken, v.Property.String()), v.Why
		}
	}
	return broken, why
}

// TestAudit: in the audit, an acquire of a free lock must succeed. The property that a failure violates depends on the
// faults before.
func TestAudit(t *testing.T) {
	const semaphore, mutex = lock.Semaphore, lock.Mutex
	for _, c := range []struct {
		name  string
		kind  lock.Kind
		words string
		fails property.Property // Count means that no property is violated
		why   string
	}{
		{"nothing is refused", semaphore, "1+ 1r audit 8+ 9+ 7- 8r 9r 1+ 1r", property.Count, ""},
		{"there is no audit", semaphore, "1+ 1r 8+ 9-", property.Count, ""},
		{"a mutex", mutex, "1+ 1r audit 8+ 9- 8r 1+ 1r", property.Count, ""},
		{"a second attempt", mutex, "1+ 1r audit 8- 8- 8+ 8r", property.Count, ""},
		{"a believer has it still", semaphore, "1+ audit 8+ 9- 1v 1r 8r 8+ 9+", property.Count, ""},
		{"who does not know may have it", mutex, "1? audit 8- 1k 8+", property.Count, ""},
		{"who does not know releases a mutex", mutex, "1? 1g audit 1r 8-", property.NoLeak, "after a lost connection"},
		{"who does not know releases a mutex before all is at rest", mutex, "1? 1r audit 8-", property.Count, ""},
		{"who does not know releases one of two", semaphore, "1? 1g audit 1r 8+ 9-", property.Count, ""},
		{"who does not know may have two", semaphore, "audit 8? 8+ 8r 7+ 9-", property.Count, ""},
		{"somebody else is at work", mutex, "audit 8< 9- 8> 9+", property.Count, ""},
		{"who found out that it is over", mutex, "1+ 1n audit 8-", property.Progress, "though nobody has held it"},
		{"never held", mutex, "audit 8-", property.Progress, "at rest, though nobody has held it, c8, a fresh client, is refused the lock"},
		{"not given back", mutex, "1+ 1r audit 8- 8-", property.EffectiveRelease, "at rest after a release, c8"},
		{"given back without success", mutex, "1+ 1R audit 8-", property.EffectiveRelease, "after a release"},
		{"one of two", semaphore, "1+ 1r audit 8+ 9- 8r", property.EffectiveRelease, "a slot, though 1 of 2 are free"},
		{"who dies leaves it taken", mutex, "1+ 1k audit 8-", property.CrashFrees, "after a crash"},
		{"a restart", mutex, "1+ 1k restart audit 8-", property.SurvivesRestart, "after a restart"},
		{"a lost connection", mutex, "1+ 1g 1r audit 8-", property.NoLeak, "after a lost connection"},
		{"a lease that ended", mutex, "1+ 1l audit 8-", property.Progress, "after an expiry"},
		{"slots were added", semaphore, "1a audit 7+ 8+ 9- 7r", property.ContiguousSlots, "after a change of its slots"},
		{"a survivor", mutex, "1+ 1r audit 8+ 8r 1-", property.Progress, "c1, who survived"},
		{"a survivor that did nothing", mutex, "1g audit 8+ 8r 1-", property.Progress, "c1, who survived"},
		{"it was killed in the audit", mutex, "1? audit 1k 8-", property.Progress, "though nobody has held it"},
		{"a count", semaphore, "1a audit 8c", property.ExactCount, "c8 counts 2 slots"},
		{"a count that is right", semaphore, "1+ 1r audit 8c", property.Count, ""},
	} {
		broken, why := auditedIn(t, c.kind, c.words)
		want := fmt.Sprint([]string(nil))
		if c.fails != property.Count {
			want = fmt.Sprint([]string{c.fails.String()})
		}
		if fmt.Sprint(broken) != want || !strings.Contains(why, c.why) {
			t.Errorf("%s: %v violated, %q; expected %s, %q", c.name, broken, why, want, c.why)
		}
	}
}

// TestAuditExercises: if all acquires in the audit succeed, the verdicts list the properties that were checked.
func TestAuditExercises(t *testing.T) {
	h := drawn.Script(t, lock.Mutex, 1, "c1 acquire\nc1 ok acquire 1\nc1 release 1\nc1 ok release 1\ncrash c1\naudit\nc8 acquire\nc8 ok acquire 1")
	a := NewAudit(h, linear.Options{})
	for i := range h.Events {
		a.Event(i, &h.Events[i])
	}
	var judged property.Set
	for _, v := range a.Verdicts() {
		judged = judged.With(v.Property)
	}
	if want := property.Set(1<<property.Progress | 1<<property.CrashFrees | 1<<property.EffectiveRelease); judged != want || !a.Begun() {
		t.Errorf("put to the test: %v", judged.Names())
	}
	if h.Events[5].F != history.Audit {
		t.Errorf("event 5 is %s", h.Events[5].F)
	}
}

// TestAtRest: a runner may say that all was at rest before the audit began, when a client released what it may have had.
func TestAtRest(t *testing.T) {
	h := drawn.Script(t, lock.Mutex, 1, "c1 acquire\nc1 info acquire\nc1 release\nc1 ok release\naudit\nc8 acquire\nc8 fail acquire full")
	for rest, want := range map[int]linear.Decision{0: linear.Legal, 2: linear.Illegal, 3: linear.Legal} {
		a := NewAudit(h, linear.Options{})
		a.Before.Rest = rest
		for i := range h.Events {
			a.Event(i, &h.Events[i])
		}
		got := linear.Legal
		for _, v := range a.Verdicts() {
			if v.Decision == linear.Illegal {
				got = linear.Illegal
			}
		}
		if got != want {
			t.Errorf("at rest from event %d on: %s, expected %s", rest, got, want)
		}
	}
}
