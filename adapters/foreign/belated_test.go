package foreign

import (
	"testing"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// playing is a server on which every fault can be played.
type playing struct{ standing }

func (playing) Ours() bool                     { return true }
func (playing) Plays(scenario.ActionKind) bool { return true }

// TestFaltersWhole: a client that has no connection cannot lose it. Then no time passes either, though the lock has
// leases, and the fault counts as one that was not played.
func TestFaltersWhole(t *testing.T) {
	s := &Runner{server: playing{standing{t: t}}, about: About{Leases: true}}
	r := &run{Runner: s, sc: &scenario.Scenario{Clients: []scenario.Client{{Ops: []scenario.Operation{{Op: lock.Release}}}}}}
	r.clients = []clientState{{clientHandle: &clientHandle{runner: s, number: 1}, id: 1, held: 1}}
	for _, kind := range []scenario.ActionKind{scenario.Drop, scenario.ChannelError} {
		if !r.postpone(scenario.Action{Kind: kind, Client: 1, Late: true}) {
			t.Fatalf("%v does not wait", kind)
		}
		s.uncontrolled.Unplayed = 0
		if did, err := r.falter(&r.clients[0]); did || err != nil || s.uncontrolled.Unplayed != 1 || len(r.record.Steps) > 0 {
			t.Errorf("%v: %v, %v, %d not played, %v", kind, did, err, s.uncontrolled.Unplayed, r.record.Steps)
		}
	}
}
