package foreign

import (
	"slices"
	"testing"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// A lease ends by the server's clock, even while the call that asks for it is under way. An extended lease ends later.
func TestLapse(t *testing.T) {
	const lasts = 30_000
	told := func(p *clientState, op lock.Op) { p.busy, p.op = true, op }
	for name, c := range map[string]struct {
		steps  func(r *run, p *clientState, at func(int64))
		lapses []int64
	}{
		"held": {func(r *run, p *clientState, at func(int64)) {
			told(p, lock.Acquire)
			r.leased(p)
			p.busy, p.held = false, 1
			at(lasts - 1)
			at(lasts)
			at(3 * lasts)
		}, []int64{lasts}},
		"granted late": {func(r *run, p *clientState, at func(int64)) {
			told(p, lock.Acquire)
			r.leased(p)
			at(lasts + 5)
			p.busy, p.held = false, 1
			at(2 * lasts)
		}, []int64{lasts + 5}},
		"extended": {func(r *run, p *clientState, at func(int64)) {
			told(p, lock.Acquire)
			r.leased(p)
			p.busy, p.held = false, 1
			at(20_000)
			told(p, lock.Refresh)
			r.extending(p)
			at(29_000)
			p.lease.extended()
			at(49_999)
			at(50_000)
		}, []int64{50_000}},
		"extended as it ends": {func(r *run, p *clientState, at func(int64)) {
			told(p, lock.Acquire)
			r.leased(p)
			p.busy, p.held = false, 1
			at(20_000)
			told(p, lock.Refresh)
			r.extending(p)
			at(40_000)
			p.lease.extended()
			at(50_000)
		}, []int64{40_000, 50_000}},
		"extended late": {func(r *run, p *clientState, at func(int64)) {
			told(p, lock.Acquire)
			r.leased(p)
			p.busy, p.held = false, 1
			at(20_000)
			told(p, lock.Refresh)
			r.extending(p)
			at(40_000)
			at(60_000)
			p.lease.extended()
			at(90_000)
		}, []int64{40_000, 60_000}},
	} {
		t.Run(name, func(t *testing.T) {
			r := &run{Runner: &Runner{about: About{Leases: true}}, clients: []clientState{{clientHandle: new(clientHandle), id: 1}}}
			var lapses []int64
			c.steps(r, &r.clients[0], func(now int64) {
				before := len(r.record.Events)
				r.now = now
				r.lapse()
				for _, e := range r.record.Events[before:] {
					if e.F == history.Lapse && e.Target == 1 {
						lapses = append(lapses, now)
					}
				}
			})
			if !slices.Equal(lapses, c.lapses) {
				t.Errorf("leases have ended at %d, expected %d", lapses, c.lapses)
			}
		})
	}
}
