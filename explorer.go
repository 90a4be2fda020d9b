package lockproof

import (
	"context"
	"net/http"
	"time"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/served"
	"github.com/lockproof/lockproof/adapters/explorer"
	"github.com/lockproof/lockproof/adapters/protocol"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/own"
	"github.com/lockproof/lockproof/model/scenario"
)

// Explorer serves a page on which the reader chooses step by step what the clients of a simulated lock do and which
// faults happen. Each step is judged. The defaults are 2 Clients, no Admins and 1 slot.
func Explorer(t Target, o Bounds) (http.Handler, error) {
	r, err := newRun(context.Background(), t, o.Options)
	if err != nil {
		return nil, err
	}
	if r.external() {
		return nil, invalid("an explorer of %s: expected a lock that is simulated", r.name)
	}
	b := served.Begin{Target: r.own, Options: r.options, Clients: or(o.Clients, 2), Admins: or(o.Admins, 0)}
	if b.Slots, err = started(o.Start, o.Slots); err != nil {
		return nil, err
	}
	if b.Slots == 0 {
		b.Slots = scenario.Lock{Slots: uint8(or(o.Slots, 1))}.Existing()
	}
	page, err := b.Page()
	if err != nil {
		return nil, asInvalid(err)
	}
	page.Made = report.Made{Tool: engine.Version, At: time.Now(), Server: lock.BackendOf(r.own).Simulated()}
	return served.Handler(page, func(request []byte) []byte { return t.answer(request, r.list) }), nil
}

// answer carries out a request of the explorer page. Each request gets new machines, so that a panic in one request
// does not affect the next.
func (t Target) answer(request []byte, list own.List) []byte {
	t, _, err := t.settled()
	if err != nil {
		return explorer.Refused(err)
	}
	world := explorer.World{Named: func(string) *lock.Target { return t.own }, Own: list}
	if t.guard == nil {
		return world.Explore(request)
	}
	out, err := protocol.Watch(context.Background(), t.guard, 0, func(context.Context) ([]byte, error) {
		return world.Explore(request), nil
	})
	if err != nil {
		return explorer.Refused(err)
	}
	return out
}
