package linear

import (
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestAnotherNumber: a client that first appears after a restart may hold a slot that it acquired on an earlier
// connection, under another process number. If it then verifies or releases the slot, the slot may have been lost at
// any moment since the acquire. Without a restart, every client has one number.
func TestAnotherNumber(t *testing.T) {
	const taken = `
		c1 acquire
		c1 ok acquire 1`
	const again = `
		c3 acquire
		c3 ok acquire 1`
	for name, c := range map[string]struct {
		text             string
		began, restarted Decision
	}{
		"nobody speaks of it": {taken + again, Illegal, Illegal},
		"released": {taken + `
			c2 release 1
			c2 ok release 1` + again, Illegal, Legal},
		"verified": {taken + `
			c2 verify 1
			c2 ok verify 1` + again, Illegal, Legal},
		"released after it was taken again": {taken + again + `
			c2 release 1
			c2 ok release 1`, Illegal, Illegal}, // the release may end c1's or c3's hold; the other one still holds
		"another slot is released": {taken + `
			c2 release 2
			c2 ok release 2` + again, Illegal, Illegal},
		"taken again twice": {taken + `
			c2 release 1
			c2 ok release 1` + again + `
			c4 acquire
			c4 ok acquire 1`, Illegal, Illegal},
	} {
		for s := property.Weak; s <= property.Strong; s++ {
			if f := Check(drawn.Script(t, lock.Semaphore, 2, c.text), Options{FailedAcquire: s}); f.Decision != c.began {
				t.Errorf("%s: %+v, expected %s", name, f, c.began)
			}
			if f := Check(drawn.Script(t, lock.Semaphore, 2, "restart\n"+c.text), Options{FailedAcquire: s}); f.Decision != c.restarted {
				t.Errorf("%s after a restart: %+v, expected %s", name, f, c.restarted)
			}
		}
	}
}
