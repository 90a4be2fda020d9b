package shares

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// Taken reports whether clients take shares in a history. Otherwise package linear judges it.
func Taken(h *history.History) bool {
	return slices.ContainsFunc(h.Events, func(e history.Event) bool { return Takes(&e) })
}

// Takes reports whether an event has a share: read mode, or several permits.
func Takes(e *history.Event) bool { return e.Shared || e.Permits > 1 }

// Readings are the rules by which a history with shares is judged, as lines for a report.
func Readings(h *history.History) []string {
	how := "many may hold the lock to read, and nobody while somebody writes"
	if h.Kind == lock.Semaphore {
		how = "an acquire takes all the permits that it asks for, or none; a release that does not say how many gives back those of its client's last acquire"
	}
	return []string{how, "grants are judged together, refusals one by one"}
}

// Check judges a history for linearizability and mutual-exclusion. An error means that the history cannot be judged.
func Check(h *history.History, o linear.Options) ([]linear.Verdict, error) {
	if err := linear.Validate(h); err != nil {
		return nil, err
	}
	if err := judgeable(h, o); err != nil {
		return nil, err
	}
	endings, losses := endingsOf(h), lossesOf(h)
	exclusion := newJudge(h, o, endings, o.FailedRelease == linear.EndsBelief)
	exclusion.verdict.Property, exclusion.beliefs = property.MutualExclusion, true
	order := newJudge(h, o, endings, false)
	order.verdict.Property = property.Linearizable
	for _, j := range []*judge{order, exclusion} {
		for i := range h.Events {
			j.event(i, &h.Events[i])
			if lost := losses[i]; len(lost) > 0 {
				j.loses(func(process int32) bool { return slices.Contains(lost, process) })
			}
		}
	}
	return []linear.Verdict{order.verdict, exclusion.verdict}, nil
}

// judgeable returns an error if a history with shares has an event that cannot be judged.
func judgeable(h *history.History, o linear.Options) error {
	if o.Releases == linear.ByAnyone {
		return errors.New("--release-by-others allow: whose share a release by anyone gives back is not known; expected reject")
	}
	for i := range h.Events {
		e := &h.Events[i]
		where := h.Moment(i)
		switch op := e.F.Op(); {
		case e.Process == history.Nemesis:
		case e.Shared && h.Kind != lock.Mutex:
			return fmt.Errorf("%s: found a lock to read, expected one only of a mutex (--lock-type mutex)", where)
		case e.Permits > 1 && h.Kind != lock.Semaphore:
			return fmt.Errorf("%s: found %d permits, expected more than one only of a semaphore (--lock-type semaphore --permits N)", where, e.Permits)
		case op != lock.Acquire && op != lock.Release:
			return fmt.Errorf("%s: found %s, expected acquires and releases only, as clients take shares of the lock", where, op)
		}
	}
	return nil
}

// everything is the size of the share of a client that holds a mutex in write mode.
const everything = 1 << 40

// place identifies one process's use of one lock.
type place struct {
	process int32
	lock    uint16
}

// share is one process's share of one lock. Its size is a number of permits; a mutex in read mode is 1.
type share struct {
	certain  int   // size of the share that the process certainly holds
	possible int   // largest size of the share that the process may hold
	granted  int   // size that the process was granted and has not said to have given back
	reads    int   // largest number of holds in read mode
	last     int   // size that the process's last granted acquire took
	maybe    []int // sizes of acquires without an answer since then
	unsure   []int // sizes of acquires without an answer that cannot have been granted so far
	mayHave  int   // sizes of the other acquires without an answer
	asked    int   // size that the operation under way takes or returns; of a release the least
	freest   int   // amount that was certainly free at every moment so far of the acquire under way
	capacity int   // size of the lock, or the caller's limit if that is smaller
	lost     bool  // the share may have been lost since the operation under way began
	ever     bool  // the share may have been lost at some time
	since    int   // index of the event of the last grant
	reading  bool
}

type judge struct {
	h       *history.History
	o       linear.Options
	endings []history.EventType // by index of an invocation: the type of its completion; Invoke if there is none
	ends    bool                // a failed release ends its client's belief
	beliefs bool                // only mutual-exclusion is judged, by what clients believe
	shares  map[place]*share
	open    map[place]bool // uses with an acquire under way
	verdict linear.Verdict
}

func newJudge(h *history.History, o linear.Options, endings []history.EventType, ends bool) *judge {
	j := &judge{h: h, o: o, endings: endings, ends: ends, shares: make(map[place]*share), open: make(map[place]bool)}
	j.verdict.Decision, j.verdict.Event = linear.Legal, -1
	return j
}

// endingsOf are the types of completions, by the index of the invocation; Invoke if there is none.
func endingsOf(h *history.History) []history.EventType {
	endings, called := make([]history.EventType, len(h.Events)), make(map[int32]int)
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case e.Process == history.Nemesis:
		case e.Type == history.Invoke:
			called[e.Process] = i
		default:
			endings[called[e.Process]] = e.Type
			if e.F.Op() == lock.Acquire && e.Type == history.OK && !e.Held {
				endings[called[e.Process]] = history.Fail
			}
		}
	}
	return endings
}

// lossesOf are the processes that may have lost their shares, by the event since which they may: if the history does
// not record the ends of connections, it is the last answer before a lost connection or a crash.
func lossesOf(h *history.History) map[int][]int32 {
	losses, heard := make(map[int][]int32), make(map[int32]int)
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case e.Process != history.Nemesis && e.Reason.CutOff(), e.F == history.Crash:
			process := e.Process
			if e.F == history.Crash {
				process = e.Target
			}
			if last, ok := heard[process]; ok {
				losses[last] = append(losses[last], process)
			}
		case e.Process != history.Nemesis:
			if (e.Type == history.OK || e.Type == history.Fail) && !e.Reason.Unheard() {
				heard[e.Process] = i
			}
		case e.F == history.Gone || e.F == history.Lapse || e.F == history.Lost || e.F == history.Restart:
			return nil
		}
	}
	return losses
}

// of returns the share of one process and lock.
func (j *judge) of(at place) *share {
	if j.shares[at] == nil {
		j.shares[at] = new(share)
	}
	return j.shares[at]
}

// capacity is the size of a lock: its number of permits, or everything for a mutex.
func (j *judge) capacity(l uint16) int {
	switch {
	case j.h.Kind != lock.Semaphore:
		return everything
	case j.o.Permits > 0:
		return j.o.Permits
	}
	return j.h.Slots[l]
}

// size is the size of the share that an acquire asks for.
func (j *judge) size(e *history.Event) int {
	if j.h.Kind == lock.Mutex && !e.Shared {
		return everything
	}
	return max(1, int(e.Permits))
}

func (j *judge) event(i int, e *history.Event) {
	at := place{e.Process, e.Lock}
	switch op := e.F.Op(); {
	case e.Process == history.Nemesis:
		j.world(e)
	case op == lock.Acquire && e.Type == history.Invoke:
		j.asks(at, j.endings[i], j.size(e), e)
	case op == lock.Acquire:
		j.verdict.Checked++
		j.told(i, e, at)
	case e.Type == history.Invoke:
		j.gives(at, j.endings[i], e)
	default:
		j.verdict.Checked++
		j.gave(i, e, at)
	}
	if e.Reason.CutOff() {
		j.loses(func(process int32) bool { return process == e.Process })
	}
}

// world handles an event of the environment, such as a crash, by which shares may be lost.
func (j *judge) world(e *history.Event) {
	switch {
	case e.F == history.Restart:
		j.loses(func(int32) bool { return true })
	case e.F.Whose() && e.F != history.Pause:
		j.loses(func(process int32) bool { return process == e.Target })
	}
}

// loses records that no share of some processes is certain any more, although they may still have it.
func (j *judge) loses(some func(process int32) bool) {
	locks := make(map[uint16]bool)
	for at, s := range j.shares {
		if some(at.process) {
			s.certain, s.lost, s.ever = 0, true, true
			locks[at.lock] = true
		}
	}
	for l := range locks {
		j.widen(l)
	}
}

// asks handles the invocation of an acquire. Unless it fails, the client may have the share from now on.
func (j *judge) asks(at place, ending history.EventType, size int, e *history.Event) {
	s := j.of(at)
	s.asked, s.lost, s.reading, s.freest = size, false, e.Shared, j.unheld(at.lock)
	if s.capacity = j.capacity(at.lock); e.Slots > 0 {
		s.capacity = min(s.capacity, int(e.Slots))
	}
	j.open[at] = true
	if ending == history.Fail {
		return
	}
	s.possible += size
	if e.Shared {
		s.reads++
	}
	j.narrow(at.lock)
	if ending != history.OK {
		s.maybe = append(s.maybe, size)
		s.unsure = append(s.unsure, size)
		j.widen(at.lock)
	}
}

// widen tells which acquires without an answer may have been granted, after a change of the amount that is certainly
// held.
func (j *judge) widen(l uint16) {
	free := j.capacity(l)
	for at, s := range j.shares {
		if at.lock == l {
			free -= s.certain
		}
	}
	for at, s := range j.shares {
		if at.lock != l || len(s.unsure) == 0 {
			continue
		}
		s.unsure = slices.DeleteFunc(s.unsure, func(size int) bool {
			if size > free {
				return false
			}
			s.mayHave += size
			return true
		})
	}
}

// unheld is the amount of a lock that certainly no client has.
func (j *judge) unheld(l uint16) int {
	free := j.capacity(l)
	for at, s := range j.shares {
		if at.lock == l {
			free -= s.possible
		}
	}
	return free
}

// narrow updates freest of all acquires under way, after the amount that is certainly free has changed.
func (j *judge) narrow(l uint16) {
	free := j.unheld(l)
	for at := range j.open {
		if at.lock == l {
			s := j.shares[at]
			s.freest = min(s.freest, free)
		}
	}
}

// told handles the answer to an acquire.
func (j *judge) told(i int, e *history.Event, at place) {
	s := j.of(at)
	delete(j.open, at)
	switch {
	case e.Type == history.OK && e.Held:
		s.last, s.maybe = s.asked, nil
		s.granted += s.asked
		if s.lost {
			return
		}
		j.granted(i, e, at)
		s.certain += s.asked
		s.since = i
	case (e.Type == history.OK || e.Type == history.Fail && e.Reason == lock.Full) && !j.beliefs:
		j.refused(i, e, s)
	}
}

// refused judges an acquire that failed because too little was free.
func (j *judge) refused(i int, e *history.Event, s *share) {
	free := s.freest - (j.capacity(e.Lock) - s.capacity)
	switch {
	case free < s.asked:
	case j.h.Kind == lock.Semaphore:
		j.breaks(i, e, "%s was refused %s at %s, with %d of %d free all the while", j.h.Who(e.Process), permits(s.asked), j.h.Moment(i), free, s.capacity)
	case s.reading:
		j.breaks(i, e, "%s was refused the lock to read at %s, but nobody had it to write all the while", j.h.Who(e.Process), j.h.Moment(i))
	default:
		j.breaks(i, e, "%s was refused the lock to write at %s, but nobody had it all the while", j.h.Who(e.Process), j.h.Moment(i))
	}
}

// granted judges a granted acquire: with what others certainly hold, it must not exceed the lock's size.
func (j *judge) granted(i int, e *history.Event, at place) {
	s, held := j.of(at), 0
	other, found := at, false
	for of, o := range j.shares {
		if of.lock != at.lock || o.certain == 0 {
			continue
		}
		held += o.certain
		if of != at && (!found || of.process < other.process) {
			other, found = of, true
		}
	}
	if held+s.asked <= s.capacity || j.beliefs && j.h.Kind == lock.Mutex && !found { // two holds of one client are no two clients
		return
	}
	if j.h.Kind == lock.Semaphore {
		j.breaks(i, e, "%s was granted %s at %s, and %d of %d were held", j.h.Who(e.Process), permits(s.asked), j.h.Moment(i), held, s.capacity)
		return
	}
	o, who := j.of(other), j.h.Who(other.process)
	if other == at {
		who = "it"
	}
	j.breaks(i, e, "%s was granted the lock to %s at %s, but %s had it to %s: it was granted at %s and not given back", j.h.Who(e.Process), use(s.reading),
		j.h.Moment(i), who, use(o.certain < everything), j.h.Moment(o.since))
}

// gives handles the call of a release: it may have taken effect from here on, unless it failed. Without a number, its
// amount is that of the client's last acquire, which may be one without an answer.
func (j *judge) gives(at place, ending history.EventType, e *history.Event) {
	s := j.of(at)
	amounts := s.maybe
	switch {
	case j.h.Kind == lock.Mutex && e.Shared:
		amounts = []int{1}
	case e.Permits > 0:
		amounts = []int{int(e.Permits)}
	case s.last > 0 || len(amounts) == 0:
		amounts = append(slices.Clip(amounts), s.last)
	}
	s.asked, s.reading = slices.Min(amounts), e.Shared
	if ending != history.Fail || j.ends {
		s.certain = max(0, s.certain-slices.Max(amounts))
		j.widen(at.lock)
	}
}

// gave handles the answer to a release.
func (j *judge) gave(i int, e *history.Event, at place) {
	s := j.of(at)
	if e.Type != history.OK {
		return
	}
	if !j.beliefs {
		if why := j.notHad(s); why != "" {
			what := property.ForKind(j.h.Kind, permits(max(1, s.asked)), "the lock")
			j.breaks(i, e, "%s gave %s back at %s%s", j.h.Who(e.Process), what, j.h.Moment(i), why)
		}
	}
	s.possible, s.granted = max(0, s.possible-s.asked), max(0, s.granted-s.asked)
	if s.asked < everything {
		s.reads = max(0, s.reads-1)
	}
}

// notHad is the end of a sentence: why a client cannot have had what it gave back; "" if it may have.
func (j *judge) notHad(s *share) string {
	switch {
	case s.possible < max(1, s.asked):
		return ", which it did not have"
	case s.reading && s.reads == 0:
		return " as a reader, but it had it to write"
	case s.ever || s.granted >= s.asked:
		return ""
	}
	if s.granted+s.mayHave >= s.asked {
		return ""
	}
	return ", but its acquire without an answer cannot have been granted: " +
		property.ForKind(j.h.Kind, "too few permits were free all the while", "somebody had the lock all the while")
}

// breaks records a violation at event i, if it is the first one.
func (j *judge) breaks(i int, e *history.Event, format string, args ...any) {
	if j.verdict.Decision == linear.Legal {
		j.verdict.Decision, j.verdict.Event, j.verdict.Lock, j.verdict.Why = linear.Illegal, i, int(e.Lock), fmt.Sprintf(format, args...)
	}
}

func permits(n int) string { return property.Counted(n, "permit") }

// use is the name of the mode in which a mutex is held.
func use(reading bool) string {
	if reading {
		return "read"
	}
	return "write"
}
