package beliefs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// Judge judges a valid history by the properties that clients' beliefs can violate:
//
//   - mutual-exclusion: two clients must not believe at once that they hold the same slot. A belief begins when an
//     acquire succeeds. It ends when the client calls release, calls a verify that does not say held, dies, or loses
//     its connection; later overlaps are no violation. Options say whether a failed release ends the belief as well
//     ([linear.FailedRelease]), and whether other clients' releases do ([linear.ByAnyone]). If the connection ends during
//     an acquire, the acquire must not succeed while another client believes throughout.
//   - stale-belief-ends: a verify that is called after the connection was lost must not say held. If the loss need not
//     free the slot ([history.History.GoneMayFree]), the verify must not say held while another client believes
//     throughout; if it says held, a belief begins, as with an acquire.
//   - fencing-monotone, if grants have tokens: an acquire that is called after other grants of the lock, of any slot,
//     must get a larger token than theirs.
//   - limit-respected, if acquires state limits: see [Limits].
//   - loss-told, if clients report losses: a client must not report a loss while it certainly holds the lock.
//   - progress: an acquire may give up, and administration may be busy, only while another client does the same kind of
//     work. If the lock's design is unknown, any operation of another client is enough. An administrator may then also
//     report that it changed nothing if there may be no slot, fewer slots than it removes, or a holder of such a slot.
//
// Other properties need the broker's state: a history without violations does not prove them.
type Judge struct {
	h          *history.History
	options    linear.Options
	sessions   map[session]*seen
	uses       map[int32][]*seen // by process: its sessions, one for each lock that it uses
	ended      map[int32]bool    // processes whose connection ended
	resting    map[int32]resting // packed sessions of processes whose connection ended, which are not in the maps above
	believers  map[place][]belief
	open       map[place][]grant
	working    map[work]*contenders
	contents   map[uint16]*contents // by lock number, like fences
	fences     map[uint16]*Fence
	slots      map[uint16]*Slots // by lock; nil if slots are not judged
	lastFenced map[place]Fenced  // the last grant of each slot; nil if only grants before a call count
	doubts     []doubt           // grants that later answers may excuse
	awaited    map[int32]bool    // processes whose next answers may matter for doubts or open grants
	dropped    bool              // there were too many doubts
	witnessed  bool              // the history records ends of connections
	strays     map[place]*strays // releases that may still end a hold
	straying   map[int32]place   // by process: the slot of its stray under way
	calls      map[int32]int     // by process: the event that invoked its operation under way, if anyone may release
	limits     limits
	answers    history.Answers
	lock       int // lock number of the current event
	verdicts   [len(judged)]linear.Verdict
}

// New returns a Judge for history h, whose events are then given to it one by one.
func New(h *history.History, o linear.Options) *Judge {
	w := &Judge{
		h: h, options: o, sessions: make(map[session]*seen), uses: make(map[int32][]*seen), ended: make(map[int32]bool), resting: make(map[int32]resting),
		believers: make(map[place][]belief), open: make(map[place][]grant), working: make(map[work]*contenders),
		awaited: make(map[int32]bool), strays: make(map[place]*strays), straying: make(map[int32]place), calls: make(map[int32]int),
		contents: make(map[uint16]*contents), fences: make(map[uint16]*Fence), limits: limits{h: h, anyone: o.Releases == linear.ByAnyone},
	}
	for p := range w.verdicts {
		w.verdicts[p] = linear.Verdict{Property: judged[p], Decision: linear.Legal, Event: -1}
	}
	return w
}

// Certain returns a Judge for clients of unknown design. It also judges whether the number of slots makes a grant
// possible: no-phantom-slot, limit-respected for semaphores, and removal-drains for persistent mutexes.
func Certain(h *history.History, o linear.Options) *Judge {
	w := New(h, o)
	w.slots, w.lastFenced = make(map[uint16]*Slots), make(map[place]Fenced)
	return w
}

// Answers are the numbers of answers so far, by kind.
func (w *Judge) Answers() history.Answers { return w.answers }

// Holder is a process that certainly holds a slot. Since is the index of the event that said so last.
type Holder struct {
	Process int32
	Since   int
}

// Holders are the processes that now certainly hold a slot. Those that are verifying their hold are left out.
func (w *Judge) Holders(lock, slot uint16) (all []Holder) {
	for _, b := range w.believers[place{lock, slot}] {
		if !b.asking {
			all = append(all, Holder{b.process, b.since})
		}
	}
	return all
}

// Verdicts are the verdicts at the end of the history. Properties that not every lock has are included if the history
// puts them to the test.
func (w *Judge) Verdicts() (all []linear.Verdict) {
	w.settle()
	for _, v := range w.verdicts {
		if v.Checked > 0 || !property.Announceable.With(property.LimitRespected).With(property.NoPhantomSlot).With(property.RemovalDrains).Has(v.Property) {
			all = append(all, v)
		}
	}
	return all
}

// judged are the properties that a Judge judges.
var judged = [...]property.Property{property.MutualExclusion, property.StaleBeliefEnds, property.Progress, property.FencingMonotone, property.LimitRespected, property.NoPhantomSlot, property.RemovalDrains, property.LossTold}

// place is a slot of a lock.
type place struct{ lock, slot uint16 }

// belief is the belief of a process that it holds a slot.
type belief struct {
	process int32
	since   int  // the event that told it so
	asked   int  // the event that invoked what told it so
	asking  bool // it is verifying its hold, and may have learnt that it is over
}

// grant is a successful acquire while other clients were verifying the same slot. If such a verify says held, its
// client has believed throughout, and the grant is judged again.
type grant struct {
	rivals  // other processes that, at the grant, certainly believed that they hold the slot
	event   int
	asked   int // the event that invoked the acquire
	process int32
	slot    uint16
	asking  []int32
}

// work is one kind of operations on a lock: the administrative ones, or the others. Only operations of the same kind
// can conflict with one another.
type work struct {
	lock           uint16
	administrative bool
}

// contenders are the clients whose operations can conflict.
type contenders struct {
	under int // number of their operations under way, including those that never return
	last  int // index of the event that invoked the latest of their operations
}

// session identifies the use of one lock by one process. A process may use several locks.
type session struct {
	process int32
	lock    uint16
}

// seen is what the history says of one process's use of one lock.
type seen struct {
	lock       uint16
	invoked    int  // index of the event that invoked the process's last operation
	contenders bool // when that operation was invoked, another client had a conflicting one under way
	gone       bool // the process's connection or lease has ended
	since      bool // gone was true when the last operation was invoked, or the lease ended during a refresh
	extending  bool // the operation under way is a refresh, which extends a lease
	ended      bool // the process's connection or lease ended during the operation
	lapsed     bool // a lease of the process ended, and not its connection
	believing  bool
	at         place
	others     []place // further slots, besides at, that the process believes it holds
	released   bool    // the process believed that it held the slot when it called the release under way
	fenced     Fenced  // the largest token when the operation was invoked
	slots      int     // the number of slots in the operation's argument
	fewest     int     // the lowest possible number of slots at the invocation
	takes      int     // the number of slots that the operation may remove
	most       int     // the largest possible number of slots since the process invoked its last acquire
}

// judge counts a check of property p, and records the first violation with its event and reason.
func (w *Judge) judge(p property.Property, ok bool, event int, format string, args ...any) {
	v := w.verdict(p)
	v.Checked++
	if !ok && v.Decision == linear.Legal {
		v.Decision, v.Event, v.Why, v.Lock = linear.Illegal, event, fmt.Sprintf(format, args...), w.lock
	}
}

// Event handles the i-th event of the history, counted from 0.
func (w *Judge) Event(i int, e *history.Event) {
	w.lock = int(e.Lock)
	w.wake(about(e))
	w.limited(i, e)
	w.answers.Event(e)
	switch {
	case e.Process == history.Nemesis:
		w.world(i, e)
	case e.Type == history.Invoke:
		w.invoked(i, e)
	default:
		w.completed(i, e)
	}
	w.called(i, e)
}

// limited judges limit-respected after an event. The event can show that an earlier grant was wrong.
func (w *Judge) limited(i int, e *history.Event) {
	if why, judged := w.limits.event(i, e); judged || why != "" {
		w.judge(property.LimitRespected, why == "", i, "%s", why)
	}
}

// session returns what is known of a process's use of a lock.
func (w *Judge) session(p int32, l uint16) *seen {
	s := w.sessions[session{p, l}]
	if s == nil {
		s = &seen{lock: l, gone: w.ended[p]}
		w.sessions[session{p, l}] = s
		w.uses[p] = append(w.uses[p], s)
	}
	return s
}

// contendersOf are the clients whose operations can conflict with the event's operation, or nil if it conflicts with
// none. If the lock's design is unknown ([history.History.GoneMayFree]), any two operations on it may conflict.
func (w *Judge) contendersOf(e *history.Event) *contenders {
	op := e.F.Op()
	if op != lock.Acquire && !op.Administrative() && !w.h.GoneMayFree {
		return nil
	}
	k := work{e.Lock, op.Administrative() && !w.h.GoneMayFree}
	if w.working[k] == nil {
		w.working[k] = new(contenders)
	}
	return w.working[k]
}

// world handles an event of the environment, such as a crash.
func (w *Judge) world(i int, e *history.Event) {
	w.witnessed = w.witnessed || e.F == history.Restart || e.F == history.Gone || e.F == history.Lapse || e.F == history.Lost
	switch e.F {
	case history.Restart:
		for p := range w.resting {
			w.wake(p)
		}
		for p := range w.uses {
			w.disconnected(p, false)
		}
	case history.Gone:
		w.disconnected(e.Target, false)
		w.rest(e.Target)
	case history.Lapse:
		w.lapsed(e.Target)
	case history.Crash:
		for _, s := range w.uses[e.Target] {
			w.uncertain(e.Target, s)
		}
		w.hears(e.Target, true)
	case history.Lost:
		w.tells(i, e)
	}
}

// lapsed handles the end of a process's lease. If a refresh is under way, the client may still get a new lease: if the
// refresh says held, the client holds the lock from then on.
func (w *Judge) lapsed(p int32) {
	uses := w.uses[p]
	if !w.h.GoneMayFree || len(uses) != 1 || !uses[0].extending || !uses[0].believing {
		w.disconnected(p, true)
		return
	}
	uses[0].gone, uses[0].since, uses[0].lapsed = true, true, true
	w.uncertain(p, uses[0])
}

// disconnected handles the end of a process's connection or, if lapse is true, of its lease.
func (w *Judge) disconnected(p int32, lapse bool) {
	w.ended[p] = true
	for _, s := range w.uses[p] {
		s.gone, s.ended, s.lapsed = true, true, lapse
		w.uncertain(p, s)
	}
}

// uncertain removes the process's beliefs in slots of a lock, so that they no longer count against grants to other
// clients.
func (w *Judge) uncertain(p int32, s *seen) {
	if !s.believing {
		return
	}
	s.believing = false
	for _, at := range append(s.others, s.at) {
		w.believers[at] = slices.DeleteFunc(w.believers[at], func(b belief) bool { return b.process == p })
		w.answered(p, at, false)
	}
	s.others = nil
}

// believe records that process p believes it holds a slot (at), from event number i on.
func (w *Judge) believe(i int, p int32, s *seen, at place) {
	if s.believing && s.at != at {
		s.others = append(s.others, s.at)
	}
	s.believing, s.at = true, at
	s.gone = s.gone && !w.h.GoneMayFree
	w.believers[at] = append(w.believers[at], belief{process: p, since: i, asked: s.invoked})
}

// ask records that a process's verify has begun (asking is true) or ended.
func (w *Judge) ask(p int32, s *seen, asking bool) {
	for i, b := range w.believers[s.at] {
		if s.believing && b.process == p {
			w.believers[s.at][i].asking = asking
		}
	}
}

func (w *Judge) invoked(i int, e *history.Event) {
	s := w.session(e.Process, e.Lock)
	s.invoked, s.since, s.ended, s.contenders = i, s.gone, false, false
	s.extending = e.F.Op() == lock.Refresh
	f := w.fence(e.Lock)
	f.Begin(e.F.Op())
	s.fenced = f.Now()
	if w.h.GoneMayFree {
		there := w.content(e.Lock)
		s.slots, s.fewest = int(e.Slots), there.fewest
		s.takes = there.begin(e)
	}
	w.administer(e, s)
	switch e.F.Op() {
	case lock.Release:
		w.released(e, s)
	case lock.Verify, lock.Refresh:
		w.ask(e.Process, s, true)
	}
	if c := w.contendersOf(e); c != nil {
		s.contenders = c.under > 0
		c.under++
		c.last = i
	}
}

func (w *Judge) completed(i int, e *history.Event) {
	s := w.session(e.Process, e.Lock)
	s.extending = false
	w.fence(e.Lock).End(e.F.Op(), e.Type != history.Info)
	contended := w.contended(e, s)
	nothing := false
	w.settledBy(e)
	w.strayEnds(i, e)
	w.cutOff(e, s)
	if w.h.GoneMayFree {
		there := w.content(e.Lock)
		there.end(e, s.slots, s.takes)
		nothing = there.refuses(e.F.Op(), s.slots, s.fewest)
	}
	w.administer(e, s)
	switch op := e.F.Op(); {
	case op == lock.Acquire && e.Type == history.OK && e.Held:
		w.acquired(i, e, s)
		w.grantFenced(i, e, s)
	case op == lock.Acquire && e.Reason == lock.GaveUp:
		w.judge(property.Progress, contended, i, "%s's acquire gave up (%s) though nobody else was acquiring", w.h.Who(e.Process), w.h.Moment(i))
	case op.AsksHeld():
		w.verified(i, e, s)
	case op == lock.Release && e.Type == history.Fail && s.released && w.options.FailedRelease == linear.KeepsBelief:
		w.kept(i, e, s)
	case e.Reason == lock.Busy:
		w.judge(property.Progress, contended || nothing, i, "%s found administration busy (%s) though nobody else was administering", w.h.Who(e.Process), w.h.Moment(i))
	}
}

// contended reports whether another client had a conflicting operation under way during the completed call.
func (w *Judge) contended(e *history.Event, s *seen) bool {
	c := w.contendersOf(e)
	if c == nil {
		return s.contenders
	}
	if e.Type != history.Info {
		c.under--
	}
	return s.contenders || c.last > s.invoked
}

// released handles the call of a release: it ends its client's belief, or that of another client if locks may be
// released by others. If nobody believes then, it may end a belief that begins later.
func (w *Judge) released(e *history.Event, s *seen) {
	s.released = s.believing
	if s.believing || w.options.Releases == linear.ByHolder {
		w.uncertain(e.Process, s)
		return
	}
	w.callsStray(e)
}

// kept handles a failed release after which the client still believes that it holds the slot. If it is told that its
// connection was lost, its hold may be over.
func (w *Judge) kept(i int, e *history.Event, s *seen) {
	if e.Reason.CutOff() && !w.witnessed {
		return
	}
	others := w.believing(s.at, i)
	if limit := w.limit(s.at.lock, s.at); len(others) < limit {
		w.judge(property.MutualExclusion, true, i, "")
	} else {
		what, process := w.h.SlotName(s.at.slot), e.Process
		w.besideOthers(doubt{rivals: rivals{waiting: others}, event: i, lock: w.lock, limit: limit, why: func(others []int32) string {
			return fmt.Sprintf("%s still holds %s, since its release failed (%s), and %s was told that it holds it", w.h.Who(process), what, w.h.Moment(i), w.h.Who(first(others)))
		}})
	}
	w.believe(i, e.Process, s, s.at)
}

// acquired handles an acquire that succeeded.
func (w *Judge) acquired(i int, e *history.Event, s *seen) {
	at := place{e.Lock, e.Slot}
	if s.ended { // it may be over already
		w.exclude(i, e, s, at, s.invoked)
		return
	}
	if w.exclude(i, e, s, at, i) {
		return
	}
	w.within(i, e, s)
	w.believe(i, e.Process, s, at)
}

// content is what the history allows of a lock's state: see contents.
func (w *Judge) content(l uint16) *contents {
	if w.contents[l] == nil {
		w.contents[l] = &contents{holders: make(map[int32]bool)}
		if int(l) < len(w.h.Slots) {
			w.contents[l].fewest = w.h.Slots[l]
		}
	}
	return w.contents[l]
}

// fence has the largest fencing token of a lock.
func (w *Judge) fence(l uint16) *Fence {
	if w.fences[l] == nil {
		w.fences[l] = new(Fence)
	}
	return w.fences[l]
}

// grantFenced judges the token of a grant.
func (w *Judge) grantFenced(i int, e *history.Event, s *seen) {
	before := s.fenced
	if e.Token == 0 || !w.fence(e.Lock).Grant(before, e.Process, e.Token) {
		return
	}
	w.judge(property.FencingMonotone, e.Token > before.Token, i, "%s was granted %s with token %d (%s), but %s had been granted one with token %d before it asked",
		w.h.Who(e.Process), w.h.SlotName(e.Slot), e.Token, w.h.Moment(i), w.h.Who(before.Who), before.Token)
	if w.slots != nil && e.Slot != history.AnySlot {
		w.fencedInOrder(i, e, s)
	}
}

// fencedInOrder compares the token of a grant with the token of the previous grant of the same slot to another client:
// the later one must be larger. The two grants must have come in this order. Otherwise this client would have had the
// slot first and would still have it, so that two clients would hold the slot at once.
func (w *Judge) fencedInOrder(i int, e *history.Event, s *seen) {
	at, life := place{e.Lock, e.Slot}, w.fence(e.Lock).Now().life
	if last := w.lastFenced[at]; last.Token > 0 && last.life == life && last.Who != e.Process && !s.ended {
		w.judge(property.FencingMonotone, e.Token > last.Token, i, "%s was granted %s with token %d (%s), but %s had been granted it with token %d before",
			w.h.Who(e.Process), w.h.SlotName(e.Slot), e.Token, w.h.Moment(i), w.h.Who(last.Who), last.Token)
	}
	w.lastFenced[at] = Fenced{Token: e.Token, Who: e.Process, life: life}
}

// verified handles the completion of a verify.
func (w *Judge) verified(i int, e *history.Event, s *seen) {
	held := e.Type == history.OK && e.Held
	at := place{e.Lock, e.Slot}
	if w.h.Kind != lock.Semaphore && s.at.slot != history.AnySlot { // the verify's answer may leave the slot out
		at.slot = s.at.slot
	}
	if e.Type == history.OK && s.since {
		w.stale(i, e, s, at)
	}
	w.answered(e.Process, s.at, held && s.believing)
	if !held {
		w.uncertain(e.Process, s)
	}
	w.ask(e.Process, s, false)
}

// answered handles the end of a process's verify of a slot (at). If held is true, the process has believed throughout
// that it holds the slot. Grants of the slot to other clients during the verify are then judged again.
func (w *Judge) answered(p int32, at place, held bool) {
	all := w.open[at]
	delete(w.open, at) // a stray that ends a belief leads here again
	for i := range all {
		g := &all[i]
		k := slices.Index(g.asking, p)
		if k < 0 {
			continue
		}
		g.asking = slices.Delete(g.asking, k, k+1)
		if !held || !w.session(p, at.lock).believing {
			continue
		}
		g.sure = append(g.sure, p)
		if w.strayEndsHolds(at, g) {
			g.asking = nil
			continue
		}
		w.exclusive(g, at)
	}
	if all = slices.DeleteFunc(all, func(g grant) bool { return len(g.asking) == 0 }); len(all) > 0 {
		w.open[at] = all
	}
}

// stale judges a verify that was called after the client's connection or lease had ended.
func (w *Judge) stale(i int, e *history.Event, s *seen, at place) {
	if !w.h.GoneMayFree {
		over := "connection was gone"
		if s.lapsed {
			over = "lease had ended"
		}
		w.judge(property.StaleBeliefEnds, !e.Held, i, "%s was told that it holds %s (%s), but its %s before it asked", w.h.Who(e.Process), w.h.SlotName(e.Slot), w.h.Moment(i), over)
		return
	}
	rivals := w.believing(at, s.invoked)
	ok := !e.Held || len(rivals) < w.limit(e.Lock, at) || w.counted(at)
	over := "connection had been gone"
	if s.lapsed {
		over = "lease had ended"
	}
	w.judge(property.StaleBeliefEnds, ok, i, "%s was told that it holds %s (%s), but its %s, and %s held it all the while", w.h.Who(e.Process), w.h.SlotName(e.Slot), w.h.Moment(i), over, w.h.Who(first(rivals)))
	if e.Held && !s.ended && (!s.lapsed || e.F.Op() == lock.Refresh) { // a verify does not extend a lease
		w.exclude(i, e, s, at, i)
		w.within(i, e, s)
		w.believe(i, e.Process, s, at)
	}
}

// exclude looks for other clients that have believed in the granted slot since before an event. over says that the
// granted hold may itself be over by then.
func (w *Judge) exclude(i int, e *history.Event, s *seen, at place, before int) (over bool) {
	g := grant{rivals: rivals{waiting: w.believing(at, before)}, event: i, asked: s.invoked, process: e.Process, slot: e.Slot}
	if w.slots == nil && !w.permits(at) { // two holds of one client are no two clients
		g.waiting = slices.DeleteFunc(g.waiting, func(p int32) bool { return p == e.Process })
	}
	if w.strayEndsHolds(at, &g) {
		w.judge(property.MutualExclusion, true, i, "")
		return true
	}
	for _, b := range w.believers[at] {
		if b.since < before && b.asking && b.process != e.Process {
			g.asking = append(g.asking, b.process)
		}
	}
	if w.exclusive(&g, at) && len(g.asking) > 0 {
		w.open[at] = append(w.open[at], g)
		w.awaits(g.waiting)
	}
	return false
}

// permits reports whether a slot is any of a semaphore's permits without numbers.
func (w *Judge) permits(at place) bool {
	return w.h.Kind == lock.Semaphore && at.slot == history.AnySlot
}

// counted reports whether a lock's holders are only counted. This is so for semaphores whose slots have no numbers, if
// the number of slots is judged as well.
func (w *Judge) counted(at place) bool {
	return w.slots != nil && w.permits(at)
}

// exclusive judges mutual-exclusion for a grant, and reports whether it is respected: fewer other clients than the
// limit certainly believed at that time that they hold the slot.
func (w *Judge) exclusive(g *grant, at place) bool {
	limit := w.limit(at.lock, at)
	if w.counted(at) || g.number() < limit {
		w.judge(property.MutualExclusion, true, g.event, "")
		return true
	}
	told, others := *g, rivals{sure: slices.Clone(g.sure), waiting: slices.Clone(g.waiting)}
	w.besideOthers(doubt{rivals: others, event: g.event, lock: int(at.lock), limit: limit, why: func(others []int32) string {
		return w.beside(&told, others, at)
	}})
	return false
}

// beside says that a client was granted what others hold.
func (w *Judge) beside(g *grant, others []int32, at place) string {
	who, what, when := w.h.Who(g.process), w.h.SlotName(g.slot), w.h.Moment(g.event)
	switch {
	case w.permits(at):
		all := "the only one is"
		if limit := w.limit(at.lock, at); limit > 1 {
			all = fmt.Sprintf("all %d are", limit)
		}
		slices.Sort(others)
		var names []string
		for _, p := range slices.Compact(others) {
			names = append(names, w.h.Who(p))
		}
		if n := len(names) - 1; n > 0 {
			names = []string{strings.Join(names[:n], ", "), names[n]}
		}
		return fmt.Sprintf("%s was told that it holds a permit (%s), but %s held, by %s", who, when, all, strings.Join(names, " and "))
	case first(others) == g.process:
		return fmt.Sprintf("%s was told that it holds %s (%s), which it holds already", who, what, when)
	}
	return fmt.Sprintf("%s was told that it holds %s (%s), and %s holds it", who, what, when, w.h.Who(first(others)))
}

// believing returns the processes that certainly believe they hold a slot (at). Their beliefs must have begun before
// the event with the index before.
func (w *Judge) believing(at place, before int) (all []int32) {
	for _, b := range w.believers[at] {
		if b.since < before && !b.asking {
			all = append(all, b.process)
		}
	}
	return all
}

// first is the first of some processes, or 0 without any.
func first(processes []int32) (p int32) {
	if len(processes) > 0 {
		p = processes[0]
	}
	return p
}

// limit is the number of clients that may hold a slot at once or, in a history without slot numbers, the lock.
func (w *Judge) limit(l uint16, at place) int {
	switch {
	case w.h.Kind != lock.Semaphore || at.slot != history.AnySlot:
		return 1
	case w.options.Permits > 0:
		return w.options.Permits
	}
	return w.h.Slots[l]
}
