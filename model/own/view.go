package own

import (
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
)

// View is an execution after one of its steps: the server's state, and what the clients believe. A function that gets a
// View must not keep it.
type View struct {
	Locks   []Lock
	Clients []Client // by number: Clients[0] is client 1
	watch   *Watch
}

// Lock is the server's state of a lock.
type Lock struct {
	Name    string
	Slots   []int    // numbers of the existing slots
	Holders []Holder // holders of the slots that are taken
	Admin   int      // number of the client that has the administration mutex; 0 is none
}

// Holder is a slot that is taken, with the client that holds it.
type Holder struct {
	Slot, Client int  // Client is 0 if the slot's queue has no owner
	HalfOpen     bool // the holder's connection is dead, and the server has not noticed
}

// Client is what is known of one client of the execution.
type Client struct {
	Lock      int    // index in View.Locks of the lock that the client used last
	Operation string // the operation under way, such as "acquire"; "" is none
	Believes  int    // the slot that the client believes it holds; 0 is none
	Alive     bool   // the client has not crashed
	Connected bool   // the server has the connection on which the believed slot was granted; true without a belief
}

// Event is the invocation or completion of an operation, or a fault such as a crash.
type Event struct {
	Type      string // "invoke", "ok", "fail" or "info", as in Jepsen
	Operation string // the operation, such as "acquire"; or, with type "info", "crash", "gone", "pause" or "restart"
	Client    int    // number of the client; 0 for all
	Lock      int    // index in View.Locks
	Slot      int    // the slot acquired, verified, released or waited for
	Slots     int    // number of slots that count returned, or that are to be created, added or removed
	Held      bool   // the slot is held, for acquire and verify with type "ok"
	Reason    string // the reason of a failure, such as "full"
}

// Exchange is a command that a client has sent, with its reply.
type Exchange struct {
	Client  int    // number of the client; 0 if the step sent no command
	Command string // the command in words, such as "declare jobs-1-B exclusive"
	Reply   string // the reply in words, such as "ok"
	// What describes the command in terms that all backends share: its effect, its slot and its result.
	What backend.Exchange
}

// Events is the history so far. In a search it is empty, and the property is not judged: see [Property.Asked].
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

// Last is the exchange of the step. In a search it is empty, and the property is not judged: see [Property.Asked].
func (v View) Last() Exchange {
	if v.watch.Past == nil {
		v.watch.asked = true
		return Exchange{}
	}
	return v.watch.Past.Last()
}

// Past is the history and the last exchange of an execution.
type Past interface {
	Events() []history.Event
	Last() Exchange
}

// Watch evaluates a list of properties on executions, one after the other. It is not safe for concurrent use.
type Watch struct {
	List List
	// Past is the execution's past; nil in a search.
	Past Past

	asked bool // a function has asked for the past although it is nil
}

// Step evaluates the properties in asked after a step. It returns those that are violated or, if they are Sometimes,
// shown. told, unless nil, gets their details.
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

// Judge evaluates the properties in judged after a step, and records the results in the monitor. told, unless nil, gets
// each new violation.
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
