package linear

import (
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestGoneMayFree: if the design of a lock is not known, the end of a connection may free its client's slot or not, and
// the client may reclaim it. An answer counts until the next end of a connection.
func TestGoneMayFree(t *testing.T) {
	want := map[string]struct{ frees, loose Decision }{
		"the end frees":                   {Legal, Legal},
		"it does not":                     {Illegal, Legal},
		"nothing was held":                {Illegal, Illegal},
		"held on, and told so":            {Illegal, Legal},
		"claimed anew between others":     {Illegal, Legal},
		"told so though another holds it": {Illegal, Illegal},
		"told so, and granted to another": {Illegal, Illegal},
		"told so, and lost again":         {Illegal, Legal},
		"an acquire goes on on another connection, and keeps it":   {Legal, Legal},
		"told yes while another had it all along":                  {Illegal, Illegal},
		"granted, lost, and granted to another before the answer":  {Legal, Legal},
		"given up in a verify before its answer":                   {Legal, Legal},
		"not given up in a verify":                                 {Illegal, Illegal},
		"lost in a verify that has no answer":                      {Illegal, Legal},
		"lost in a verify that failed":                             {Illegal, Legal},
		"said to be lost though nothing happened":                  {Illegal, Illegal},
		"administration busy because of an acquire":                {Legal, Legal},
		"administration busy because of a verify":                  {Legal, Legal},
		"administration busy though nobody does anything":          {Legal, Legal},
		"nothing to destroy":                                       {Legal, Legal},
		"administration busy though there is something to destroy": {Legal, Legal},
		"nothing left to destroy":                                  {Legal, Legal},
		"a restart keeps it":                                       {Illegal, Legal},
	}
	for _, c := range drawn.GoneMayFree {
		t.Run(c.Name, func(t *testing.T) {
			h := drawn.Script(t, lock.Mutex, 0, c.Text)
			for _, loose := range []bool{false, true} {
				h.GoneMayFree = loose
				expected := map[bool]Decision{false: want[c.Name].frees, true: want[c.Name].loose}[loose]
				for s := property.Weak; s <= property.Strong; s++ {
					if f := Check(h, Options{FailedAcquire: s}); f.Decision != expected {
						t.Errorf("may free %v, %s: %+v, expected %s", loose, s, f, expected)
					}
					if legal, _ := newBrute(h, Options{FailedAcquire: s}).legal(); loose && legal != (expected == Legal) {
						t.Errorf("%s: by brute force legal %v, expected %s", s, legal, expected)
					}
				}
			}
		})
	}
}
