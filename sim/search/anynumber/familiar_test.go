package anynumber

import (
	"errors"
	"testing"

	"github.com/lockproof/lockproof/internal/searchtest"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim/search/states"
)

// TestUnfamiliar: a checkpoint is refused if this program encodes the initial state differently, as another version
// may.
func TestUnfamiliar(t *testing.T) {
	for name, change := range map[string]func(*exploration){
		"nothing":  func(*exploration) {},
		"shared":   func(s *exploration) { s.shared = searchtest.Otherwise(s.shared) },
		"clients'": func(s *exploration) { s.clients = searchtest.Otherwise(s.clients) },
		"everything": func(s *exploration) {
			s.shared, s.clients = searchtest.Otherwise(s.shared), searchtest.Otherwise(s.clients)
		},
	} {
		for _, pending := range []bool{false, true} {
			s := newExploration(t.Context(), standard(1, 0, 1<<property.NoPhantomSlot, true), Options{Workers: 1})
			s.workers[0].begin()
			s.collect()
			s.contexts.list[0].pending = pending
			change(s)
			if err := s.familiar(); errors.Is(err, states.ErrOtherwise) != (name != "nothing") {
				t.Errorf("%s is written otherwise, to be looked at %v: %v", name, pending, err)
			}
		}
	}
}
