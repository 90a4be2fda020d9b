package monitor

import (
	"testing"

	"github.com/lockproof/lockproof/model/codec"
	"github.com/lockproof/lockproof/model/lock"
)

// What is read of a client is all that is known of it: nothing is left of what was known of whoever was there before.
func TestCodeClientLeavesNothing(t *testing.T) {
	var fresh, used Monitor
	for _, m := range []*Monitor{&fresh, &used} {
		m.Reset(lock.Semaphore, &lock.Options{}, 2, []Truth{slotOne.free})
	}
	c := codec.Write(nil)
	fresh.CodeClient(&c, 1)
	used.Begin(1, 0, lock.Remove, 1, true)
	used.clients[0].working = true
	back := codec.Read(c.Bytes())
	used.CodeClient(&back, 1)
	if used.clients[0] != fresh.clients[0] {
		t.Errorf("read %+v, written %+v", used.clients[0], fresh.clients[0])
	}
}
