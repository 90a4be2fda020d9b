package search

import (
	"errors"
	"testing"

	"github.com/lockproof/lockproof/model/property"
)

// TestUnfamiliar: where the initial state is written otherwise than in the checkpoint that was read, a search is not gone
// on with, whichever part of the state that is.
func TestUnfamiliar(t *testing.T) {
	otherwise := func(p *parts) *parts {
		other := newParts()
		for id := range p.n.Load() {
			other.intern(append([]byte(p.image(id)), 0), func() part { return *p.get(id) })
		}
		return other
	}
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
	for name, change := range map[string]func(*anySearch){
		"nothing":    func(*anySearch) {},
		"shared":     func(s *anySearch) { s.shared = otherwise(s.shared) },
		"clients'":   func(s *anySearch) { s.clients = otherwise(s.clients) },
		"everything": func(s *anySearch) { s.shared, s.clients = otherwise(s.shared), otherwise(s.clients) },
	} {
		for _, pending := range []bool{false, true} {
			s := newAnySearch(t.Context(), anyStandard(1, 0, 1<<property.NoPhantomSlot, true), AnyOptions{Workers: 1})
			s.workers[0].begin()
			s.collect()
			s.contexts.list[0].pending = pending
			change(s)
			if err := s.familiar(); errors.Is(err, errOtherwise) != (name != "nothing") {
				t.Errorf("%s is written otherwise, to be looked at %v: %v", name, pending, err)
			}
		}
	}
}
