package beliefs

import (
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestExtended: after a refresh that says held, the client holds the lock, even if its earlier lease ended during the
// refresh. It does not if the new lease or the connection has ended too.
func TestExtended(t *testing.T) {
	const asks = `
		c1 acquire
		c1 ok acquire 1
		c1 refresh 1
		lapse c1`
	const taken = `
		c2 acquire
		c2 ok acquire 1`
	const extended = `
		c1 ok refresh 1`
	wrong := property.Set(1 << property.MutualExclusion)
	for _, c := range []struct {
		text   string
		broken property.Set
	}{
		{asks + taken, 0},
		{asks + taken + extended, wrong},
		{asks + extended + taken, wrong},
		{asks + extended + "\nlapse c1" + taken, 0},
		{asks + "\nlapse c1" + taken + extended, 0},
		{asks + "\ngone c1" + taken + extended, 0},
		{asks + taken + "\nlapse c2" + extended, 0},
		{asks + taken + "\nc1 ok refresh 1 no", 0},
		{asks + taken + "\nc1 info refresh", 0},
		{asks + "\nc1 ok refresh 1 no" + taken + "\nc1 refresh 1" + extended, wrong.With(property.StaleBeliefEnds)},
	} {
		h := drawn.Script(t, lock.Mutex, 0, c.text)
		h.GoneMayFree = true
		var broken property.Set
		for _, v := range judge(h, linear.Options{}) {
			if v.Decision == linear.Illegal {
				broken = broken.With(v.Property)
			}
		}
		if broken != c.broken {
			t.Errorf("%s\nbroken are %v, expected %v", c.text, broken.Names(), c.broken.Names())
		}
	}
}
