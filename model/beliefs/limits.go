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

// limits reads a history and records the certain holds.
type limits struct {
	h *history.History
	// anyone says that clients other than the holder may release a lock.
	anyone bool
	// stated says that some acquire has stated a limit. Before that, only removals matter.
	stated   bool
	users    map[user]*usage
	removals map[uint16]int // by lock: number of removals under way, including those that never return
}

// user is a client of a lock: all processes of one client.
type user struct {
	who  int32
	lock uint16
}

// usage is the knowledge of one client's use of a lock.
type usage struct {
	believes bool // it was told that it holds the lock, and nothing has ended that
	certain  bool // it certainly holds the lock
	until    int  // it certainly held the lock until this event, at which it began to ask; 0 is unknown
	// The last acquire:
	limit       int // limit that it stated; 0 is none
	asked, told int // indexes of its events
	// The current call:
	calling lock.Op
	fewest  int  // lowest number of other holders at any moment of the call
	ended   bool // its connection ended during the call
	shrunk  bool // slots were removed during the call, or may have been
}

// event handles an event. judged: the event is a successful acquire with a limit. why describes the violation that
// shows at that event; "" is none.
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

// world handles an occurrence. It drops the state of clients that are done.
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

// client is the client of a process, if known; else the process.
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

// uncertain makes a client's hold uncertain.
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

// uncertainAll makes the holds of all clients of a lock uncertain, including those about to be reported.
func (j *limits) uncertainAll(l uint16) {
	for u, s := range j.users {
		if u.lock == l {
			j.uncertain(u)
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

// beyond describes the violation by a grant while too many other clients held the lock throughout.
func (j *limits) beyond(i int, e *history.Event, s *usage) string {
	var names []string
	for _, u := range j.holders(e.Lock) {
		names = append(names, fmt.Sprintf("c%d", u.who))
	}
	return fmt.Sprintf("%s stated a limit of %d and was granted %s (%s), but others held the lock all the while, never fewer than %d: when it was told, %s",
		j.h.Who(e.Process), s.limit, property.ForKind(j.h.Kind, "a slot", "the lock"), j.h.Moment(i), s.fewest, strings.Join(names, ", "))
}

// together describes the violation by the clients that hold a lock together with a new holder: now, or when others of
// them invoked a verify.
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

// crowd are holders of a lock at one moment of which each has a limit too small to have been granted the lock last,
// and those of them that may have been last. A holder that may have been last within its own limit says nothing about
// the others, and is left out.
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
