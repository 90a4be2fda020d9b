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
	Clients []Client // client 1 comes first
	watch   *Watch
}

// Lock is the server's state of a lock.
type Lock struct {
	Name    string
	Slots   []int    // the slots that exist
	Holders []Holder // of the slots that are taken
	Admin   int      // the client that holds the administration mutex; 0 is none
}

// Holder is a slot that is taken, and its client.
type Holder struct {
	Slot, Client int  // client 0: the slot's queue has no owner
	HalfOpen     bool // the holder's connection is dead, and the server has not noticed
}

// Client is a client of the execution.
type Client struct {
	Lock      int    // index in Locks of the lock that it called last
	Operation string // the operation under way, such as "acquire"; "" is none
	Believes  int    // the slot that the client believes it holds; 0 is none
	Alive     bool   // the client has not crashed
	Connected bool   // the server has the connection under which it was granted what it believes it holds, if anything
}

// Event is the call of an operation, its completion, or an occurrence that concerns a client or the server.
type Event struct {
	Type      string // "invoke"; at its end "ok", "fail" or "info"
	Operation string // such as "acquire"; or, with "info", "crash", "gone", "pause" or "restart"
	Client    int    // 0 is none
	Lock      int    // index in Locks
	Slot      int    // acquired, verified, released or waited for
	Slots     int    // returned by count, or to be created, added or removed
	Held      bool   // acquire and verify with type ok: the slot is held
	Reason    string // why it failed, such as "full"
}

// Exchange is a client's command and its reply.
type Exchange struct {
	Client  int    // 0 if the step sent none
	Command string // in the server's words, such as "declare jobs-1-B exclusive"
	Reply   string // in the server's words, such as "ok"
	// What describes the command in general terms: its effect on which slot, and its result.
	What backend.Exchange
}

// Events is the history so far. In a search it is empty: see [Property.Asked].
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

// Last is the exchange of the step. In a search it is empty: see [Property.Asked].
func (v View) Last() Exchange {
	if v.watch.Past == nil {
		v.watch.asked = true
		return Exchange{}
	}
	return v.watch.Past.Last()
}

// Past is the past of an execution.
type Past interface {
	Events() []history.Event
	Last() Exchange
}

// Watch evaluates a list of properties on one execution after the other. It is not safe for concurrent use.
type Watch struct {
	List List
	// Past is the past of the execution; nil if there is only a state.
	Past Past

	asked bool // a function asked for the past without there being one
}

// Step evaluates the asked properties after a step, and returns those that are violated, or seen. told, which may be
// nil, gets the details.
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

// Judge evaluates the judged properties after a step, and adds the results to the monitor's. It calls told, unless
// nil, with each new violation.
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
