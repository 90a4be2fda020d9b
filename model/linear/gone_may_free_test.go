package linear

import (
	"testing"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// Where the design of a lock is not known, the end of a connection may free what its client has, and need not;
// and a client may claim it anew. What one was told is believed all the same until the next end.
func TestGoneMayFree(t *testing.T) {
	for _, c := range []struct {
		name         string
		text         string
		frees, loose Decision
		broken       property.Set // beside linearizability, where the design is not known
	}{
		{"the end frees", `
			c1 acquire
			c1 ok acquire 1
			gone c1
			c2 acquire
			c2 ok acquire 1`, Legal, Legal, 0},
		{"it does not", `
			c1 acquire
			c1 ok acquire 1
			gone c1
			c2 acquire
			c2 fail acquire full`, Illegal, Legal, 0},
		{"nothing was held", `
			c1 acquire
			c1 ok acquire 1
			c1 release 1
			c1 ok release 1
			gone c1
			c2 acquire
			c2 fail acquire full`, Illegal, Illegal, 0},
		{"held on, and told so", `
			c1 acquire
			c1 ok acquire 1
			gone c1
			c1 verify 1
			c1 ok verify 1`, Illegal, Legal, 0},
		{"claimed anew between others", `
			c1 acquire
			c1 ok acquire 1
			gone c1
			c2 acquire
			c2 ok acquire 1
			c2 release 1
			c2 ok release 1
			c1 verify 1
			c1 ok verify 1
			c2 acquire
			c2 fail acquire full`, Illegal, Legal, 0},
		{"told so though another holds it", `
			c1 acquire
			c1 ok acquire 1
			gone c1
			c2 acquire
			c2 ok acquire 1
			c1 verify 1
			c1 ok verify 1`, Illegal, Illegal, 1<<property.MutualExclusion | 1<<property.StaleBeliefEnds},
		{"told so, and granted to another", `
			c1 acquire
			c1 ok acquire 1
			gone c1
			c1 verify 1
			c1 ok verify 1
			c2 acquire
			c2 ok acquire 1`, Illegal, Illegal, 1 << property.MutualExclusion},
		{"told so, and lost again", `
			c1 acquire
			c1 ok acquire 1
			gone c1
			c1 verify 1
			c1 ok verify 1
			gone c1
			c2 acquire
			c2 ok acquire 1`, Illegal, Legal, 0},
		{"an acquire goes on on another connection, and keeps it", `
			c1 acquire
			gone c1
			c1 ok acquire 1
			c2 acquire
			c2 fail acquire full`, Legal, Legal, 0},
		{"told yes while another had it all along", `
			c2 acquire
			c2 ok acquire 1
			c1 acquire
			gone c1
			c1 ok acquire 1`, Illegal, Illegal, 1 << property.MutualExclusion},
		{"granted, lost, and granted to another before the answer", `
			c1 acquire
			gone c1
			c2 acquire
			c2 ok acquire 1
			c1 ok acquire 1`, Legal, Legal, 0},
		{"given up in a verify before its answer", `
			c1 acquire
			c1 ok acquire 1
			c1 verify 1
			c2 acquire
			c2 ok acquire 1
			c1 ok verify 1 busy`, Legal, Legal, 0},
		{"not given up in a verify", `
			c1 acquire
			c1 ok acquire 1
			c1 verify 1
			c2 acquire
			c2 ok acquire 1
			c1 ok verify 1`, Illegal, Illegal, 1 << property.MutualExclusion},
		{"lost in a verify that has no answer", `
			c1 acquire
			c1 ok acquire 1
			c1 verify 1
			c1 info verify
			c2 acquire
			c2 ok acquire 1
			gone c2`, Illegal, Legal, 0},
		{"lost in a verify that failed", `
			c1 acquire
			c1 ok acquire 1
			c1 verify 1
			c1 fail verify 1
			c2 acquire
			c2 ok acquire 1`, Illegal, Legal, 0},
		{"said to be lost though nothing happened", `
			c1 acquire
			c1 ok acquire 1
			c1 verify 1
			c1 ok verify 1 removed`, Illegal, Illegal, 0},
		{"administration busy because of an acquire", `
			c1 acquire
			c2 create 1
			c2 fail create busy
			c1 ok acquire 1`, Legal, Legal, 0},
		{"administration busy because of a verify", `
			c1 acquire
			c1 ok acquire 1
			c1 verify 1
			c2 create 1
			c2 fail create busy
			c1 ok verify 1`, Legal, Legal, 0},
		{"administration busy though nobody does anything", `
			c2 create 1
			c2 fail create busy`, Legal, Legal, 1 << property.Progress},
		{"nothing to destroy", `
			c2 destroy
			c2 fail destroy busy`, Legal, Legal, 0},
		{"administration busy though there is something to destroy", `
			c2 create 1
			c2 ok create 1
			c2 destroy
			c2 fail destroy busy`, Legal, Legal, 1 << property.Progress},
		{"nothing left to destroy", `
			c2 create 1
			c2 ok create 1
			c2 destroy
			c2 ok destroy
			c1 destroy
			c1 fail destroy busy`, Legal, Legal, 0},
		{"a restart keeps it", `
			c1 acquire
			c1 ok acquire 1
			restart
			c1 verify 1
			c1 ok verify 1
			c2 acquire
			c2 fail acquire full`, Illegal, Legal, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := script(t, lock.Mutex, 0, c.text)
			for _, loose := range []bool{false, true} {
				h.GoneMayFree = loose
				want := map[bool]Decision{false: c.frees, true: c.loose}[loose]
				for s := property.Weak; s <= property.Strong; s++ {
					if f := Check(h, Options{FailedAcquire: s}); f.Decision != want {
						t.Errorf("may free %v, %s: %+v, expected %s", loose, s, f, want)
					}
					if legal, _ := newBrute(h, Options{FailedAcquire: s}).legal(); loose && legal != (want == Legal) {
						t.Errorf("%s: by brute force legal %v, expected %s", s, legal, want)
					}
				}
			}
			var broken property.Set
			for _, v := range Judge(h, Options{})[1:] {
				if v.Decision == Illegal {
					broken = broken.With(v.Property)
				}
			}
			if broken != c.broken {
				t.Errorf("broken are %b, expected %b", broken, c.broken)
			}
		})
	}
}
