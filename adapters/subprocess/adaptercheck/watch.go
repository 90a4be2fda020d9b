package adaptercheck

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/plugin"
	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/subprocess"
	"github.com/lockproof/lockproof/model/holding"
	"github.com/lockproof/lockproof/model/lock"
)

// use is a part of the check: two more clients acquire and release a lock, and the check observes the broker's state.
type use struct {
	*walk
	broker  broker
	held    map[uint8]int // granted slots, by client number
	last    int           // the slot that was released last; 0 if none
	guesses []holding.Declared
}

// watch lets other clients use a lock. It reports which declaration would tell lockproof what holds the lock, and how
// clients answer operations that have no effect.
func (w *walk) watch() {
	s := Step{Client: "c1", What: "watched"}
	said, err := w.watched()
	s.Came = strings.Join(said, "; ")
	if err != nil {
		s.Mark, s.Came = Skipped, err.Error()
	}
	w.report(s)
}

func (w *walk) watched() (said []string, err error) {
	simulated := broker{wire.NewSimulated(wire.SimulatedOptions{})}
	other := &walk{Config: w.Config, ctx: w.ctx, starter: w.starter, server: simulated}
	defer func() { err = errors.Join(err, other.close()) }()
	u := &use{walk: other, broker: simulated, held: make(map[uint8]int)}
	for _, name := range []string{"c1", "c2"} {
		if err := u.join(name); err != nil {
			return nil, err
		}
	}
	if !u.offers(lock.Release) {
		return []string{"holding: it cannot be told, as nobody releases it"}, nil
	}
	slots := 1
	if w.Kind == lock.Semaphore {
		slots = 2
	}
	creates := w.Kind != lock.Mutex && u.offers(lock.Create)
	if creates {
		if _, err := u.do(1, lock.Create, foreign.Params{Slots: slots}); err != nil {
			return nil, err
		}
	}
	if err := u.round(u.guess); err != nil {
		return nil, err
	}
	u.compare()
	if err := u.round(u.compare); err != nil {
		return nil, err
	}
	said = append(said, u.suggestion(), u.aside(2, "a release of what is not held", lock.Release, foreign.Params{Slot: u.last}))
	if creates {
		said = append(said, u.aside(1, "create of what is there", lock.Create, foreign.Params{Slots: 1}))
	}
	return said, nil
}

// join starts one more client of the lock.
func (u *use) join(name string) (err error) {
	p := &checkedClient{name: name, client: u.starter.Client(name)}
	if p.address, err = u.broker.listen(); err != nil {
		return err
	}
	u.clients = append(u.clients, p)
	urls, err := p.address.urls()
	if err != nil {
		return err
	}
	about, err := p.client.Initialize(u.ctx, foreign.Setup{Client: name, Lock: u.Kind, URLs: urls, Options: u.Options})
	p.about = about.TakenFor(u.Kind)
	return err
}

func (u *use) offers(op lock.Op) bool { return slices.Contains(u.clients[0].about.Operations, op) }

// do makes a client carry out an operation on the lock.
func (u *use) do(c uint8, op lock.Op, params foreign.Params) (lock.Result, error) {
	ctx, cancel := context.WithTimeout(u.ctx, u.Limit)
	defer cancel()
	params.Name = name
	if u.clients[c-1].about.Limits && op == lock.Acquire {
		params.Limit = 2
	}
	return u.clients[c-1].client.Call(ctx, op, params)
}

// round lets both clients acquire and release the lock. They hold it at the same time if the lock has two slots. It
// calls look after each call.
func (u *use) round(look func()) error {
	for _, next := range []struct {
		client uint8
		op     lock.Op
	}{{1, lock.Acquire}, {2, lock.Acquire}, {1, lock.Release}, {2, lock.Acquire}, {2, lock.Release}} {
		slot, holds := u.held[next.client]
		if holds == (next.op == lock.Acquire) {
			continue
		}
		r, err := u.do(next.client, next.op, foreign.Params{Slot: slot})
		switch {
		case err != nil:
			return err
		case r.Held:
			u.held[next.client] = max(1, int(r.Slot))
		case next.op == lock.Release:
			u.last = slot
			delete(u.held, next.client)
		}
		look()
	}
	return nil
}

var number = regexp.MustCompile(`\d+`)

// guess collects declarations of what may hold the lock, from the names of the existing queues. Declarations
// that contain a slot's number come first.
func (u *use) guess() {
	var names []string
	u.broker.Observe(func(v wire.State) { names = slices.Sorted(v.Queues()) })
	for thing := holding.Queue; thing <= holding.Consumer; thing++ {
		for _, queue := range names {
			queue = strings.NewReplacer("{", "{{", "}", "}}").Replace(queue)
			for _, pattern := range append(numbered(queue, slices.Sorted(maps.Values(u.held))), queue) {
				d, err := holding.Parse(thing.String() + " " + pattern)
				if err == nil && !slices.Contains(u.guesses, d) {
					u.guesses = append(u.guesses, d)
				}
			}
		}
	}
}

// numbered returns patterns for a queue name. In each, one number of the name is replaced by "{slot}" or "{slot-1}",
// if that gives one of the slots.
func numbered(queue string, slots []int) (all []string) {
	for _, at := range number.FindAllStringIndex(queue, -1) {
		n, _ := strconv.Atoi(queue[at[0]:at[1]])
		for _, of := range []struct {
			slot int
			text string
		}{{n, "{slot}"}, {n + 1, "{slot-1}"}} {
			if slices.Contains(slots, of.slot) {
				all = append(all, queue[:at[0]]+of.text+queue[at[1]:])
			}
		}
	}
	return all
}

// lateEffect is the maximum time between the answer to a call and its effect.
const lateEffect = 50 * time.Millisecond

// compare drops the guessed declarations that do not match the clients that hold the lock now.
func (u *use) compare() {
	wrong := func(d holding.Declared) bool { return !u.right(d) }
	for late := time.Now().Add(lateEffect); slices.ContainsFunc(u.guesses, wrong) && time.Now().Before(late); {
		time.Sleep(time.Millisecond)
	}
	u.guesses = slices.DeleteFunc(u.guesses, wrong)
}

// right reports whether, according to declaration d, exactly the clients that were granted the lock hold it.
func (u *use) right(d holding.Declared) bool {
	var shown []holding.Hold
	u.broker.Observe(func(v wire.State) {
		shown = plugin.Holders(v, d, name, 2, func(c *wire.Conn) uint8 {
			return uint8(slices.IndexFunc(u.clients, func(p *checkedClient) bool { return p.address == brokerAddress{c.Server} }) + 1)
		})
	})
	for _, h := range shown {
		slot, told := u.held[h.Client]
		if h.Client != holding.Anybody && (!told || d.Numbered() && slot != int(h.Slot)) {
			return false
		}
	}
	return len(shown) == len(u.held)
}

// suggestion returns the remaining guess in the form in which it can be declared.
func (u *use) suggestion() string {
	if len(u.guesses) == 0 {
		return "holding: nothing to declare, as no queue, message or consumer that has the lock's name comes and goes with it"
	}
	return fmt.Sprintf("holding: %s", u.guesses[0])
}

// aside lets a client carry out an operation that has no effect, and describes its answer.
func (u *use) aside(c uint8, what string, op lock.Op, params foreign.Params) string {
	var exit *subprocess.ExitError
	switch r, err := u.do(c, op, params); {
	case errors.As(err, &exit):
		return what + " ends the client"
	case err != nil:
		return what + " is answered by " + err.Error()
	case r.Outcome != lock.Done:
		return what + " is answered by an error"
	}
	return what + " is answered ok"
}
