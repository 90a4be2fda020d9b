package search

import (
	"math/rand/v2"

	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// walker takes one random walk after the other.
type walker struct {
	*worker
	opts   *WalkOptions
	seen   *fingerprints
	rng    rand.PCG
	start  []uint32
	t      []uint32
	to     []uint32
	list   []scenario.Action // possible actions of the client for which possible was last called
	fps    []uint64          // fingerprints of the walk's states
	fresh  []bool
	res    Walked
	first  map[property.Property]int64
	until  property.Set // a violation of one of these ends the walk
	noting bool         // record the walk's actions in took
	took   []scenario.Action
	// unwitnessed has the numbers of the walks for which the monitor has no linearization.
	unwitnessed []int64
}

func newWalker(s *walks) *walker {
	w := s.plan.worker()
	return &walker{worker: w, opts: &s.opts, seen: s.seen, start: w.initial(), first: make(map[property.Property]int64)}
}

// run takes the walk with the given number. The seed and the number determine it.
func (k *walker) run(number int64) {
	k.rng.Seed(k.opts.Seed, uint64(number))
	k.t, k.fps = append(k.t[:0], k.start...), k.fps[:0]
	steps, found, unwitnessed := 0, property.Set(0), k.res.Unwitnessed
	for found&k.until == 0 {
		k.fps = append(k.fps, k.fingerprint(k.t))
		if steps == k.opts.Steps {
			k.res.Cut++
			break
		}
		c, i := k.choose()
		if i < 0 {
			found |= k.end()
			break
		}
		found |= k.follow(c, i) | k.own(k.t)
		steps++
	}
	k.res.Walks++
	k.res.Steps += int64(steps)
	k.res.Longest = max(k.res.Longest, steps)
	k.res.Found |= found
	if k.res.Unwitnessed > unwitnessed {
		k.unwitnessed = append(k.unwitnessed, number)
	}
	for p := range property.Property(property.Most) {
		if _, known := k.first[p]; found.Has(p) && !known {
			k.first[p] = number
		}
	}
}

// look adds the states of the last walk to the set of seen states, whose size is the number of different states.
func (k *walker) look() {
	if len(k.fresh) < len(k.fps) {
		k.fresh = make([]bool, len(k.fps))
	}
	k.seen.insert(k.fps, nil, k.fresh[:len(k.fps)])
}

// rarely: if a client's actions include faults, the walk chooses one of its faults once in 16 draws. Faults are thus
// spread over a walk.
const rarely = 16

// choose draws a client (c) and one of its moves (i); client 0 is the broker. i is -1 if no action is left. choose
// skips clients without moves. It draws a fault, or an event such as the passing of time, if all remaining actions are
// of this kind.
func (k *walker) choose() (c, i int) {
	last, fault := -1, -1
	from := k.draw(k.stride)
	for n := range k.stride {
		c := (from + n) % k.stride
		k.possible(c)
		i, certain := k.pick()
		if certain {
			return c, i
		}
		if i >= 0 && last < 0 {
			last, fault = c, i
		}
	}
	return last, fault
}

// pick draws one of the actions in k.list, which are of one client. It usually draws a step or random choice, and a
// fault once in a while. certain is false if the draw is only a last resort: the client has nothing but faults, and
// another client should act first if it can. i is -1 if the list is empty.
func (k *walker) pick() (i int, certain bool) {
	ways := 0
	for _, a := range k.list {
		if a.Kind == scenario.Step || a.Kind == scenario.Choose {
			ways++
		}
	}
	faults := len(k.list) - ways
	unlucky := faults > 0 && k.draw(rarely) == 0
	switch {
	case len(k.list) == 0:
		return -1, false
	case ways > 0 && !unlucky:
		return k.nth(k.draw(ways), true), true
	}
	return k.nth(k.draw(faults), false), unlucky
}

// nth returns the index in k.list of the n-th step or random choice (way is true), or of the n-th other action (way is
// false).
func (k *walker) nth(n int, way bool) int {
	for i, a := range k.list {
		if (a.Kind == scenario.Step || a.Kind == scenario.Choose) != way {
			continue
		}
		if n--; n < 0 {
			return i
		}
	}
	panic("search: fewer actions than were counted")
}

// draw returns a random number from 0 to n-1.
func (k *walker) draw(n int) int { return int(k.rng.Uint64() % uint64(n)) }

// possible sets k.list to the possible actions of client c; client 0 is the broker.
func (k *walker) possible(c int) {
	k.list = k.list[:0]
	switch {
	case c > 0 && k.alone:
		for _, m := range k.of(k.t, c) {
			k.list = append(k.list, m.action)
		}
	case c > 0 || k.global || !k.alone:
		k.enter(k.t)
		k.list = k.sys.Actions(c, k.list)
	}
}

// follow executes the i-th move of client c (0 is the broker), and returns the properties that it violates.
func (k *walker) follow(c, i int) property.Set {
	if c == 0 || !k.alone {
		k.possible(c)
		a := k.list[i]
		m, _ := k.take(a)
		k.read(k.t)
		return k.made(a, &m)
	}
	m := k.of(k.t, c)[i]
	a := m.action
	a.Client = uint8(c)
	k.to = append(k.to[:0], k.t...)
	k.apply(k.to, k.t, c, &m)
	k.t, k.to = k.to, k.t
	return k.made(a, &m)
}

func (k *walker) made(a scenario.Action, m *move) property.Set {
	if k.noting {
		k.took = append(k.took, a)
	}
	if m.unwitnessed {
		k.res.Unwitnessed++
	}
	return m.found
}

// end returns the properties that the final state of a walk violates.
func (k *walker) end() property.Set {
	if k.alone {
		return k.final(k.t)
	}
	return k.judge(k.t)
}
