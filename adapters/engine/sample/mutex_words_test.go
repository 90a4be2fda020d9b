package sample_test

import (
	"bytes"
	"regexp"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/sample"
	"github.com/lockproof/lockproof/internal/enginetest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/amqp/mutant"
	"github.com/lockproof/lockproof/model/lock"
)

// TestWordsOfMutexes checks the texts about mutexes: a mutex is called free, held or taken. The texts must not mention
// slots or their removal. See also [gated_test.TestWrongMutexes].
func TestWordsOfMutexes(t *testing.T) {
	for _, target := range slices.Concat(amqplock.References, mutant.All) {
		if target.Kind == lock.Semaphore {
			continue
		}
		t.Run(target.Name, func(t *testing.T) {
			res, err := sample.Prove(t.Context(), sample.Config{Target: target, Sampling: engine.Sampling{Seed: 1, Scenarios: 400}})
			if err != nil {
				t.Fatal(err)
			}
			enginetest.SpeaksOfMutex(t, res)
			var page bytes.Buffer // includes porcupine's pictures
			if err := res.WritePage(&page); err != nil {
				t.Fatal(err)
			}
			for _, label := range regexp.MustCompile(`Description&#34;:&#34;[^&]*`).FindAllString(page.String(), -1) {
				if found := enginetest.OfSemaphores.FindString(label); found != "" {
					t.Errorf("a picture says %q of a mutex: %s", found, label)
				}
			}
		})
	}
}
