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

// Limits judges limit-respected by the history alone. An acquire that states a limit must not be told yes if
//
//   - at every moment of the call so many others certainly held the lock; or
//   - it holds the lock together with others, and whichever of them was granted it last had stated a limit that is smaller than
//     that makes. Who may have been last is whose call had not ended when the last of them was called.
//
// A holder is certain from the acquire that was told yes until it calls release or another acquire, dies, its connection or
// its lease ends, or slots are taken away; while it asks whether it holds the lock still, and after it was told no, it is not.
// One who was told yes is certain again, and was so when it asked.
func Limits(h *history.History) linear.Verdict {
	j, v := limits{h: h}, linear.Verdict{Property: property.LimitRespected, Decision: linear.Legal, Event: -1}
	for i := range h.Events {
		why, judged := j.event(i, &h.Events[i])
		if judged {
			v.Checked++
		}
		if why != "" && v.Decision == linear.Legal {
			v.Decision, v.Event, v.Why, v.Lock = linear.Illegal, i, why, int(h.Events[i].Lock)
		}
	}
	return v
}

// limits reads a history and notes who holds what for certain.
type limits struct {
	h *history.History
	// anyone says that locks may be released by others than their holders.
	anyone bool
	// stated says that an acquire has stated a limit. What is before the first is not looked at, but for removals.
	stated   bool
	users    map[user]*usage
	removals map[uint16]int // by lock: the calls that take slots away, those that never return among them
}

// user is a client of a lock: all processes that are one client's.
type user struct {
	who  int32
	lock uint16
}

// usage is what is known of a client of a lock.
type usage struct {
	believes bool // it was told that it holds the lock, and nothing says that this is over
	certain  bool // it does
	until    int  // it did, for certain, until the event by which it began to ask; 0 is not known
	// Of its last acquire:
	limit       int // that it stated; 0 is none
	asked, told int // the events
	// Of the call under way:
	calling lock.Op
	fewest  int  // at no moment of it fewer others held the lock
	ended   bool // its connection ended meanwhile
	shrunk  bool // slots were taken away meanwhile, or may have been
}

// event takes in an event. judged says that it was an acquire that had stated a limit and was told yes; why says what is wrong
// from that event on, "" where nothing is.
func (j *limits) event(i int, e *history.Event) (why string, judged bool) {
	j.stated = j.stated || e.F.Op() == lock.Acquire && e.Type == history.Invoke && e.Slots > 0
	switch {
	case !j.stated && !removesSlots(e.F.Op()):
	case e.Process == history.Nemesis:
		j.world(e)
	case e.Type == history.Invoke:
		j.invoked(i, e)
	default:
		return j.completed(i, e)
	}
	return "", false
}

// world takes in what happened to clients. Of those who use nothing any more nothing is kept.
func (j *limits) world(e *history.Event) {
	all := e.F == history.Restart
	if !all && e.F != history.Crash && e.F != history.Gone && e.F != history.Lapse {
		return
	}
	for u, s := range j.users {
		if !all && u.who != j.client(e.Target) {
			continue
		}
		s.believes, s.ended, s.until = false, true, 0
		j.doubt(u)
		if s.calling == lock.NoOp || e.F == history.Crash {
			delete(j.users, u)
		}
	}
}

// client is the client whose process that is, where it is known.
func (j *limits) client(process int32) int32 {
	if j.h.Clients > 0 && process > 0 {
		return int32(history.ClientOf(process, j.h.Clients))
	}
	return process
}

func (j *limits) user(e *history.Event) (user, *usage) {
	u := user{j.client(e.Process), e.Lock}
	if j.users == nil {
		j.users, j.removals = make(map[user]*usage), make(map[uint16]int)
	}
	if j.users[u] == nil {
		j.users[u] = new(usage)
	}
	return u, j.users[u]
}

// holders are those who hold a lock for certain, by their numbers.
func (j *limits) holders(l uint16) (all []user) {
	for u, s := range j.users {
		if u.lock == l && s.certain {
			all = append(all, u)
		}
	}
	slices.SortFunc(all, func(a, b user) int { return int(a.who) - int(b.who) })
	return all
}

// doubt has somebody hold a lock no longer for certain.
func (j *limits) doubt(u user) {
	if !j.users[u].certain {
		return
	}
	j.users[u].certain = false
	left := len(j.holders(u.lock))
	for o, s := range j.users {
		if o.lock == u.lock {
			s.fewest = min(s.fewest, left)
		}
	}
}

// doubtAll does so with all who hold it, or are told meanwhile that they do.
func (j *limits) doubtAll(l uint16) {
	for u, s := range j.users {
		if u.lock == l {
			j.doubt(u)
			s.shrunk, s.until = true, 0
		}
	}
}

// removesSlots reports whether an operation takes slots away.
func removesSlots(op lock.Op) bool { return op == lock.Remove || op == lock.Destroy }

func (j *limits) invoked(i int, e *history.Event) {
	u, s := j.user(e)
	op := e.F.Op()
	s.calling, s.ended, s.shrunk, s.until = op, false, j.removals[e.Lock] > 0, 0
	switch {
	case op == lock.Acquire:
		s.believes = false
		j.doubt(u)
		s.limit, s.asked, s.fewest = int(e.Slots), i, len(j.holders(e.Lock))
	case op == lock.Release && j.anyone:
		s.believes = false
		j.doubtAll(e.Lock)
	case op == lock.Release:
		s.believes = false
		j.doubt(u)
	case op.AsksHeld():
		if s.certain {
			s.until = i
		}
		j.doubt(u)
	case removesSlots(op):
		j.removals[e.Lock]++
		j.doubtAll(e.Lock)
	}
}

func (j *limits) completed(i int, e *history.Event) (why string, judged bool) {
	u, s := j.user(e)
	op, held := e.F.Op(), e.Type == history.OK && e.Held
	s.calling, s.until = lock.NoOp, 0
	switch {
	case removesSlots(op):
		if e.Type != history.Info {
			j.removals[e.Lock]--
		}
		j.doubtAll(e.Lock)
	case op == lock.Acquire && held:
		if judged = s.limit > 0; judged && s.fewest >= s.limit {
			why = j.beyond(i, e, s)
		}
		s.believes, s.told = !s.ended, i
	case op.AsksHeld() && !held:
		s.believes = false
	}
	if (op == lock.Acquire || op.AsksHeld()) && held {
		s.certain = s.believes && !s.shrunk
		if why == "" && s.certain {
			why = j.together(i, u)
		}
	}
	return why, judged
}

// beyond says what was wrong with a grant while others held the lock all along.
func (j *limits) beyond(i int, e *history.Event, s *usage) string {
	var names []string
	for _, u := range j.holders(e.Lock) {
		names = append(names, fmt.Sprintf("c%d", u.who))
	}
	return fmt.Sprintf("%s stated a limit of %d and was granted %s (%s), but others held the lock all the while, never fewer than %d: when it was told, %s",
		j.h.Who(e.Process), s.limit, property.ForKind(j.h.Kind, "a slot", "the lock"), j.h.Moment(i), s.fewest, strings.Join(names, ", "))
}

// together says what is wrong with those who hold a lock at once with a client that was just told that it does: now, or when
// others of them began to ask.
func (j *limits) together(i int, who user) string {
	moments := []int{i}
	for u, s := range j.users {
		if u.lock == who.lock && s.until > j.users[who].told {
			moments = append(moments, s.until)
		}
	}
	slices.Sort(moments)
	for _, at := range moments {
		if all, last := j.crowd(who.lock, at); len(all) > 0 {
			var names []string
			for _, u := range last {
				names = append(names, fmt.Sprintf("c%d, which stated a limit of %d", u.who, j.users[u].limit))
			}
			return fmt.Sprintf("%d clients hold the lock (%s), and who was granted it last is %s", len(all), j.h.Moment(at), strings.Join(names, ", or "))
		}
	}
	return ""
}

// crowd are some of those who held a lock at a moment, of whom none may have been granted it last by what it stated, and who
// may have been that. Who may have been last rightly says nothing of the others, and is left out.
func (j *limits) crowd(l uint16, at int) (all, last []user) {
	for u, s := range j.users {
		if u.lock == l && (s.certain || s.until >= at) && s.told <= at {
			all = append(all, u)
		}
	}
	slices.SortFunc(all, func(a, b user) int { return int(a.who) - int(b.who) })
	for len(all) > 1 {
		asked := 0
		for _, u := range all {
			asked = max(asked, j.users[u].asked)
		}
		last = slices.DeleteFunc(slices.Clone(all), func(u user) bool { return j.users[u].told < asked })
		rightly := func(u user) bool { return j.users[u].limit == 0 || j.users[u].limit >= len(all) }
		i := slices.IndexFunc(last, rightly)
		if i < 0 {
			return all, last
		}
		all = slices.DeleteFunc(all, func(u user) bool { return u == last[i] })
	}
	return nil, nil
}
