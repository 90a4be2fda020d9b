package external

import (
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/wire/frame"
	"github.com/lockproof/lockproof/model/lock"
)

// TestLearntTogether: what one runner has looked for is looked for by no other that shares what is learnt, from its next
// execution on; what comes after all in an execution is counted there, whoever else knew of it.
func TestLearntTogether(t *testing.T) {
	one, other := newRacer(), newRacer()
	l := NewLearnt()
	one.runner.config.Learnt, other.runner.config.Learnt = l, l
	nothing, something := cause{op: lock.Verify, outcome: lock.Done}, cause{op: lock.Release, outcome: lock.Done}
	for range habitLooks {
		one.runner.habit(nothing).learn(0, 0)
	}
	one.runner.rests[rest{op: lock.Acquire}] = true
	other.calls(lock.Release)
	other.done()
	other.calls(lock.Release)
	one.comes(something, 1)
	one.runner.exchange()
	if h := other.runner.habit(nothing); h.limit(0, standard.Grace, &standard) == 0 {
		t.Error("an execution that is under way knows what others have learnt")
	}
	other.done()
	other.sent(0, &frame.ConnectionClose{})
	other.passed()
	if other.settled = true; other.raced == 0 {
		t.Error("what came by itself was not counted where another runner knew of it")
	}
	other.runner.exchange()
	if h := other.runner.habit(nothing); h.limit(0, standard.Grace, &standard) != 0 || !other.runner.rests[rest{op: lock.Acquire}] {
		t.Errorf("it is looked again for what was looked for: %+v", *h)
	}
	if h := other.runner.habit(something); h.total != 1 {
		t.Errorf("it is not known what comes: %+v", *h)
	}
}

// TestHabitMissedTogether: that a habit was missed, and then came again, is known to others as it is to the one who saw it.
func TestHabitMissedTogether(t *testing.T) {
	one, other := newRacer(), newRacer()
	l := NewLearnt()
	one.runner.config.Learnt, other.runner.config.Learnt = l, l
	of := cause{op: lock.Release, outcome: lock.Done}
	one.comes(of, 1)
	for turn, sent := range []int{0, 0, 1, 0} {
		one.runner.habit(of).learn(0, sent)
		one.runner.exchange()
		other.runner.exchange()
		if got, want := other.runner.habit(of).missed, []int{1, 2, 0, 1}[turn]; got != want {
			t.Errorf("turn %d: missed %d times in a row, expected %d", turn, got, want)
		}
	}
}

// TestPatienceTogether: clients are looked at a few times in all for whether they give up, however many runners there are;
// where one does, each waits for that.
func TestPatienceTogether(t *testing.T) {
	l := NewLearnt()
	at := func(method frame.ID) rest { return rest{op: lock.Acquire, method: method} }
	for i, method := range []frame.ID{frame.QueueDeclareID, frame.ChannelOpenID, frame.BasicGetID} {
		if l.patience(at(method)) != mostPatience {
			t.Errorf("look %d: %v", i, l.patience(at(method)))
		}
		l.gaveUp(at(method), false, mostPatience)
		l.gaveUp(at(method), false, mostPatience) // by another that began to look before
		if l.patience(at(method)) != 0 {
			t.Errorf("look %d: it is looked again", i)
		}
	}
	if l.patience(at(frame.BasicConsumeID)) != 0 {
		t.Error("it is looked behind every command")
	}
	l.gaveUp(at(frame.QueueDeclareID), true, time.Second)
	if limit := l.patience(at(frame.QueueDeclareID)); limit < time.Second {
		t.Errorf("a client that gives up after a second is waited for for %v", limit)
	}
}

// TestAwaits: it is waited for drivers that recover a few times in a run, once some were seen to, and whenever that is to be shown
// again, unless there are none.
func TestAwaits(t *testing.T) {
	var g revival
	for range 2 * mostRecoveries {
		if g.awaits(false) {
			t.Fatal("none was seen to recover")
		}
	}
	if !g.awaits(true) {
		t.Error("it is not known that none does")
	}
	g.learn(true)
	for n := range 2 * mostRecoveries {
		if g.awaits(false) != (n < mostRecoveries) {
			t.Errorf("waited for %d times", n)
		}
	}
	if !g.awaits(true) {
		t.Error("some do")
	}
	g = revival{}
	g.learn(true)
	if g.waited(false); g.awaits(false) {
		t.Error("one that was seen to connect again did not recover")
	}
	g = revival{looked: true}
	if g.awaits(true) {
		t.Error("none does")
	}
}

// TestReopens: only a client that has had a connection, and has none, recovers by opening one while nobody calls it.
func TestReopens(t *testing.T) {
	var client Client = struct{ Client }{}
	for _, c := range []struct {
		name  string
		of    clientHandle
		learn bool
	}{
		{"its first", clientHandle{client: client}, false},
		{"as it is called", clientHandle{client: client, linked: true, calling: true}, false},
		{"one more", clientHandle{client: client, linked: true, connections: []*connection{{}}}, false},
		{"of one that was killed", clientHandle{linked: true}, false},
		{"by itself", clientHandle{client: client, linked: true}, true},
	} {
		s := &Runner{config: Config{Learnt: NewLearnt()}}
		s.reopens(&c.of)
		if itself, _ := s.config.Learnt.revival.known(); itself != c.learn {
			t.Errorf("%s: recovers: %v", c.name, itself)
		}
	}
}
