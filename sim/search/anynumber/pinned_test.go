package anynumber

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/internal/pinned"
	"github.com/lockproof/lockproof/internal/searchtest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/amqp/mutant"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
)

// TestPinned compares searches for any number of clients with a file: counts, violations, solo runs, cutoffs, and
// executions of real clients for the violations.
func TestPinned(t *testing.T) {
	f := pinned.New(t)
	for seed := range uint64(5) {
		f.Block(fmt.Sprintf("any clients %d", seed), 8, func(i int, s *pinned.Seen) {
			r := rand.New(rand.NewPCG(100+seed, uint64(i)))
			b := randomBounds(r)
			if err := b.Check(); err != nil {
				s.Count("not searched")
				s.Rowf("%d: %v", i, err)
				return
			}
			o := Options{Workers: 1, First: r.IntN(4) == 0}
			x := Run(searchtest.NewCountdown(200+r.IntN(400)), b, o)
			s.Rowf("%d: %s", i, b.Target.Name)
			tell(s, x)
			if r.IntN(2) == 0 {
				o.Checkpoint = filepath.Join(t.TempDir(), "checkpoint")
				tell(s, Run(searchtest.NewCountdown(20), b, o))
				if _, err := os.Stat(o.Checkpoint); err == nil { // there is no file if the search ended early enough
					o.Resume = o.Checkpoint
					tell(s, Run(searchtest.NewCountdown(60), b, o))
				}
			}
			if x.Stop == search.Finished || x.Stop == search.AtSlots {
				c := x.Cutoff(context.Background(), 2, 500)
				s.Rowf("  cutoff %d, %d tried, %d views reached", c.Clients, c.Tried, c.Reached)
			}
			if x.Found != 0 {
				real, all := x.Real(context.Background(), x.Found, 2, 1000, func([]scenario.Action) bool { return true })
				for _, p := range slices.Sorted(maps.Keys(real)) {
					s.Count("real")
					s.Rowf("  %s: %v", p, real[p])
				}
				s.Printf("%v", all)
				_, all = x.Real(searchtest.NewCountdown(r.IntN(12)), x.Found, 1, 1000, func([]scenario.Action) bool { return false })
				s.Printf("%v", all)
			}
		})
	}
	f.Compare("testdata/pinned.txt")
}

func randomBounds(r *rand.Rand) Bounds {
	p := property.Applicable(lock.Semaphore)
	if r.IntN(3) > 0 {
		p = 1<<property.MutualExclusion | 1<<property.Property(r.IntN(int(property.NoCrash+1)))&p
	}
	b := standard(1, []int{0, 0, 1, 1, 2}[r.IntN(5)], p, r.IntN(2) == 0)
	if len(b.Clients) == 2 {
		slices.Reverse(b.Clients[1].Ops) // the two administrators call different operations
	}
	targets := slices.Concat(amqplock.References, amqplock.References, amqplock.References, mutant.All)
	if b.Target = targets[r.IntN(len(targets))]; b.Target.Kind != lock.Semaphore {
		b.Clients = nil
	}
	if b.Target.Kind == lock.Mutex {
		b.Locks[0].Slots = 0
	}
	b.Options = b.Target.Settled(b.Options)
	b.Properties &= property.Applicable(b.Target.Kind)
	if b.Faults.Crashes = sim.AnyNumber; r.IntN(3) == 0 {
		b.Faults.Crashes = 0
	}
	if r.IntN(4) == 0 {
		n := []*int{&b.Faults.Drops, &b.Faults.ChannelErrors, &b.Faults.Lost, &b.Faults.Restarts}[r.IntN(4)]
		*n = sim.AnyNumber
	}
	b.Any[0].Ops = b.Any[0].Ops[:1+r.IntN(3)]
	b.Whole, b.Named = r.IntN(4) == 0, r.IntN(3) == 0 && len(b.Clients) > 0
	return b
}

var stops = map[search.Stop]string{
	search.Finished: "closed", search.AtSlots: "more slots", search.Unsound: "unsound", search.AtHolders: "too many holders", search.AtViolation: "at violation",
}

func tell(s *pinned.Seen, x *Result) {
	stop := cmp.Or(stops[x.Stop], "stopped")
	s.Count(stop)
	row := fmt.Sprintf("  %s: %d contexts, %d views, %d steps, %d rounds, at most %d holders", stop, x.Contexts, x.Views, x.Steps, x.Rounds, x.Holders)
	for _, p := range x.Found.BySeverity() {
		row += fmt.Sprintf("; %s", p)
	}
	if x.Solo.Known {
		row += fmt.Sprintf("; alone %d steps, endless %v", x.Solo.Steps, x.Solo.Endless)
	}
	if x.Err != nil {
		row += "; " + x.Err.Error()
	}
	s.Rowf("%s", row)
	s.Printf("%v %d %d %v", x.Parts, x.Unwitnessed, x.Pending, x.Unsaved)
	covered := x.Coverage.Plain()
	s.Printf("%b %d %d", covered.Exercised, len(covered.Results), len(covered.Replies))
	if x.search == nil {
		return
	}
	for _, g := range x.search.contexts.list {
		c := x.search.population(g)
		s.Printf("context %d, %d steps, looked %v, audited %v, %d idle;", g.id, len(g.steps), g.looked, g.audited, len(c.idle))
	}
}
