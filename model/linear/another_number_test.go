package linear

import (
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// A client that first appears after a restart may hold its slot on an earlier connection with another number. A
// second number that names the slot may be the same client, and its loss of the slot is then unknown: the slot may be
// free from the acquire on. Without a restart, no client has two numbers.
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
			c2 ok release 1`, Illegal, Illegal}, // it may be either's, and the other has it
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
