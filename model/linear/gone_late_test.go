package linear

import (
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestGoneLate: if ends of connections are recorded late, the slot of a crashed client may be free before the record. A
// slot may be lost only once, and not before the crash.
func TestGoneLate(t *testing.T) {
	for _, c := range []struct {
		name        string
		text        string
		exact, late Decision
	}{
		{"taken before it is seen gone", `
			c1 acquire
			c1 ok acquire 1
			crash c1
			c2 acquire
			c2 ok acquire 1
			gone c1`, Illegal, Legal},
		{"taken after", `
			c1 acquire
			c1 ok acquire 1
			crash c1
			gone c1
			c2 acquire
			c2 ok acquire 1`, Legal, Legal},
		{"taken twice before", `
			c1 acquire
			c1 ok acquire 1
			crash c1
			c2 acquire
			c2 ok acquire 1
			c3 acquire
			c3 ok acquire 1
			gone c1`, Illegal, Illegal},
		{"taken from one that lives", `
			c1 acquire
			c1 ok acquire 1
			c2 acquire
			c2 ok acquire 1
			gone c1`, Illegal, Illegal},
		{"taken before the crash", `
			c1 acquire
			c1 ok acquire 1
			c2 acquire
			c2 ok acquire 1
			crash c1
			gone c1`, Illegal, Illegal},
		{"taken by what was under way, and lost before it is seen gone", `
			c1 acquire
			crash c1
			c2 acquire
			c2 fail acquire full
			c3 acquire
			c3 ok acquire 1
			gone c1`, Illegal, Legal},
		{"still taken when it was seen gone", `
			c1 acquire
			c1 ok acquire 1
			crash c1
			gone c1
			c2 acquire
			c2 fail acquire full`, Illegal, Illegal},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := drawn.Script(t, lock.Mutex, 0, c.text)
			for _, late := range []bool{false, true} {
				h.GoneLate = late
				want := map[bool]Decision{false: c.exact, true: c.late}[late]
				for s := property.Weak; s <= property.Strong; s++ {
					if f := Check(h, Options{FailedAcquire: s}); f.Decision != want {
						t.Errorf("late %v, %s: %+v, expected %s", late, s, f, want)
					}
					if legal, _ := newBrute(h, Options{FailedAcquire: s}).legal(); legal != (want == Legal) {
						t.Errorf("late %v, %s: by brute force legal %v, expected %s", late, s, legal, want)
					}
				}
			}
		})
	}
}
