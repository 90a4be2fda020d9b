package search

import (
	"errors"
	"testing"

	"github.com/lockproof/lockproof/model/property"
)

// TestUnfamiliarAny: where the initial context is written otherwise than in the checkpoint that was read, a search is not gone
// on with, whichever part of it that is.
func TestUnfamiliarAny(t *testing.T) {
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
