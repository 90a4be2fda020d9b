package queue_test

import (
	"fmt"
	"testing"

	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
	"github.com/lockproof/lockproof/cmd/lockproof/campaign/queue"
	"github.com/lockproof/lockproof/internal/natstest"
)

// TestWatched checks a watcher of a campaign on a server. It must receive each page once. It must not learn that the
// campaign is reported before the last page is stored.
func TestWatched(t *testing.T) {
	real := natstest.Start(t, "")
	server := campaign.Server{URL: real.URL}
	var w *queue.Watcher
	seen := func() string {
		t.Helper()
		page, err := w.Page(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return string(page)
	}
	made := ""
	_, err := queue.Run(t.Context(), campaign.RunConfig{
		Plan: plan(t, sampling, "semaphore", 400, 20), Server: server, Workers: 1,
		Page: func(out *campaign.Outcome, s *campaign.Status) []byte {
			switch {
			case w == nil:
				var err error
				if w, err = queue.Watch(t.Context(), server, "night"); err != nil {
					t.Fatal(err)
				}
				if page := seen(); page != "" {
					t.Errorf("before there is a page, it is %q", page)
				}
			case s == nil:
				if page := seen(); page != made {
					t.Errorf("the page is %q, expected %q", page, made)
				}
				if now, err := w.Look(t.Context()); err != nil || now.Over == "" || now.Reported {
					t.Errorf("before the card is made, it is %+v, %v", now, err)
				}
			}
			made = fmt.Sprint("page of ", out.Result.Report.Scenarios)
			return []byte(made)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if page := seen(); page != "page of 400" {
		t.Errorf("when it is over the page is %q", page)
	}
	if page := seen(); page != "" {
		t.Errorf("the same page is told again: %q", page)
	}
	real.Kill() // the watcher waits until the server is back
	real.Resume()
	if s, err := w.Look(t.Context()); err != nil || !s.Reported || s.Done != 20 {
		t.Errorf("at the end it is %+v, %v", s, err)
	}
}
