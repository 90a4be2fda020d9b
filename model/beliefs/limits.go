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

// Limits judges limit-respected from the history alone. An acquire with a limit must not succeed if
//
//   - at every moment of the call at least that many other clients certainly held the lock; or
//   - the client holds the lock together with others, and each of them that may have been granted it last had stated a
//     limit that is too small for all of them. A client may have been last if its call had not ended when the last of
//     their acquires was invoked.
//
// A hold is certain from the successful acquire until its client calls release or another acquire, dies, loses its
// connection or lease, or slots are removed. It is not certain during a verify, or after the answer no. After the
// answer yes it is certain again, and was so when the client asked.
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

// limits reads a history event by event and keeps each client's certain hold.
type limits struct {
	h *history.History
	// anyone says that any client may release a lock, not only its holder.
	anyone bool
	// stated says that an acquire has stated a limit. Until then, only removals of slots are recorded.
	stated   bool
	users    map[user]*usage
	removals map[uint16]int // by lock number: removals under way, including those that never return
}

// user identifies one client's use of one lock. The client may be several processes, one for each session.
type user struct {
	who  int32
	lock uint16
}

// usage is what the history says of one client's use of a lock.
type usage struct {
	believes bool // the client's last answer said held, and nothing has ended the hold since
	certain  bool // the client certainly holds the lock
	until    int  // during a verify of a certain hold: index of the verify's invocation; otherwise 0
	// Of the last acquire:
	limit       int // the stated limit; 0 is no limit
	asked, told int // indexes of the last acquire's invocation and answer
	// Of the operation under way:
	calling lock.Op
	fewest  int  // the lowest number of other certain holders so far
	ended   bool // the client's connection has ended during the operation
	shrunk  bool // slots have been removed during the operation, or may have been
}

// event handles the event with index i. judged says that the event is a successful acquire with a limit. why describes
// the violation that the event reveals; "" if there is none.
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

// world handles an event of the environment, such as a crash. It deletes the state of clients that will do nothing
// more.
func (j *limits) world(e *history.Event) {
	all := e.F == history.Restart
	if !all && e.F != history.Crash && e.F != history.Gone && e.F != history.Lapse && e.F != history.Lost {
		return
	}
	for u, s := range j.users {
		if !all && u.who != j.client(e.Target) {
			continue
		}
		s.believes, s.ended, s.until = false, true, 0
		j.uncertain(u)
		if s.calling == lock.NoOp || e.F == history.Crash {
			delete(j.users, u)
		}
	}
}

// client is the client to which a process belongs. If this is unknown, it is the process itself.
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

// holders are the clients that certainly hold a lock, in the order of their numbers.
func (j *limits) holders(l uint16) (all []user) {
	for u, s := range j.users {
		if u.lock == l && s.certain {
			all = append(all, u)
		}
	}
	slices.SortFunc(all, func(a, b user) int { return int(a.who) - int(b.who) })
	return all
}

// uncertain records that a client's hold is no longer certain.
func (j *limits) uncertain(u user) {
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

// uncertainAll records that no hold of the lock is certain any more, nor will be by an operation that is under way.
func (j *limits) uncertainAll(l uint16) {
	for u, s := range j.users {
		if u.lock == l {
			j.uncertain(u)
			s.shrunk, s.until = true, 0
		}
	}
}

// removesSlots reports whether an operation removes slots.
func removesSlots(op lock.Op) bool { return op == lock.Remove || op == lock.Destroy }

func (j *limits) invoked(i int, e *history.Event) {
	u, s := j.user(e)
	op := e.F.Op()
	s.calling, s.ended, s.shrunk, s.until = op, false, j.removals[e.Lock] > 0, 0
	switch {
	case op == lock.Acquire:
		s.believes = false
		j.uncertain(u)
		s.limit, s.asked, s.fewest = int(e.Slots), i, len(j.holders(e.Lock))
	case op == lock.Release && j.anyone:
		s.believes = false
		j.uncertainAll(e.Lock)
	case op == lock.Release:
		s.believes = false
		j.uncertain(u)
	case op.AsksHeld():
		if s.certain {
			s.until = i
		}
		j.uncertain(u)
	case removesSlots(op):
		j.removals[e.Lock]++
		j.uncertainAll(e.Lock)
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
		j.uncertainAll(e.Lock)
	case op == lock.Acquire && held:
		if judged = s.limit > 0; judged && s.fewest >= s.limit {
			why = j.beyond(i, e, s)
		}
		s.believes, s.told = !s.ended, i
	case op.AsksHeld() && !held:
		s.believes = false
	}
	if held {
		s.certain = s.believes && !s.shrunk
		if why == "" && s.certain {
			why = j.together(i, u)
		}
	}
	return why, judged
}

// beyond describes a violation: an acquire succeeded although too many other clients held the lock all the time.
func (j *limits) beyond(i int, e *history.Event, s *usage) string {
	var names []string
	for _, u := range j.holders(e.Lock) {
		names = append(names, fmt.Sprintf("c%d", u.who))
	}
	return fmt.Sprintf("%s stated a limit of %d and was granted %s (%s), but others held the lock all the while, never fewer than %d: when it was told, %s",
		j.h.Who(e.Process), s.limit, property.ForKind(j.h.Kind, "a slot", "the lock"), j.h.Moment(i), s.fewest, strings.Join(names, ", "))
}

// together describes a violation: several clients, one of them who, hold the lock together, and each of those that may
// have come last had stated a limit that is too small. The clients hold the lock at event i, or held it when one of
// them invoked a verify. "" is no violation.
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

// crowd looks, among the clients that held lock l at the event with index at, for several that together violate their
// limits. A client that may have been granted the lock last is ignored if its limit allows all these clients; the
// others are then examined without it. all are the clients that remain, and last those of them that may have been
// granted the lock last. If there is no violation, both are nil.
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
