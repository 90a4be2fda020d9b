package search

import (
	"errors"
	"testing"

	"github.com/lockproof/lockproof/internal/searchtest"
	"github.com/lockproof/lockproof/sim/search/states"
)

// TestUnfamiliar: a checkpoint is refused if this program encodes the initial state differently, as another version
// may.
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
