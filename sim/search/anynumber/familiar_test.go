package anynumber

import (
	"errors"
	"testing"

	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim/search/internal/states"
	"github.com/lockproof/lockproof/sim/search/searchtest"
)

// TestUnfamiliar: where the initial context is written otherwise than in the checkpoint that was read, a search is not gone
// on with, whichever part of it that is.
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
