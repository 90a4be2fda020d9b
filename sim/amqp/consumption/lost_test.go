package consumption_test

import (
	"fmt"
	"testing"

	"github.com/lockproof/lockproof/model/amqp/consumption"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
)

// TestLostToken: a token that is lost forever violates a property. A releasing client acknowledges its token and
// publishes it again. If the client crashes in between, crash-frees is violated. If it loses its connection and does
// not publish again, effective-release is violated. A token that returns eventually violates nothing.
func TestLostToken(t *testing.T) {
	crash, late, drop := sim.FaultBounds{Crashes: 1}, sim.FaultBounds{Crashes: 1, Late: true}, sim.FaultBounds{Drops: 1}
	crashFrees, effectiveRelease := property.Set(1<<property.CrashFrees), property.Set(1<<property.EffectiveRelease)
	for _, c := range []struct {
		release string
		resend  bool
		faults  sim.FaultBounds
		want    property.Set
	}{
		{consumption.AckPublish, false, crash, crashFrees},
		{consumption.AckPublish, false, late, crashFrees},
		{consumption.AckPublish, false, drop, effectiveRelease},
		{consumption.AckPublish, true, drop, 0},
		{consumption.AckPublish, true, crash, crashFrees},
		{consumption.PublishAck, false, crash, 0},
		{consumption.PublishAck, false, drop, 0},
		{consumption.Transaction, false, late, 0},
		{consumption.Transaction, false, drop, 0},
		{consumption.Nack, false, late, 0},
	} {
		target := consumption.References[len(consumption.References)-1]
		b := sim.Bounds{
			Target: target, Locks: []scenario.Lock{{Name: "jobs", Slots: 1}}, Faults: c.faults, Properties: crashFrees | effectiveRelease,
			Options: target.Settled(consumption.Table.Edit(lock.BackendOf(target).Defaults, func(s *consumption.Settings) {
				s.Release, s.Resend = c.release, c.resend
			})),
		}
		for range 2 {
			b.Clients = append(b.Clients, scenario.Client{Ops: []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Release}}})
		}
		r := search.Run(t.Context(), b, search.Options{Workers: 1})
		if r.Stop != search.Finished || r.Found != c.want {
			t.Errorf("%s: stopped %d, found %v, want %v", fmt.Sprintf("%s, resend %v, %s", c.release, c.resend, c.faults), r.Stop, r.Found.Names(), c.want.Names())
		}
	}
}
