package linear

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// brute decides a small history by trying everything that can happen, event by event. It follows the text of
// [Specification] directly, without atomic steps, a preferred order, or dominance. It supports one lock with numbered
// slots, processes that acquire one slot at a time, and histories that record when connections ended.
type brute struct {
	h      *history.History
	strong bool
	anyone bool // any client may release
	acts   []act
	shrunk bool // the history removes slots
}

// act is one operation of the history.
type act struct {
	f        lock.Op
	process  int32
	inv, ret int // events; ret is -1 if there is no answer
	e        history.Event
	slot     int
	slots    int
	// elsewhere says that an unanswered acquire may have continued on another connection.
	elsewhere bool
}

// scene is a possible state of the lock, with the progress of all operations.
type scene struct {
	slots  int
	holder []int // by slot: the index of the act that took it, plus 1; 0 if free
	at     []int // by act: the number of its steps that have happened; -1 if the act has ended
	seen   []string
}

func (s *scene) clone() *scene {
	return &scene{s.slots, slices.Clone(s.holder), slices.Clone(s.at), slices.Clone(s.seen)}
}

func (s *scene) key() string { return fmt.Sprint(s.slots, s.holder, s.at, s.seen) }

const bruteSlots = 6

func newBrute(h *history.History, o Options) *brute {
	b := &brute{h: h, strong: o.FailedAcquire == property.Strong, anyone: o.Releases == ByAnyone}
	under := map[int32]int{}
	for i, e := range h.Events {
		switch {
		case e.Process == history.Nemesis:
		case e.Type == history.Invoke:
			under[e.Process] = len(b.acts)
			b.acts = append(b.acts, act{
				f: e.F.Op(), process: e.Process, inv: i, ret: -1, slot: int(e.Slot), slots: int(e.Slots), e: history.Event{Type: history.Info},
			})
			b.shrunk = b.shrunk || e.F == history.F(lock.Remove) || e.F == history.F(lock.Destroy)
		default:
			a := &b.acts[under[e.Process]]
			a.e = e
			if e.Slot != history.AnySlot {
				a.slot = int(e.Slot)
			}
			if e.Type != history.Info && !(e.F == history.F(lock.Verify) && e.Reason.Unheard()) {
				a.ret = i
			}
			if a.f == lock.Count {
				a.slots = int(e.Slots)
			}
		}
	}
	for k := range b.acts {
		b.acts[k].elsewhere = b.elsewhere(&b.acts[k])
	}
	return b
}

// elsewhere reports whether an unanswered acquire may have continued on another connection. Its connection ended during
// the call while the client was alive, and its reason is not that loss.
func (b *brute) elsewhere(a *act) bool {
	if a.ret >= 0 || a.f != lock.Acquire || b.h.GoneMayFree || a.e.Reason.Unheard() {
		return false
	}
	for _, e := range b.h.Events[a.inv:] {
		switch {
		case e.F == history.Crash && e.Target == a.process, e.Type == history.Info && e.Process == a.process:
			return false
		case e.F == history.Restart, e.F == history.Gone && e.Target == a.process:
			return true
		}
	}
	return false
}

// bruteScenes is the largest number of states before the brute force gives up.
const bruteScenes = 4000

// legal reports whether some sequence of states explains all events. certain is false if there were too many states.
func (b *brute) legal() (legal, certain bool) {
	first := &scene{slots: b.h.Slots[0], holder: make([]int, bruteSlots+1), at: make([]int, len(b.acts)), seen: make([]string, len(b.acts))}
	if b.h.Kind == lock.Mutex {
		first.slots = 1
	}
	scenes := map[string]*scene{first.key(): first}
	for i, e := range b.h.Events {
		if scenes = b.closure(scenes, i); len(scenes) > bruteScenes {
			return false, false
		}
		next := map[string]*scene{}
		for _, s := range scenes {
			if s = b.event(s, i, e); s != nil {
				next[s.key()] = s
			}
		}
		if scenes = next; len(scenes) == 0 {
			return false, true
		}
	}
	return true, true
}

// closure adds all states that can be reached before event i.
func (b *brute) closure(scenes map[string]*scene, i int) map[string]*scene {
	todo := slices.Collect(maps.Values(scenes))
	for len(todo) > 0 && len(scenes) <= bruteScenes {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for k := range b.acts {
			if a := &b.acts[k]; a.inv >= i || a.ret >= 0 && a.ret < i || s.at[k] < 0 {
				continue
			}
			for _, next := range b.step(s, k) {
				todo = visit(scenes, todo, next)
			}
		}
		for slot, k := range s.holder {
			if k > 0 && b.leaving(k-1, i) {
				next := s.clone()
				next.holder[slot] = 0
				todo = visit(scenes, todo, next)
			}
		}
	}
	return scenes
}

// visit adds a state if it is new.
func visit(scenes map[string]*scene, todo []*scene, s *scene) []*scene {
	key := s.key()
	if scenes[key] != nil {
		return todo
	}
	scenes[key] = s
	return append(todo, s)
}

// leaving reports whether the slot of act k may be lost before event i. This is possible if its process crashed and
// ends of connections are recorded late. With GoneMayFree, it is also possible after the end of a connection, or after
// a verify that said neither held nor removed.
func (b *brute) leaving(k, i int) bool {
	a := &b.acts[k]
	if b.h.GoneLate && slices.ContainsFunc(b.h.Events[:i], func(e history.Event) bool { return e.F == history.Crash && e.Target == a.process }) {
		return true
	}
	if !b.h.GoneMayFree {
		return false
	}
	for j, e := range b.h.Events[:i] {
		if a.inv < j && (e.F == history.Restart || e.F == history.Gone && e.Target == a.process) {
			return true
		}
	}
	for v := k + 1; v < len(b.acts); v++ {
		o := &b.acts[v]
		if o.f == lock.Verify && o.inv < i && o.process == a.process && !(o.ret >= 0 && o.e.Type == history.OK && (o.e.Held || o.e.Reason == lock.Removed)) && b.grant(v, o) == k {
			return true
		}
	}
	return false
}

// event is the state after an event; nil if the event contradicts the state.
func (b *brute) event(s *scene, i int, e history.Event) *scene {
	if (e.F == history.Gone || e.F == history.Restart) && !b.h.GoneMayFree {
		return b.end(s.clone(), i, e)
	}
	for k := range b.acts {
		if b.acts[k].ret == i && s.at[k] != b.need(k) {
			return nil
		}
	}
	return s
}

// end handles the end of one process's connection, or of all: it frees their slots and ends their unanswered
// operations.
func (b *brute) end(s *scene, i int, e history.Event) *scene {
	for slot, k := range s.holder {
		if k > 0 && (e.F == history.Restart || b.acts[k-1].process == e.Target) {
			s.holder[slot] = 0
		}
	}
	for k := range b.acts {
		a := &b.acts[k]
		if a.inv < i && a.ret < 0 && !a.elsewhere && (e.F == history.Restart || a.process == e.Target) {
			s.at[k] = -1
		}
	}
	return s
}

// need is the number of steps of an operation that must have happened when its answer comes.
func (b *brute) need(k int) int {
	a := &b.acts[k]
	ok := a.e.Type == history.OK
	switch {
	case a.f == lock.Acquire && a.e.Type == history.Fail && a.e.Reason == lock.Full,
		a.f == lock.Acquire && ok, a.f == lock.Verify && ok && a.e.Held, a.f == lock.Release && ok,
		a.f == lock.Count && ok, a.f == lock.Wait && ok, a.f == lock.Destroy && ok:
		return 1
	case a.f == lock.Verify && ok && a.e.Reason == lock.Removed && b.grant(k, a) >= 0:
		return 2
	case a.f == lock.Acquire && a.e.Type == history.Fail && a.e.Reason == lock.Withdrawn:
		return 3
	case a.f >= lock.Create && a.f <= lock.Remove && ok:
		return a.slots
	}
	return 0
}

// step returns the states that one more step of an operation can lead to.
func (b *brute) step(s *scene, k int) []*scene {
	a := &b.acts[k]
	if a.ret >= 0 && s.at[k] == b.need(k) {
		return nil
	}
	switch a.f {
	case lock.Acquire:
		return b.acquire(s, k, a)
	case lock.Verify, lock.Release:
		return b.holding(s, k, a)
	case lock.Count:
		return then(s, k, s.slots == a.slots)
	case lock.Wait:
		return then(s, k, s.holder[a.slot] == 0)
	}
	return b.administer(s, k, a)
}

// then is the state after one more step of an operation; none if ok is false.
func then(s *scene, k int, ok bool, changes ...func(*scene)) []*scene {
	if !ok {
		return nil
	}
	n := s.clone()
	n.at[k]++
	for _, c := range changes {
		c(n)
	}
	return []*scene{n}
}

func hold(slot, k int) func(*scene) { return func(s *scene) { s.holder[slot] = k + 1 } }
func free(slot int) func(*scene)    { return func(s *scene) { s.holder[slot] = 0 } }

func (b *brute) acquire(s *scene, k int, a *act) []*scene {
	switch {
	case a.ret < 0:
		return b.unanswered(s, k, a)
	case a.e.Type == history.OK:
		return then(s, k, a.slot <= s.slots && s.holder[a.slot] == 0, hold(a.slot, k))
	case a.e.Reason == lock.Withdrawn:
		return [](func() []*scene){
			func() []*scene { return then(s, k, s.holder[a.slot] == 0, hold(a.slot, k)) },
			func() []*scene { return then(s, k, s.slots < a.slot) },
			func() []*scene { return then(s, k, true, free(a.slot)) },
		}[s.at[k]]()
	case b.strong:
		return then(s, k, !slices.Contains(s.holder[1:s.slots+1], 0))
	}
	return b.scan(s, k)
}

// scan records which slots an acquire has seen taken or missing so far.
func (b *brute) scan(s *scene, k int) []*scene {
	seen := []byte(s.seen[k])
	if len(seen) == 0 {
		seen = make([]byte, bruteSlots)
	}
	all := true
	for i := range seen {
		if i+1 > s.slots || s.holder[i+1] > 0 {
			seen[i] = 'x'
		}
		all = all && seen[i] == 'x'
	}
	if all {
		return then(s, k, true)
	}
	if string(seen) == s.seen[k] {
		return nil
	}
	n := s.clone()
	n.seen[k] = string(seen)
	return []*scene{n}
}

// unanswered takes a slot for an unanswered acquire. It may also give the slot back, if slots can be lost or removed.
func (b *brute) unanswered(s *scene, k int, a *act) (next []*scene) {
	if s.at[k] == 1 {
		slot := slices.Index(s.holder, k+1)
		return then(s, k, (b.shrunk || a.elsewhere || b.h.GoneMayFree) && slot > 0, func(s *scene) { s.holder[slot] = 0 })
	}
	for slot := 1; slot <= s.slots && s.at[k] == 0; slot++ {
		if a.slot == 0 || a.slot == slot {
			next = append(next, then(s, k, s.holder[slot] == 0, hold(slot, k))...)
		}
	}
	return next
}

// grant is the latest act by which an operation's process got the slot: an acquire, or a verify that may have reclaimed
// the slot. It is -1 if there is none, or if the process has given the slot back since.
func (b *brute) grant(k int, a *act) int {
	for g := k - 1; g >= 0; g-- {
		o := &b.acts[g]
		if o.process != a.process || o.e.Type != history.OK || o.slot != a.slot {
			continue
		}
		switch {
		case o.f == lock.Acquire, b.retakes(g):
			return g
		case o.f == lock.Release, o.f == lock.Verify && o.e.Reason == lock.Removed && b.grant(g, o) >= 0:
			return -1
		}
	}
	return -1
}

// retakes reports whether a verify said held after its process may have lost the slot. The process may then have
// reclaimed the slot.
func (b *brute) retakes(k int) bool {
	a := &b.acts[k]
	if !b.h.GoneMayFree || a.f != lock.Verify || a.ret < 0 || a.e.Type != history.OK || !a.e.Held {
		return false
	}
	g := b.grant(k, a)
	return g >= 0 && b.leaving(g, a.ret)
}

func (b *brute) holding(s *scene, k int, a *act) []*scene {
	g := b.grant(k, a)
	has := g >= 0 && s.holder[a.slot] == g+1
	give := func(s *scene) {
		if has {
			s.holder[a.slot] = 0
		}
	}
	switch {
	case a.f == lock.Verify && a.ret < 0 && b.h.GoneMayFree && g >= 0:
		return b.unanswered(s, k, a)
	case b.retakes(k):
		return then(s, k, a.slot <= s.slots && (has || s.holder[a.slot] == 0), hold(a.slot, k))
	case a.f == lock.Release && b.anyone:
		return then(s, k, s.at[k] == 0 && s.holder[a.slot] > 0, free(a.slot))
	case a.f == lock.Release:
		return then(s, k, s.at[k] == 0 && g >= 0, give)
	case a.e.Type == history.OK && a.e.Held:
		return then(s, k, has && a.slot <= s.slots)
	case s.at[k] == 0:
		return then(s, k, s.slots < a.slot || !has)
	}
	return then(s, k, s.at[k] == 1, give)
}

func (b *brute) administer(s *scene, k int, a *act) []*scene {
	if a.f != lock.Destroy && s.at[k] >= a.slots || a.f == lock.Destroy && s.at[k] > 0 {
		return nil
	}
	switch a.f {
	case lock.Add:
		return then(s, k, true, func(s *scene) { s.slots++ })
	case lock.Create:
		return then(s, k, s.slots >= s.at[k], func(n *scene) { n.slots = max(s.slots, s.at[k]+1) })
	case lock.Remove:
		return then(s, k, true, func(s *scene) { s.slots = max(0, s.slots-1) })
	}
	if s.slots > 1 {
		n := s.clone()
		n.slots--
		return []*scene{n}
	}
	return then(s, k, true, func(s *scene) { s.slots = 0 })
}

// simple reports whether the brute force supports everything in a history.
func simple(h *history.History) bool {
	slots, told, restarted := h.Slots[0], false, false
	granted, ended := map[int32]bool{}, map[int32]bool{}
	for _, e := range h.Events {
		op := e.F.Op()
		switch {
		case e.F == history.Restart:
			restarted, told = true, true
		case e.F == history.Gone && restarted, op == lock.Acquire && e.Type == history.Invoke && ended[e.Process]:
			return false // the client's new connection is unknown
		case e.F == history.Gone:
			ended[e.Target], told = true, true
		case op == lock.Add, op == lock.Create:
			slots += int(e.Slots)
		case op == lock.Verify && e.Type == history.OK && !e.Held && e.Reason != lock.Removed && !e.Reason.Unheard() && !h.GoneMayFree:
			return false
		case op == lock.Release && e.Type == history.Info:
			return false
		case op == lock.Acquire && e.Type == history.Invoke && granted[e.Process]:
			return false // the process may hold several slots
		case op == lock.Acquire && e.Type == history.OK:
			granted[e.Process] = true
		}
		if int(e.Slot) > bruteSlots {
			return false
		}
	}
	return slots <= bruteSlots && told && len(h.Events) <= 12
}

func TestSearchAgreesWithBruteForce(t *testing.T) {
	var counts [3]int
	n := 4 * *histories
	if testing.Short() {
		n /= 2
	}
	for i := range n {
		choose := drawn.BySeed(uint64(*firstSeed + i))
		d := drawn.Any(choose)
		d.Steps, d.Unnamed, d.Blind, d.Reuse = 8+choose.Below(24), false, false, false
		d.Faults = []int{4, 12}[choose.Below(2)]
		h := drawn.History(choose, d)
		if Validate(h) != nil || !simple(h) {
			continue
		}
		for _, o := range readings {
			if o.Releases == ByAnyone {
				if i%4 > 0 {
					break // a quarter of the histories suffices for this reading
				}
				h = usurped(choose, h)
			}
			wrong := func(h *history.History) bool {
				p, err := Specify(h, 0, o)
				if err != nil || !simple(h) || p.r.unproven || len(p.r.unknownSessions) > 0 {
					return false
				}
				legal, certain := newBrute(h, o).legal()
				if !certain {
					counts[2]++
					return false
				}
				if legal {
					counts[0]++
				} else {
					counts[1]++
				}
				want := Illegal
				if legal {
					want = Legal
				}
				r, _ := p.Check(oracleSteps)
				return disagree(Finding{Decision: want}, []Decision{r, byPorcupine(p, p.partition(p.Operations()))})
			}
			if wrong(h) {
				least := shrink(h, wrong)
				legal, _ := newBrute(least, o).legal()
				t.Fatalf("seed %d, %+v: by brute force legal %v\n%s", i, o, legal, drawn.Tell(least))
			}
		}
	}
	t.Logf("legal %d, illegal %d, too large %d", counts[0], counts[1], counts[2])
}
