package gated_test

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/internal/redistest"
	"github.com/lockproof/lockproof/model/lock"
	_ "github.com/lockproof/lockproof/sim/redis"
)

// TestWords checks that the report about a lock on Redis has no words for a message broker, such as "channel".
func TestWords(t *testing.T) {
	for _, needed := range []string{"redis-server", "cc"} {
		if _, err := exec.LookPath(needed); err != nil {
			t.Skip("skipped:", err)
		}
	}
	on, err := gated.ServerOf("redis", 1)
	if err != nil {
		t.Fatal(err)
	}
	start := func(_ context.Context, url string) (inprocess.Lock, error) {
		m, err := redistest.NewMutex(url)
		return &m, err
	}
	res, err := gated.Prove(t.Context(), gated.Config{
		Lock: gated.Lock{Starter: inprocess.Starter{Name: "key", New: start}, Kind: lock.Mutex, On: on}, Sampling: engine.Sampling{Seed: 1, Scenarios: 20},
	})
	if err != nil {
		t.Fatal(err)
	}
	var card strings.Builder
	if err := report.WriteCard(&card, res.Report, style.Style{Width: 120}); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"broker", "channel", "unpipelined", "RESOURCE_LOCKED", "administration", "withdrawn", "queue"} {
		if at := strings.Index(card.String(), word); at >= 0 {
			t.Errorf("%q is on the card:\n%s", word, &card)
		}
	}
	if !strings.Contains(card.String(), "connections") {
		t.Errorf("no costs:\n%s", &card)
	}
}
