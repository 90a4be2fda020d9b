package external

import (
	"testing"

	"github.com/lockproof/lockproof/adapters/external/recognise"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestMadeByTwo: that two make a semaphore at once is wrong only of those who change its slots as well.
func TestMadeByTwo(t *testing.T) {
	for _, changes := range []bool{false, true} {
		s := &Runner{config: Config{Kind: lock.Semaphore}, about: About{Operations: []lock.Op{lock.Acquire, lock.Create}}, design: recognise.Design{Holding: recognise.ByQueue, Naming: recognise.Guidelines}}
		if changes {
			s.about.Operations = append(s.about.Operations, lock.Add)
		}
		if why := s.Unjudged(property.AdminExclusion); (why == "") != changes {
			t.Errorf("their slots change: %v; %q", changes, why)
		}
	}
}

// TestUnguardedMutex: a persistent mutex that is there by one queue needs no mutex of those who make and destroy it. That of one that
// has one is held to it.
func TestUnguardedMutex(t *testing.T) {
	for _, guarded := range []bool{false, true} {
		s := &Runner{config: Config{Kind: lock.PersistentMutex}, about: About{Operations: []lock.Op{lock.Acquire, lock.Create, lock.Destroy}}, design: recognise.Design{Holding: recognise.ByQueue, Naming: recognise.Guidelines}}
		if !guarded {
			s.design.Admin = recognise.Pattern{}
		}
		if why := s.Unjudged(property.AdminExclusion); (why == "") != guarded {
			t.Errorf("guarded: %v; %q", guarded, why)
		}
	}
}
