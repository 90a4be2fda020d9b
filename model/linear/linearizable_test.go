package linear

import (
	"strings"
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// told are small histories of one lock, each with the expected explanation of why it is illegal.
var told = []struct {
	name  string
	kind  lock.Kind
	slots int
	text  string
	why   string // the expected explanation; "" if the history is legal
	event int
	only  property.FailedAcquire // the weakest semantics under which the history is illegal
}{
	{
		name: "two hold one slot", slots: 2,
		text: `
			c1 acquire
			c1 ok acquire 1
			c2 acquire
			c2 ok acquire 1`,
		why: "c2 was granted slot 1 (events 2 to 3), but c1 had it: it was granted at event 1 and not given back", event: 3,
	},
	{
		name: "a release and an acquire overlap", slots: 1,
		text: `
			c1 acquire
			c1 ok acquire 1
			c1 release 1
			c2 acquire
			c2 ok acquire 1
			c1 ok release 1`,
	},
	{
		name: "a slot that does not exist", slots: 2,
		text: `
			c1 acquire
			c1 ok acquire 3`,
		why: "c1 was granted slot 3 (events 0 to 1), but it did not exist at any moment of the call", event: 1,
	},
	{
		name: "a free slot was overlooked", slots: 2,
		text: `
			c1 acquire
			c1 ok acquire 1
			c2 acquire
			c2 fail acquire full`,
		why: "c2 was told that the lock is full (events 2 to 3), but slot 2 was free all the while", event: 3,
	},
	{
		name: "each slot was taken, but never all", slots: 2,
		text: `
			c1 acquire
			c1 ok acquire 1
			c2 acquire
			c1 release 1
			c1 ok release 1
			c3 acquire
			c3 ok acquire 2
			c2 fail acquire full`,
		why: "c2 was told that the lock is full (events 2 to 7), but at no moment of the call every slot was taken", event: 7, only: property.Strong,
	},
	{
		name: "giving up says nothing", slots: 2,
		text: `
			c1 acquire
			c1 fail acquire gave-up`,
	},
	{
		name: "a slot is there and held for a moment only, before the end of which nothing is known", slots: 3,
		text: `
			c3 acquire
			c2 destroy
			c4 acquire
			c3 ok acquire 1
			c2 ok destroy
			c3 verify 1
			c2 create 2
			c3 ok verify 1
			c3 release 1
			c4 ok acquire 1`,
	},
	{
		name: "an unanswered acquire explains a full lock", slots: 1,
		text: `
			c1 acquire
			crash c1
			c2 acquire
			c2 fail acquire full`,
	},
	{
		name: "but not once its connection is gone", slots: 1,
		text: `
			c1 acquire
			crash c1
			gone c1
			c2 acquire
			c2 fail acquire full`,
		why: "c2 was told that the lock is full (events 3 to 4), but slot 1 was free all the while, and no unanswered acquire can have had it", event: 4,
	},
	{
		name: "a crash frees nothing yet", slots: 1,
		text: `
			c1 acquire
			c1 ok acquire 1
			crash c1
			c2 acquire
			c2 ok acquire 1
			gone c1`,
		why: "c2 was granted slot 1 (events 3 to 4), but c1 had it: it was granted at event 1 and not given back", event: 4,
	},
	{
		name: "the end of the connection does", slots: 1,
		text: `
			c1 acquire
			c1 ok acquire 1
			gone c1
			c2 acquire
			c2 ok acquire 1
			c1 verify 1
			c1 ok verify 1 disconnected`,
	},
	{
		name: "a stale belief is confirmed", slots: 1,
		text: `
			c1 acquire
			c1 ok acquire 1
			gone c1
			c1 verify 1
			c1 ok verify 1`,
		why: "c1 was told that it holds slot 1 (events 3 to 4), but its connection had ended before", event: 4,
	},
	{
		name: "a removed slot is verified", slots: 1,
		text: `
			c1 acquire
			c1 ok acquire 1
			c2 remove 1
			c2 ok remove
			c1 verify 1
			c1 ok verify 1`,
		why: "c1 was told that it holds slot 1 (events 4 to 5), but it did not exist at any moment of the call", event: 5,
	},
	{
		name: "a slot is said to be removed that is not", slots: 1,
		text: `
			c1 acquire
			c1 ok acquire 1
			c1 verify 1
			c1 ok verify 1 removed`,
		why: "c1 was told that slot 1 is removed (events 2 to 3), but it existed all the while", event: 3,
	},
	{
		name: "a wrong count", slots: 2,
		text: `
			c1 count
			c1 ok count 3`,
		why: "c1 counted 3 slots (events 0 to 1), but there were 2", event: 1,
	},
	{
		name: "a count in the middle of a removal", slots: 4,
		text: `
			c1 remove 2
			c2 count
			c2 ok count 3
			c1 ok remove`,
	},
	{
		name: "a wait that did not", slots: 1,
		text: `
			c1 acquire
			c1 ok acquire 1
			c2 wait 1
			c2 ok wait 1`,
		why: "c2 was told that nobody has slot 1 (events 2 to 3), but c1 had it all the while", event: 3,
	},
	{
		name: "withdrawing from a slot that nobody removes", slots: 1,
		text: `
			c1 acquire
			c1 fail acquire 1 withdrawn`,
		why: "c1 withdrew from slot 1 (events 0 to 1), but at no moment was it free and then gone", event: 1,
	},
	{
		name: "a claim that is withdrawn is seen", slots: 1,
		text: `
			c1 remove 1
			c2 acquire
			c3 acquire
			c3 fail acquire full
			c1 ok remove
			c2 fail acquire 1 withdrawn`,
	},
	{
		name: "a hole", slots: 0,
		text: `
			c1 create 2
			c2 acquire
			c2 ok acquire 2
			c2 release 2
			c2 ok release 2
			c3 acquire
			c3 ok acquire 1
			c3 count
			c3 ok count 0
			c1 ok create`,
		why: "c3 counted 0 slots (events 7 to 8), but there were 2", event: 8,
	},
	{
		name: "somebody else's slot is released", slots: 1,
		text: `
			c1 acquire
			c1 ok acquire 1
			c2 release 1
			c2 ok release 1`,
		why: "c2 gave slot 1 back (events 2 to 3), which it did not have", event: 3,
	},
	{
		name: "a mutex is not removed", kind: lock.Mutex,
		text: `
			c1 acquire
			c1 ok acquire 1
			c1 verify 1
			c1 ok verify 1 removed`,
		why: "c1 was told that the lock is gone (events 2 to 3), but it existed all the while", event: 3,
	},
	{
		name: "permits", slots: 2,
		text: `
			c1 acquire
			c1 ok acquire
			c2 acquire
			c2 ok acquire
			c1 release
			c3 acquire
			c3 ok acquire
			c4 acquire
			c4 ok acquire`,
		why: "c4 was granted a permit at event 8, but all 2 were held", event: 8,
	},
	{
		name: "an unanswered release frees only once", kind: lock.Mutex,
		text: `
			c1 acquire
			c1 ok acquire
			c1 release
			c1 info release timed-out
			c2 acquire
			c2 ok acquire
			c3 acquire
			c3 ok acquire`,
		why: "c3 was granted the lock (events 6 to 7), but c2 had it: it was granted at event 5 and not given back", event: 7,
	},
	{
		name: "a create that a removal cuts short", slots: 0,
		text: `
			c1 create 2
			c2 count
			c2 ok count 1
			c2 remove 1
			c2 ok remove
			c2 count
			c2 ok count 0
			c1 ok create`,
		why: "c1's create cannot have happened as a whole (events 0 to 7)", event: 7,
	},
	{
		name: "one unanswered acquire does not take two slots", slots: 2,
		text: `
			c1 acquire
			crash c1
			c2 acquire
			c2 fail acquire full`,
		why: "c2 was told that the lock is full (events 2 to 3), but unanswered acquires cannot have had each of slots 1 and 2, which nobody else had", event: 3,
	},
	{
		name: "nor one after the other", slots: 2,
		text: `
			c1 acquire
			crash c1
			c2 acquire
			c2 ok acquire 1
			c3 acquire
			c3 fail acquire full
			c2 release 1
			c2 ok release 1
			c3 acquire
			c3 ok acquire 2
			c4 acquire
			c4 fail acquire full
			gone c1`,
		why: "c3 was told that the lock is full (events 4 to 5), but slot 2 was free all the while, and no unanswered acquire can have had it", event: 5,
	},
	{
		name: "nor any but the one that it names", slots: 2,
		text: `
			c1 acquire
			c1 info acquire 1 timed-out
			c2 acquire
			c2 ok acquire 1
			c3 acquire
			c3 fail acquire full
			gone c1`,
		why: "c3 was told that the lock is full (events 4 to 5), but slot 2 was free all the while, and no unanswered acquire can have had it", event: 5,
	},
	{
		name: "an administrator's end ends its work", slots: 1,
		text: `
			c1 remove 1
			crash c1
			gone c1
			c2 count
			c2 ok count 1
			c2 count
			c2 ok count 0`,
		why: "c2 counted 0 slots (events 5 to 6), but there were 1", event: 6,
	},
	{
		name: "a withdrawal before an acquire that began earlier", slots: 1,
		text: `
			c1 acquire
			c3 wait 1
			c3 ok wait 1
			c2 acquire
			c4 remove 1
			c4 ok remove
			c4 add 1
			c1 fail acquire 1 withdrawn
			c2 ok acquire 1
			c4 ok add`,
	},
	{
		name: "a withdrawal from a slot that somebody has", slots: 1,
		text: `
			c1 acquire
			c1 ok acquire 1
			c2 acquire
			c3 remove 1
			c3 ok remove
			c2 fail acquire 1 withdrawn`,
		why: "c2 withdrew from slot 1 (events 2 to 5), but at no moment was it free and then gone", event: 5,
	},
	{
		name: "an acquire after one that overlaps a wait", slots: 0, kind: lock.PersistentMutex,
		text: `
			c2 acquire
			c1 wait 1
			c1 ok wait 1
			c1 create 1
			c3 acquire
			c2 ok acquire 1
			c2 release 1
			c1 ok create
			c3 ok acquire 1
			c2 ok release 1`,
	},
	{
		name: "a verify that ran out of time gave a removed slot up", slots: 1,
		text: `
			c1 acquire
			c1 ok acquire 1
			c2 remove 1
			c2 ok remove
			c1 verify 1
			c1 ok verify 1 timed-out
			c2 wait 1
			c2 ok wait 1
			gone c1`,
	},
	{
		name: "and may yet do so", slots: 1,
		text: `
			c1 acquire
			c1 ok acquire 1
			c2 remove 1
			c1 verify 1
			c1 ok verify 1 disconnected
			c2 ok remove
			c2 add 1
			c2 ok add
			c3 acquire
			c3 fail acquire full
			c4 acquire
			c4 ok acquire 1
			gone c1`,
	},
	{
		name: "but not one that is there all the while", slots: 2,
		text: `
			c1 acquire
			c1 ok acquire 1
			c2 remove 1
			c2 ok remove
			c1 verify 1
			c1 ok verify 1 timed-out
			c2 wait 1
			c2 ok wait 1
			gone c1`,
		why: "c2 was told that nobody has slot 1 (events 6 to 7), but c1 had it all the while", event: 7,
	},
	{
		name: "nor one that was back when it was asked", slots: 1,
		text: `
			c1 acquire
			c1 ok acquire 1
			c2 remove 1
			c2 ok remove
			c2 add 1
			c2 ok add
			c1 verify 1
			c1 ok verify 1 timed-out
			c3 acquire
			c3 ok acquire 1
			gone c1`,
		why: "c3 was granted slot 1 (events 8 to 9), but c1 had it: it was granted at event 1 and not given back", event: 9,
	},
	{
		name: "a verify after one without an answer says removed", slots: 1,
		text: `
			c1 acquire
			c1 ok acquire 1
			c1 verify 1
			c1 info verify 1 timed-out
			c1 verify 1
			c1 ok verify 1 removed
			c2 remove 1
			c2 ok remove
			gone c1`,
		why: "c1 was told that slot 1 is removed (events 4 to 5), but it existed all the while", event: 5,
	},
	{
		name: "a release after a verify without an answer", slots: 1,
		text: `
			c1 acquire
			c1 ok acquire 1
			c1 verify 1
			c1 info verify 1 timed-out
			c2 acquire
			c2 ok acquire 1
			c1 release 1
			c1 ok release 1
			c2 remove 1
			c2 ok remove
			gone c1`,
		why: "c2 was granted slot 1 (events 4 to 5), but c1 had it: it was granted at event 1 and not given back", event: 5,
	},
	{
		name: "a permit until the end of its connection", slots: 2,
		text: `
			c1 acquire
			c1 ok acquire
			c2 acquire
			c3 acquire
			c3 ok acquire
			gone c2
			c2 ok acquire`,
		why: "c2 was granted a permit at event 6, but all 2 were held", event: 6,
	},
	{
		name: "a removal goes on where a slot is added after the last", slots: 1,
		text: `
			c1 remove 2
			c2 count
			c2 ok count 0
			c2 add 1
			c2 ok add
			c2 count
			c2 ok count 0
			c1 ok remove`,
	},
	{
		name: "a destruction does not", slots: 1,
		text: `
			c1 destroy
			c2 count
			c2 ok count 0
			c1 ok destroy
			c2 create 1
			c2 ok create
			c2 count
			c2 ok count 0`,
		why: "c2 counted 0 slots (events 6 to 7), but there were 1", event: 7,
	},
	{
		name: "granted on a connection of another number, which ends", slots: 1,
		text: `
			restart
			c1 acquire
			c1 ok acquire 1
			gone c9
			c2 acquire
			c2 ok acquire 1`,
	},
	{
		name: "and does not end before the next is granted", slots: 1,
		text: `
			restart
			c1 acquire
			c1 ok acquire 1
			c2 acquire
			c2 ok acquire 1
			gone c9`,
		why: "c2 was granted slot 1 (events 3 to 4), but c1 had it: it was granted at event 2 and not given back", event: 4,
	},
}

func TestFindings(t *testing.T) {
	for _, c := range told {
		t.Run(c.name, func(t *testing.T) {
			h := drawn.Script(t, c.kind, c.slots, c.text)
			for s := property.Weak; s <= property.Strong; s++ {
				f := Check(h, Options{FailedAcquire: s})
				want := Finding{Decision: Legal, Event: -1, How: byFastCheck}
				if c.why != "" && s >= c.only {
					want = Finding{Decision: Illegal, Event: c.event, Slot: f.Slot, Why: c.why, How: byFastCheck}
				}
				if f != want {
					t.Errorf("%s: %+v, expected %+v", s, f, want)
				}
				if f, r := decide(t, new(Checker), h, Options{FailedAcquire: s}); disagree(f, r) {
					t.Errorf("%s: porcupine says %v", s, r)
				}
			}
		})
	}
}

// TestProcessNumbers: the process numbers in a history do not change the decision, however large they are.
func TestProcessNumbers(t *testing.T) {
	for _, c := range told {
		for _, distance := range []int32{denseProcesses - 3, denseProcesses, 1 << 30} {
			h := drawn.Script(t, c.kind, c.slots, c.text)
			want := Check(h, Options{})
			for i := range h.Events {
				if e := &h.Events[i]; e.Process == history.Nemesis {
					e.Target += distance
				} else {
					e.Process += distance
				}
			}
			if got := Check(h, Options{}); got.Decision != want.Decision || got.Event != want.Event || got.How != want.How {
				t.Errorf("%s, numbers %d larger: %+v, expected %+v", c.name, distance, got, want)
			}
		}
	}
}

// TestAnswersAreForgotten: once all calls are answered, the fast check keeps nothing about them.
func TestAnswersAreForgotten(t *testing.T) {
	for _, c := range told {
		var w Checker
		if c.why != "" || strings.Contains(c.text, "crash") || strings.Contains(c.text, "gone") {
			continue
		}
		f := w.Linearizable(drawn.Script(t, c.kind, c.slots, c.text), Options{})
		open := strings.Count(c.text, "\n") - 2*(strings.Count(c.text, " ok ")+strings.Count(c.text, " fail ")) - strings.Count(c.text, "restart")
		if s := &w.frontier; open == 0 && (f.Decision != Legal || len(s.waiting)+len(s.staged)+s.fulls > 0) {
			t.Errorf("%s: %s, waiting %v, in stages %v, full %d", c.name, f.Decision, s.waiting, s.staged, s.fulls)
		}
	}
}

// TestSearchDecides: the search decides a history that only an unanswered acquire can explain.
func TestSearchDecides(t *testing.T) {
	const text = `
		c1 acquire
		c1 info acquire timed-out
		c1 release 1
		c1 ok release 1
		c2 acquire
		c2 ok acquire 1
		gone c9`
	f := Check(drawn.Script(t, lock.Mutex, 0, text), Options{})
	if f != (Finding{Decision: Legal, Event: -1, How: bySearch}) {
		t.Errorf("%+v", f)
	}
	f = Check(drawn.Script(t, lock.Mutex, 0, text+"\nc3 acquire\nc3 ok acquire 1"), Options{})
	want := Finding{Decision: Illegal, Event: 8, Slot: 1, How: bySearch,
		Why: "no order of the operations explains the answer to c3's acquire (event 8)"}
	if f != want {
		t.Errorf("%+v, expected %+v", f, want)
	}
}

// TestSearchDecidesWhatIsRemoved: a client may verify a slot that its unanswered acquire took, but not after the slot
// was removed.
func TestSearchDecidesWhatIsRemoved(t *testing.T) {
	const taken, removed = "c1 acquire\nc1 info acquire timed-out\n", "c2 remove 1\nc2 ok remove\n"
	for text, want := range map[string]Decision{
		taken + "c1 verify 1\nc1 ok verify 1\n" + removed:                Legal,
		taken + removed + "c1 verify 1\nc1 ok verify 1\n":                Illegal,
		taken + "c2 remove 1\nc1 verify 1\nc2 ok remove\nc1 ok verify 1": Legal,
	} {
		h := drawn.Script(t, lock.Semaphore, 1, text)
		f, others := decide(t, new(Checker), h, Options{})
		if f.Decision != Undecided || f.Event != -1 || others[0] != want || disagree(f, others) {
			t.Errorf("%s by the fast check, %v by others, expected %s:\n%s", f.Decision, others, want, text)
		}
	}
}

// TestCrowdIsAnswered: the fast check decides a history with many clients and unanswered operations, which is too hard
// for porcupine.
func TestCrowdIsAnswered(t *testing.T) {
	for _, evidence := range []bool{true, false} {
		for s := property.Weak; s <= property.Strong; s++ {
			h := drawn.Crowd{Operations: 1000, Clients: 30, Slots: 8, Unanswered: 0.01, Evidence: evidence}.Whole(1)
			if f := Check(h, Options{FailedAcquire: s}); f.Decision != Legal || f.How != byFastCheck {
				t.Errorf("evidence %v, %s: %+v", evidence, s, f)
			}
		}
	}
}

// TestNeedleIsFound: a single wrong answer in a long history, the grant of a taken slot, is found.
func TestNeedleIsFound(t *testing.T) {
	h := drawn.Crowd{Operations: 20_000, Clients: 30, Slots: 8, Unanswered: 0.01, Evidence: true}.Whole(1)
	for i := len(h.Events) / 2; ; i++ {
		e := &h.Events[i]
		if e.F != history.F(lock.Acquire) || e.Type != history.OK {
			continue
		}
		e.Slot = e.Slot%8 + 1
		f := Check(h, Options{})
		if f.Decision != Illegal || f.Event < i-100 || f.Event > i+100 || f.How != byFastCheck {
			t.Errorf("event %d was made wrong: %+v", i, f)
		}
		return
	}
}

func TestSeveralLocks(t *testing.T) {
	h := drawn.Script(t, lock.Semaphore, 1, `
		c1 acquire
		c1 ok acquire 1
		c2 acquire
		c2 ok acquire 1`)
	h.Locks, h.Slots = append(h.Locks, "mails"), append(h.Slots, 1)
	h.Events[2].Lock, h.Events[3].Lock = 1, 1
	if f := Check(h, Options{}); f.Decision != Legal {
		t.Errorf("each lock by itself is fine: %+v", f)
	}
	h.Events[3].Slot = 2
	if f := Check(h, Options{}); f.Decision != Illegal || f.Lock != 1 {
		t.Errorf("the second lock has no slot 2: %+v", f)
	}
}

func TestNamesAndNumbersDoNotMix(t *testing.T) {
	h := drawn.Script(t, lock.Semaphore, 2, `
		c1 acquire
		c1 ok acquire
		c2 acquire
		c2 ok acquire 2`)
	if f := Check(h, Options{}); f.Decision != Undecided || !strings.Contains(f.Why, "name slots") {
		t.Errorf("%+v", f)
	}
}

func TestCheckerUsesItsMemoryAgain(t *testing.T) {
	var all []*history.History
	for i := range uint64(50) {
		choose := drawn.BySeed(i)
		d := drawn.Any(choose)
		d.Corrupts, d.Blind = 0, false
		all = append(all, drawn.History(choose, d))
	}
	var c Checker
	check := func() {
		for _, h := range all {
			if err := c.normaliser.normalise(h, 0, Options{}); err != nil {
				t.Fatal(err)
			}
			c.fast(Options{})
		}
	}
	for range 20 {
		check()
	}
	if n := testing.AllocsPerRun(10, check); n > 0 {
		t.Errorf("%.0f allocations for %d histories", n, len(all))
	}
}

// TestHeldByVerify: a client may have its slot again after its connection ended, without another grant. The explanation
// then refers to its verify, not to a grant.
func TestHeldByVerify(t *testing.T) {
	h := drawn.Script(t, lock.Mutex, 0, `
		c1 acquire
		c1 ok acquire 1
		gone c1
		c1 verify 1
		c1 ok verify 1
		c2 acquire
		c2 ok acquire 1`)
	h.GoneMayFree = true
	want := "c2 was granted the lock (events 5 to 6), but c1 had it: its verify said so at event 4, and it was not given back"
	if f := Check(h, Options{}); f.Why != want {
		t.Errorf("%+v, expected %s", f, want)
	}
}
