package search

import (
	"errors"
	"testing"
)

// TestUnfamiliar: where the initial state is written otherwise than in the checkpoint that was read, a search is not gone
// on with, whichever part of the state that is.
func TestUnfamiliar(t *testing.T) {
	for name, change := range map[string]func(*search){
		"nothing":    func(*search) {},
		"shared":     func(s *search) { s.shared = otherwise(s.shared) },
		"clients'":   func(s *search) { s.clients = otherwise(s.clients) },
		"everything": func(s *search) { s.shared, s.clients = otherwise(s.shared), otherwise(s.clients) },
	} {
		s := newSearch(t.Context(), hasty(), Options{Workers: 1})
		s.begin()
		change(s)
		if err := s.familiar(); errors.Is(err, errOtherwise) != (name != "nothing") {
			t.Errorf("%s is written otherwise: %v", name, err)
		}
	}
}
