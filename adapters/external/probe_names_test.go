package external_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
)

// short is a mutex that refuses long names.
type short struct{ named }

func (m *short) Acquire(ctx context.Context, name string) (int, error) {
	if len(name) > 40 {
		return 0, errors.New("the name is too long")
	}
	return m.named.Acquire(ctx, name)
}

// TestNames: a lock that writes some names otherwise than others is accused of nothing, and one for which several names are one
// lock's is found out.
func TestNames(t *testing.T) {
	t.Parallel()
	special := regexp.MustCompile(`[^A-Za-z0-9]`)
	accents := strings.NewReplacer("\u00e9", "e", "e\u0301", "e")
	naming, collides := property.NameSafety, property.Linearizable
	for _, test := range []struct {
		name   string
		naming func(string) string
		breaks property.Property
	}{
		{name: "plain ones as they are", naming: func(n string) string {
			if n == strings.ToLower(n) {
				return "Lock." + strings.ToUpper(n)
			}
			return "lock." + hex.EncodeToString([]byte(n))
		}},
		{name: "long ones cut, with a sum", naming: func(n string) string {
			if len(n) > 30 {
				return "lock." + n[:20] + fmt.Sprintf("%08x", len(n)) + n[len(n)-4:]
			}
			return "lock." + n
		}},
		{name: "in small letters", naming: func(n string) string { return "lock." + strings.ToLower(n) }, breaks: naming},
		{name: "underscored", naming: func(n string) string { return "lock." + special.ReplaceAllString(n, "_") }, breaks: naming},
		{name: "cut", naming: func(n string) string { return "lock." + n[:min(len(n), 20)] }, breaks: collides},
		{name: "cut where PostgreSQL cuts names", naming: func(n string) string { return "lock." + n[:min(len(n), 63)] }, breaks: collides},
		{name: "without accents", naming: func(n string) string { return "lock." + accents.Replace(n) }, breaks: collides},
		{name: "a path that is cleaned", naming: func(n string) string { return "lock." + path.Clean(n) }, breaks: collides},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			found := firstFound(t, func(url string) (inprocess.Lock, error) {
				m := &named{url: url, name: test.naming}
				return m, m.open()
			}, 150)
			if found != 0 && test.breaks == 0 || test.breaks != 0 && !found.Has(test.breaks) {
				t.Errorf("found %v", found.Names())
			}
		})
	}
	t.Run("long ones are refused", func(t *testing.T) {
		t.Parallel()
		found := firstFound(t, func(url string) (inprocess.Lock, error) {
			m := &short{named{url: url, name: func(n string) string { return "lock." + n }}}
			return m, m.open()
		}, 150)
		if found != 0 {
			t.Errorf("found %v", found.Names())
		}
	})
}

// firstFound is what the first of so many executions shows that shows something, without faults.
func firstFound(t *testing.T, open func(url string) (inprocess.Lock, error), executions int) property.Set {
	t.Helper()
	runner, err := external.NewRunner(t.Context(), external.Config{Kind: lock.Mutex, Names: sim.LockNames(), Starter: inprocess.Starter{
		Name: "named", New: func(_ context.Context, url string) (inprocess.Lock, error) { return open(url) },
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	source := sim.NewSource(sim.Space{Target: amqplock.References[1]}, 3)
	for i := range executions {
		sc := runner.Playable(source.External(i, 0))
		sc.Faults = nil
		x, err := runner.Run(t.Context(), &sc)
		if err != nil {
			t.Fatal(err)
		}
		if x.Found != 0 {
			t.Logf("execution %d: %v\n%s", i+1, x.Violations, drawn(x))
			return x.Found
		}
	}
	return 0
}
