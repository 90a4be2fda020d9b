package foreign

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/model/lock"
)

// If a client that waits for the lock sends something after its waiting time, it has acted by its own clock. That is
// counted once, unless a step has let the time pass.
func TestTimeIsUp(t *testing.T) {
	past, future := time.Now().Add(-time.Second), time.Now().Add(time.Hour)
	for name, c := range map[string]struct {
		repose repose
		counts int
	}{
		"may not wait":           {repose{asleep: true}, 0},
		"in time":                {repose{until: future}, 0},
		"left alone":             {repose{until: future, asleep: true}, 1},
		"time is up":             {repose{until: past}, 1},
		"time is up by the step": {repose{until: past, due: true}, 0},
	} {
		s, a := new(Runner), &clientHandle{repose: c.repose}
		for range 2 { // the second time must not count
			s.wakes(a)
		}
		if s.uncontrolled.Thought != c.counts || a.asleep {
			t.Errorf("%s: counted %d times, not %d", name, s.uncontrolled.Thought, c.counts)
		}
	}
}

// beginner is a client with virtual time that is at rest from its first call until a reply arrives.
type beginner struct {
	Client
	began   atomic.Int64
	initial int64 // its virtual time at the first call
	reply   chan struct{}
}

func (b *beginner) Initialize(context.Context, Setup) (About, error) {
	b.initial = b.began.Load()
	<-b.reply
	return About{Locks: []lock.Kind{lock.Mutex}}, nil
}

func (b *beginner) Time() Time                      { return b }
func (b *beginner) Begins(since time.Duration)      { b.Set(since) }
func (b *beginner) Set(since time.Duration)         { b.began.Store(int64(since)) }
func (b *beginner) Rest(bool) (bool, time.Duration) { return true, time.Second }

// coming is an address that always reports a reply on its way.
type coming struct{ gate.Watched }

func (coming) Underway() bool { return true }

// standing is a server that fails the test if time passes.
type standing struct {
	gate.Server
	t *testing.T
}

func (s standing) Advance(ms int64) { s.t.Errorf("%d ms pass while a reply is on its way", ms) }

// A client starts with the current virtual time. No time passes while a reply to it is on its way.
func TestBegins(t *testing.T) {
	s := &Runner{server: standing{t: t}, since: time.Hour}
	a := &clientHandle{runner: s, address: coming{}}
	b := &beginner{reply: make(chan struct{})}
	time.AfterFunc(50*restLook, func() { close(b.reply) })
	if _, err := s.begins(t.Context(), a, b, Setup{Lock: lock.Mutex}); err != nil {
		t.Fatal(err)
	}
	if b.initial != int64(time.Hour) {
		t.Errorf("it begins at %v, expected an hour after the servers", time.Duration(b.initial))
	}
}
