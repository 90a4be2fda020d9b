package linear

import (
	"testing"

	"github.com/lockproof/lockproof/model/history/drawn"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// A client that is first heard of after a restart may have its slot on a connection made before, of another number. Whoever
// speaks of that slot under another number may be the same client, and when it loses the slot nobody can tell: what it
// took may be free from the acquire on. Without a restart nobody has two numbers.
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
