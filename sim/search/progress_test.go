package search

import (
	"context"
	"testing"
)

// TestProgress: a search calls Progress at its end, even if it ends within the first interval.
func TestProgress(t *testing.T) {
	var last Stats
	r := Run(context.Background(), standard(2, 1, 0, 1, 0), Options{Progress: func(s *Stats) { last = *s }})
	if last != r.Stats || last.States == 0 {
		t.Errorf("told %+v, came to %+v", last, r.Stats)
	}
}
