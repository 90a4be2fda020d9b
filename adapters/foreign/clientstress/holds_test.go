package clientstress_test

import (
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/foreign/clientstress"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/beliefs"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// The first client holds the lock before the others begin. While it holds, no other client does. If holds end after a
// while, other clients hold the lock in turn.
func TestHolds(t *testing.T) {
	for name, hold := range map[string]time.Duration{"until the end": 0, "for a while": 100 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := config(t, mutex(t))
			c.Admins, c.CrashShare = 0, 0
			over := make(chan struct{})
			c.URLs = []string{c.URL, c.URL}
			c.Holds = &clientstress.Holds{For: hold, Verify: 20 * time.Millisecond, Again: 20 * time.Millisecond, Over: over, Begun: func(record func(history.Event)) {
				record(history.Event{Process: history.Nemesis, Type: history.Info, F: history.Heal})
				time.AfterFunc(2*time.Second, func() { close(over) })
			}}
			h, _ := stressed(t, c)
			if found := broken(t, h); found != 0 {
				t.Errorf("violated: %v", found.Names())
			}
			if all := beliefs.Overlaps(h); len(all) > 0 {
				t.Errorf("held twice: %+v", all)
			}
			holders := make(map[int32]bool)
			for _, e := range h.Events {
				if e.F == history.Audit {
					break
				}
				if e.F.Op() == lock.Acquire && e.Held {
					holders[e.Process] = true
				}
			}
			if several := len(holders) > 1; !holders[1] || several != (hold > 0) {
				t.Errorf("holders %v", holders)
			}
		})
	}
}

// mutex is a reference lock that is a mutex.
func mutex(t *testing.T) *lock.Target {
	for _, target := range amqplock.References {
		if target.Kind == lock.Mutex {
			return target
		}
	}
	t.Fatal("no reference is a mutex")
	return nil
}
