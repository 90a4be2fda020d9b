package search

import (
	"context"
	"testing"
)

// TestProgress: Progress is called at the end at the latest.
func TestProgress(t *testing.T) {
	var last Stats
	r := Run(context.Background(), standard(2, 1, 0, 1, 0), Options{Progress: func(s *Stats) { last = *s }})
	if last != r.Stats || last.States == 0 {
		t.Errorf("told %+v, came to %+v", last, r.Stats)
	}
}
