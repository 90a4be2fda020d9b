package external_test

import (
	"context"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/testdata/targets/golang/semaphores"
)

// indebted may take no message away for a slot that is removed: those who are given one are to see elsewhere whether it counts.
type indebted struct {
	*semaphores.Client
	owes bool
}

func (c indebted) Add(_ context.Context, name string, slots int) error {
	return c.Client.Add(name, slots)
}

func (c indebted) Remove(_ context.Context, name string, slots int) error {
	if c.owes {
		return nil
	}
	return c.Client.Remove(name, slots)
}

// TestDebts: where a slot less is no message less, slots are not counted by messages.
func TestDebts(t *testing.T) {
	for _, owes := range []bool{false, true} {
		runner := semaphoreRunner(t, "debts", func(url string) (inprocess.Lock, error) {
			c, err := semaphores.New(t.Context(), url, semaphores.Account{Tokens: semaphores.Tokens{Alike: true}})
			return indebted{c, owes}, err
		})
		if why := runner.Unjudged(property.ContiguousSlots); strings.Contains(why, "took 0 away") != owes || why == "" && owes {
			t.Errorf("owes %v: %q", owes, why)
		}
	}
}
