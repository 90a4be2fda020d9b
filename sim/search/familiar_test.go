package search

import (
	"errors"
	"testing"

	"github.com/lockproof/lockproof/sim/search/internal/states"
	"github.com/lockproof/lockproof/sim/search/searchtest"
)

// TestUnfamiliar: where the initial state is written otherwise than in the checkpoint that was read, a search is not gone
// on with, whichever part of the state that is.
func TestUnfamiliar(t *testing.T) {
	for name, change := range map[string]func(*search){
		"nothing":    func(*search) {},
		"shared":     func(s *search) { s.shared = searchtest.Otherwise(s.shared) },
		"clients'":   func(s *search) { s.clients = searchtest.Otherwise(s.clients) },
		"everything": func(s *search) { s.shared, s.clients = searchtest.Otherwise(s.shared), searchtest.Otherwise(s.clients) },
	} {
		s := newSearch(t.Context(), hasty(), Options{Workers: 1})
		s.begin()
		change(s)
		if err := s.familiar(); errors.Is(err, states.ErrOtherwise) != (name != "nothing") {
			t.Errorf("%s is written otherwise: %v", name, err)
		}
	}
}
