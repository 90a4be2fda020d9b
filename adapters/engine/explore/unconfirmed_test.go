package explore_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine/explore"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
)

// unconfirmed are the options for a broker without confirms and transactions. Clients publish nothing, claim slots
// without looking first, and verify by declaring the claim again.
var unconfirmed = [][2]string{{"existence", amqplock.ByPassive}, {"confirm", amqplock.NoConfirms}, {"claim", amqplock.ClaimUnseen}, {"verify", amqplock.VerifyBoth}}

// unconfirmedStates are the expected numbers of states of each reference lock, by the fault that may occur. There are
// two clients and, except for a mutex, one administrator and one slot.
var unconfirmedStates = map[string]map[string]int{
	"semaphore":        {"crash": 3585, "drop": 7936, "channel error": 7809, "lost reply": 11486, "restart": 5719, everyFault: 2367743},
	"mutex":            {"crash": 33, "drop": 32, "channel error": 48, "lost reply": 32, "restart": 26, everyFault: 1131},
	"persistent-mutex": {"crash": 3050, "drop": 4994, "channel error": 5285, "lost reply": 7342, "restart": 3093, everyFault: 1312993},
}

// dear are the properties that a lock without confirms need not have. Each probe of a taken or missing slot closes a
// channel, which costs a new one.
var dear = []property.Property{property.CheapAcquire, property.CheapVerify}

// TestExploreWithoutConfirms explores the reference locks on a broker without confirms, with two clients, an
// administrator and a fault of each kind. Only the properties in dear may be violated.
func TestExploreWithoutConfirms(t *testing.T) {
	faults := map[string]sim.FaultBounds{
		"crash": {Crashes: 1, Late: true}, "drop": {Drops: 1}, "channel error": {ChannelErrors: 1}, "lost reply": {Lost: 1, Late: true}, "restart": {Restarts: 1},
	}
	if *whole {
		faults = map[string]sim.FaultBounds{everyFault: {Crashes: 1, Drops: 1, ChannelErrors: 1, Lost: 1, Restarts: 1, Late: true}}
	}
	for _, target := range amqplock.References {
		for name, bounds := range faults {
			want := unconfirmedStates[target.Name][name]
			t.Run(fmt.Sprintf("%s, %s", target.Name, name), func(t *testing.T) {
				skipLong(t, want)
				t.Parallel()
				e := explore.Exploration{Target: target, Options: unconfirmed, Workload: explore.Workload{Clients: 2, Rounds: 1, Faults: bounds}, Search: search.Options{Reductions: search.AllReductions}}
				if target.Kind != lock.Mutex {
					e.Admins, e.Slots = 1, 1
				}
				x, err := explore.Run(t.Context(), e)
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range x.Search.Found.BySeverity() {
					if !slices.Contains(dear, p) {
						t.Errorf("%s is violated", p)
					}
				}
				if !x.Search.Found.Has(property.CheapAcquire) {
					t.Error("cheap-acquire is not violated: nobody's channel broke")
				}
				if x.Search.States != int64(want) {
					t.Errorf("%d states, want %d", x.Search.States, want)
				}
			})
		}
	}
}
