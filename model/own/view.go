package own

import (
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
)

// View is an execution after one of its steps: the server's state, and the clients' beliefs. It is valid until the
// function that receives it returns.
type View struct {
	Locks   []Lock
	Clients []Client // c1 is the first
	watch   *Watch
}

// Lock is what the server has of a lock.
type Lock struct {
	Name    string
	Slots   []int    // that exist
	Holders []Holder // of slots that are taken
	Admin   int      // the client that has the administration mutex; 0 is none
}

// Holder is a slot that is taken.
type Holder struct {
	Slot, Client int  // client 0: the slot's queue has no owner
	HalfOpen     bool // its connection is dead, and the server has not noticed
}

// Client is a client of the execution.
type Client struct {
	Lock      int    // which of Locks it called last, from 0
	Operation string // that is under way, such as "acquire"; "" is none
	Believes  int    // the slot that it believes to hold; 0 is none
	Alive     bool   // it has not crashed
	Connected bool   // the server has the connection under which it was granted what it believes to hold, if anything
}

// Event is the call of an operation, its end, or something that befell a client or the server.
type Event struct {
	Type      string // "invoke", or "ok", "fail" or "info" at its end
	Operation string // such as "acquire"; or, with "info", "crash", "gone", "pause" or "restart"
	Client    int    // 0 is none
	Lock      int    // which of Locks, from 0
	Slot      int    // that is acquired, verified, released or waited for
	Slots     int    // that count returned, or that are to be created, added or removed
	Held      bool   // of acquire and verify that end ok: the slot is held
	Reason    string // why it did not end as it was to, such as "full"
}

// Exchange is a command of a client and its reply.
type Exchange struct {
	Client  int    // 0 where the step sent none
	Command string // in the server's words, such as "declare jobs-1-B exclusive"
	Reply   string // likewise, such as "ok"
	// What describes the command for any server: its effect on which slot, and its result.
	What backend.Exchange
}

// Events is the history so far. A state of an exploration has none: see [Property.Asked].
func (v View) Events() (all []Event) {
	if v.watch.Past == nil {
		v.watch.asked = true
		return nil
	}
	for _, e := range v.watch.Past.Events() {
		out := Event{
			Type: e.Type.String(), Operation: e.F.String(), Reason: e.Reason.String(), Lock: int(e.Lock),
			Slot: int(e.Slot), Slots: int(e.Slots), Held: e.Held,
		}
		process := e.Process
		if process == history.Nemesis {
			process = e.Target
		}
		if process > 0 {
			out.Client = int(process-1)%len(v.Clients) + 1
		}
		all = append(all, out)
	}
	return all
}

// Last is the exchange of the step. A state of an exploration has none: see [Property.Asked].
func (v View) Last() Exchange {
	if v.watch.Past == nil {
		v.watch.asked = true
		return Exchange{}
	}
	return v.watch.Past.Last()
}

// Past is what has happened in an execution.
type Past interface {
	Events() []history.Event
	Last() Exchange
}

// Watch judges one execution after the other by a list of properties. It is not safe for concurrent use.
type Watch struct {
	List List
	// Past is that of the execution; nil where a state is all there is.
	Past Past

	asked bool // for the past, where there is none
}

// Step judges a moment: it returns the asked properties that are violated, or seen. told, which may be nil, gets the
// details.
func (w *Watch) Step(m *monitor.Monitor, clients int, locks []string, asked property.Set, told func(property.Property, string)) (seen property.Set) {
	v := View{watch: w}
	for l, name := range locks {
		t := m.Truth(uint8(l))
		v.Locks = append(v.Locks, lockOf(name, &t))
	}
	for c := range clients {
		v.Clients = append(v.Clients, clientOf(m.Client(uint8(c+1))))
	}
	for i, p := range w.List {
		if !asked.Has(ID(i)) {
			continue
		}
		if yes, detail := p.look(v); yes {
			seen = seen.With(ID(i))
			if told != nil {
				told(ID(i), detail)
			}
		}
	}
	return seen
}

// Judge judges the moment after a step by the judged properties, which the monitor then counts as its own. told, if
// it is not nil, is called with each new violation.
func (w *Watch) Judge(m *monitor.Monitor, clients int, locks []string, judged property.Set, told func(property.Violation)) {
	m.Exercised |= judged
	if m.Checks != nil {
		for p := range judged.All() {
			m.Checks[p]++
		}
	}
	m.Found |= w.Step(m, clients, locks, judged&^m.Found, func(p property.Property, detail string) {
		if told != nil && !w.List.Of(p).Sometimes {
			told(property.Violation{Property: p, Own: w.List.Name(p), Detail: detail})
		}
	})
}

func lockOf(name string, t *monitor.Truth) Lock {
	out := Lock{Name: name, Admin: int(t.Admin &^ monitor.HalfOpen)}
	for s := 1; s <= monitor.Slots; s++ {
		if t.Exists>>s&1 == 1 {
			out.Slots = append(out.Slots, s)
		}
		if owner := t.Owner[s]; t.Taken>>s&1 == 1 {
			out.Holders = append(out.Holders, Holder{s, int(owner &^ monitor.HalfOpen), owner&monitor.HalfOpen != 0})
		}
	}
	return out
}

func clientOf(c monitor.Client) Client {
	out := Client{Lock: int(c.Lock), Believes: int(c.Believes), Alive: c.Alive, Connected: c.Connected}
	if c.Op != lock.NoOp {
		out.Operation = c.Op.String()
	}
	return out
}
