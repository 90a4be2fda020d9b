package anynumber

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

var long = flag.Bool("any-long", false, "search the configurations for any number of clients that take more than some seconds, too")

// row is a configuration in a table of results: a reference lock with its default options and any number of clients.
type row struct {
	target        *lock.Target
	slots, admins int // initial slots, and administrators; admins may be sim.AnyNumber
	late, broken  bool
	long          bool
}

// String returns the row as text.
func (r row) String() string {
	out := r.target.Name
	if r.target.Kind == lock.Semaphore {
		out += fmt.Sprintf(" of %d", r.slots)
	}
	switch {
	case r.admins == sim.AnyNumber:
		out += ", any administrators"
	case r.admins > 0:
		out += ", 1 administrator"
	}
	if r.late {
		out += ", late"
	}
	if r.broken {
		out += ", drops and lost replies"
	}
	return out
}

// bounds returns the row's configuration, with the given properties to judge.
func (r row) bounds(props property.Set) Bounds {
	b := standard(r.slots, 0, props, r.late)
	b.Target = r.target
	admin := scenario.Client{Ops: []scenario.Operation{{Op: lock.Remove, Arg: 1}, {Op: lock.Add, Arg: 1}}}
	switch r.target.Kind {
	case lock.Mutex:
		b.Locks[0].Slots = 0
	case lock.PersistentMutex:
		admin.Ops = []scenario.Operation{{Op: lock.Destroy}, {Op: lock.Create, Arg: 1}}
	}
	switch {
	case r.admins == sim.AnyNumber:
		b.Any = append(b.Any, admin)
	case r.admins > 0:
		b.Clients = append(b.Clients, admin)
	}
	if r.broken {
		b.Faults.Drops, b.Faults.Lost = sim.AnyNumber, sim.AnyNumber
	}
	return b
}

// anyRows returns all configurations whose search ends, those with short searches first.
func anyRows() (rows []row) {
	semaphore, mutex, persistent := amqplock.References[0], amqplock.References[1], amqplock.References[2]
	for _, late := range []bool{false, true} {
		for _, broken := range []bool{false, true} {
			rows = append(rows,
				row{target: mutex, slots: 1, late: late, broken: broken},
				row{target: persistent, slots: 1, admins: 1, late: late, broken: broken, long: broken},
				row{target: persistent, slots: 1, admins: sim.AnyNumber, late: late, broken: broken, long: true})
			for slots := 1; slots <= 3; slots++ {
				rows = append(rows,
					row{target: semaphore, slots: slots, admins: 1, late: late, broken: broken, long: slots > 1 || broken},
					row{target: semaphore, slots: slots, admins: sim.AnyNumber, late: late, broken: broken, long: true})
			}
		}
	}
	return rows
}

// TestAnyMatrix: the reference locks with their default options satisfy every applicable property, for any number of
// clients, rounds and crashes. With -v it prints a row of results for each configuration and each search.
func TestAnyMatrix(t *testing.T) {
	for _, row := range anyRows() {
		if row.long && !*long || testing.Short() && (row.target.Kind == lock.Semaphore || row.late && row.admins > 0) {
			continue // TestCounts has semaphores with an administrator, one of them with crashes that are detected late
		}
		t.Run(row.String(), func(t *testing.T) { searchRow(t, row) })
	}
}

// searchRow searches a configuration several times. One search judges all properties for which the monitor stores
// nothing about a client's past. Each other property has a search of its own.
func searchRow(t *testing.T, row row) {
	var sum Stats
	cutoff, began := 0, time.Now()
	for _, group := range anyGroups(property.Applicable(row.target.Kind)) {
		at := time.Now()
		b := row.bounds(group)
		r := Run(t.Context(), b, Options{Memory: 2 << 30})
		if r.Stop != closing(&b) || r.Found != 0 || r.Unwitnessed != 0 {
			t.Errorf("%s: stopped %d, %v, found %b, %d unwitnessed, after %+v", named(group), r.Stop, r.Err, r.Found, r.Unwitnessed, r.Stats)
			continue
		}
		took := time.Since(at)
		c := r.Cutoff(t.Context(), 3, 200_000)
		t.Logf("%s: %d views, %d contexts, %d parts, %.1f s, cut-off %d of %d, %d views reached", named(group), r.Views, r.Contexts, r.Parts[1], took.Seconds(), c.Clients, c.Tried, c.Reached)
		sum.Views, sum.Contexts, sum.Parts[1] = sum.Views+r.Views, sum.Contexts+r.Contexts, max(sum.Parts[1], r.Parts[1])
		if c.Clients == 0 {
			cutoff = 1 << 10
		}
		cutoff = max(cutoff, c.Clients)
	}
	seen := fmt.Sprint(cutoff)
	if cutoff == 1<<10 {
		seen = "not seen"
	}
	t.Logf("| %s | %d | %d | %d | %.0f | %s |", row, sum.Views, sum.Contexts, sum.Parts[1], time.Since(began).Seconds(), seen)
}

// anyGroups splits properties into sets, each for one search, see searchRow.
func anyGroups(all property.Set) (groups []property.Set) {
	groups = []property.Set{0}
	for p := range property.Count {
		switch {
		case !all.Has(p):
		case monitor.Memoryless(1 << p):
			groups[0] = groups[0].With(p)
		default:
			groups = append(groups, 1<<p)
		}
	}
	return groups
}

// named returns the names of the properties in set, separated by spaces.
func named(set property.Set) (out string) {
	for p := range property.Count {
		if set.Has(p) {
			out += " " + p.String()
		}
	}
	return out[1:]
}
