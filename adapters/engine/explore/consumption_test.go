package explore_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine/explore"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/amqp/consumption"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
)

var whole = flag.Bool("whole", false, "explore locks by consumption with a fault of each kind at once, and for any number of clients those that wait: minutes each")

// everyFault names the explorations with one fault of each kind in the same execution.
const everyFault = "all"

// shortStates is the maximum number of states of an exploration that runs with -short. Each kind of fault occurs in at
// least one such exploration.
const shortStates = 5000

// skipLong skips a test with -short if its exploration has more than shortStates states.
func skipLong(t *testing.T, states int) {
	t.Helper()
	if testing.Short() && states > shortStates {
		t.Skip("skipped: -short leaves out the explorations of many states")
	}
}

// consumedStates are the expected numbers of states of each lock in package consumption, by lock and by the fault that
// may occur. There are two clients and, for semaphores, one administrator and one slot.
var consumedStates = map[string]map[string]int{
	"consumer-mutex": {
		"crash": 48, "drop": 52, "channel error": 122, "lost reply": 46, "restart": 42, everyFault: 1956,
	},
	"consumer-persistent-mutex": {
		"crash": 577, "drop": 668, "channel error": 1468, "lost reply": 798, "restart": 446, everyFault: 142613,
	},
	"token-semaphore": {
		"crash": 2528, "drop": 4575, "channel error": 8459, "lost reply": 6441, "restart": 1992, everyFault: 1090183,
	},
	"waiting-token-semaphore": {
		"crash": 6325, "drop": 12802, "channel error": 32980, "lost reply": 19266, "restart": 4190,
	},
	"plain-token-semaphore": {
		"crash": 1049, "drop": 1612, "channel error": 2711, "lost reply": 2004, "restart": 778, everyFault: 168090,
	},
}

// TestExploreConsumption explores every lock of package consumption with two clients, an administrator and a fault of
// each kind. No property may be violated, and the number of states must be the expected one.
func TestExploreConsumption(t *testing.T) {
	faults := map[string]sim.FaultBounds{
		"crash": {Crashes: 1, Late: true}, "drop": {Drops: 1}, "channel error": {ChannelErrors: 1}, "lost reply": {Lost: 1, Late: true}, "restart": {Restarts: 1},
	}
	if *whole {
		faults = map[string]sim.FaultBounds{everyFault: {Crashes: 1, Drops: 1, ChannelErrors: 1, Lost: 1, Restarts: 1, Late: true}}
	}
	for _, target := range consumption.References {
		for name, bounds := range faults {
			want, ok := consumedStates[target.Name][name]
			if !ok {
				continue
			}
			t.Run(fmt.Sprintf("%s, %s", target.Name, name), func(t *testing.T) {
				skipLong(t, want)
				t.Parallel()
				e := explore.Exploration{Target: target, Workload: explore.Workload{Clients: 2, Rounds: 1, Faults: bounds}, Search: search.Options{Reductions: search.AllReductions}}
				if target.Kind != lock.Mutex {
					e.Admins, e.Slots = 1, 1
				}
				x, err := explore.Run(t.Context(), e)
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range x.Search.Found.BySeverity() {
					t.Errorf("%s is violated", p)
				}
				if x.Search.States != int64(want) {
					t.Errorf("%d states, want %d", x.Search.States, want)
				}
			})
		}
	}
}

// TestConsumptionPage checks that the numbers of states in the README of package consumption are the expected ones.
func TestConsumptionPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "model", "amqp", "consumption", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name, states := range consumedStates {
		n, ok := states[everyFault]
		if want := fmt.Sprintf("| %s |", style.Grouped(n)); ok && !strings.Contains(string(page), want) {
			t.Errorf("%s: the page has no row that ends with %s", name, want)
		}
	}
}
