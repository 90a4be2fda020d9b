package consul

import (
	"encoding/json"
	"slices"

	"github.com/lockproof/lockproof/model/codec"
	"github.com/lockproof/lockproof/model/lock"
)

// Protocol is the semaphore with one name, and its options.
type Protocol struct {
	Options
	Prefix string // prefix of its keys, without the last slash
	Limit  int    // agreed by its users
}

// Body is the value of the lock's key.
type Body struct {
	Limit   int      `json:"Limit"`
	Holders []string `json:"Holders"` // sessions
}

// Encode is the value that represents a body.
func (b *Body) Encode() string {
	data, err := json.Marshal(b)
	if err != nil {
		panic(err) // it has only strings and a number
	}
	return string(data)
}

// ReadBody is the body that a value represents. An invalid value has no holders and no limit.
func ReadBody(value string) (b Body) {
	if json.Unmarshal([]byte(value), &b) != nil {
		return Body{}
	}
	return b
}

// Lock is the key that lists the holders.
func (p *Protocol) Lock() string { return p.Prefix + "/.lock" }

// Contender is the key of the contender with session id.
func (p *Protocol) Contender(id string) string { return p.Prefix + "/" + id }

// Machine is one client of the semaphore, as a plain value: data that it points to is never changed in place.
type Machine struct {
	Op     lock.Op
	Result lock.Result
	Phase  Phase
	// Session is the client's session; "" is none. Entered says that the client has its contender's key.
	Session string
	Entered bool
	// Held says that the client believes it holds a slot. Slot is the number that the cluster gives to that slot.
	Held bool
	Slot uint8
	// Stated is the limit that its caller has stated; 0 is the agreed limit.
	Stated uint8
	// Watched is the index up to which a holder has read the prefix.
	Watched uint64

	seen    snapshot // the last read
	earlier []string // the live contenders of the previous read, with [TwoReads]
	tries   int
	waited  bool
}

// snapshot is a client's interpretation of one read of the prefix.
type snapshot struct {
	body  Body
	there bool   // the lock's key exists
	index uint64 // ModifyIndex of the lock's key
	upTo  uint64 // index of the read
	live  []string
}

// Phase is the current activity of a client.
type Phase uint8

// The phases.
const (
	Idle Phase = iota
	Opening
	Entering
	Looking // the first of two reads, with [TwoReads]
	Reading
	Waiting
	Claiming
	Confirming
	Checking
	Leaving // reading the holders
	Removing
	Erasing
	Closing
)

// String is the phase in words.
func (p Phase) String() string {
	return [...]string{
		"", "creating a session", "entering", "reading contenders", "reading", "waiting for a change", "claiming", "confirming",
		"verifying", "reading holders", "leaving the holders", "deleting its key", "destroying its session",
	}[p]
}

// limit is the number of clients that may hold a slot, according to the client's caller.
func (p *Protocol) limit(m *Machine) int {
	if m.Stated > 0 {
		return int(m.Stated)
	}
	return p.Limit
}

// Start begins an operation.
func (p *Protocol) Start(m *Machine, op lock.Op) {
	m.Op, m.Result, m.tries, m.waited = op, lock.Result{}, 0, false
	m.seen, m.earlier = snapshot{}, nil
	switch {
	case op == lock.Connect:
		m.Phase = Opening
	case op == lock.Acquire:
		p.contend(m)
	case m.Session == "":
		m.Held, m.Slot = false, 0
		m.end(lock.Result{Outcome: lock.Done, Reason: lock.Disconnected})
	case op == lock.Release:
		m.Held, m.Slot = false, 0
		m.Phase = Leaving
		if p.Removes == Nobody {
			m.Phase = Erasing
		}
	default:
		m.Phase = Checking
	}
}

func (m *Machine) end(r lock.Result) { m.Phase, m.Result = Idle, r }

// Next is the request that the client sends next. created is the ID for a session that it creates.
func (p *Protocol) Next(m *Machine, created string) Request {
	switch m.Phase {
	case Opening:
		return Request{Method: CreateSession, Session: Session{ID: created, TTL: int64(p.TTL), Deletes: p.Deletes}}
	case Entering:
		return Request{Method: Put, Key: p.Contender(m.Session), Acquire: m.Session}
	case Claiming:
		return p.write(m, append(slices.Clone(p.holders(m)), m.Session))
	case Removing:
		if p.Removes == TheKey {
			return Request{Method: Delete, Key: p.Lock()}
		}
		return p.write(m, p.others(m))
	case Erasing:
		return Request{Method: Delete, Key: p.Contender(m.Session)}
	case Closing:
		return Request{Method: DestroySession, Session: Session{ID: m.Session}}
	case Waiting:
		return Request{Method: Get, Key: p.Prefix + "/", Recurse: true, Index: m.seen.upTo}
	}
	return p.Read()
}

// Read is the request that reads the whole prefix.
func (p *Protocol) Read() Request { return Request{Method: Get, Key: p.Prefix + "/", Recurse: true} }

// write is the request that makes these the holders of the lock.
func (p *Protocol) write(m *Machine, holders []string) Request {
	b := Body{Limit: m.seen.body.Limit, Holders: holders}
	if !m.seen.there {
		b.Limit = p.limit(m)
	}
	return Request{Method: Put, Key: p.Lock(), Value: b.Encode(), Checked: p.Write == CheckAndSet, Index: m.seen.index}
}

// read interprets a read.
func (p *Protocol) read(r *Reply) (s snapshot) {
	s.upTo = r.Index
	for _, e := range r.Entries {
		switch {
		case e.Key == p.Lock():
			s.there, s.index, s.body = true, e.Modified, ReadBody(e.Value)
		case e.Session != "":
			s.live = append(s.live, e.Session)
		}
	}
	return s
}

// holders are the live holders of the last read, in their order.
func (p *Protocol) holders(m *Machine) []string {
	live := m.seen.live
	switch p.Prune {
	case NoPruning:
		return m.seen.body.Holders
	case TwoReads:
		live = m.earlier
	}
	return slices.DeleteFunc(slices.Clone(m.seen.body.Holders), func(id string) bool { return !slices.Contains(live, id) })
}

// others are the holders that remain after a release.
func (p *Protocol) others(m *Machine) []string {
	if p.Removes == Everyone {
		return []string{}
	}
	return slices.DeleteFunc(append([]string{}, m.seen.body.Holders...), func(id string) bool { return id == m.Session })
}

// Holds reports whether a read shows that the client holds a slot.
func (p *Protocol) Holds(m *Machine, r *Reply) bool {
	s := p.read(r)
	return slices.Contains(s.body.Holders, m.Session) && (p.Verify == ByHolders || slices.Contains(s.live, m.Session))
}

// Notice hands a holder a read from its watch.
func (p *Protocol) Notice(m *Machine, r *Reply) {
	m.Held, m.Watched = p.Holds(m, r), r.Index
}

// Lose tells the client that its last reply and its session are lost.
func (m *Machine) Lose() {
	r := lock.Result{Outcome: lock.Unknown, Reason: lock.TimedOut}
	if m.Op == lock.Verify {
		r = lock.Result{Outcome: lock.Done, Reason: lock.Disconnected}
	}
	*m = Machine{Op: m.Op}
	m.end(r)
}

// Knows reports whether a client still has the name of a session.
func (m *Machine) Knows(id string) bool {
	return m.Session == id || slices.Contains(m.seen.body.Holders, id) || slices.Contains(m.seen.live, id) || slices.Contains(m.earlier, id)
}

// Code writes or reads a machine. It stores whether a client's last read is up to date: lockIndex is the ModifyIndex
// of the lock's key, and prefixIndex the index of the last change under the prefix.
func (m *Machine) Code(c *codec.Coder, lockIndex, prefixIndex uint64) {
	codec.Byte(c, &m.Op)
	codec.Byte(c, &m.Phase)
	codec.Byte(c, &m.Slot)
	codec.Byte(c, &m.Stated)
	codec.Byte(c, &m.Result.Outcome)
	codec.Byte(c, &m.Result.Reason)
	codec.Byte(c, &m.Result.Slot)
	codec.Bools(c, &m.Entered, &m.Held, &m.waited, &m.Result.Held, &m.seen.there)
	codec.String(c, &m.Session)
	codec.Number(c, &m.tries)
	codeIndex(c, &m.Watched, prefixIndex)
	codeIndex(c, &m.seen.upTo, prefixIndex)
	codeIndex(c, &m.seen.index, lockIndex)
	codec.Number(c, &m.seen.body.Limit)
	for _, ids := range [...]*[]string{&m.seen.body.Holders, &m.seen.live, &m.earlier} {
		n := codec.Length(c, len(*ids))
		if c.Reading() {
			*ids = make([]string, n)
		}
		for i := range *ids {
			codec.String(c, &(*ids)[i])
		}
	}
}

// codeIndex writes or reads an index that a client has seen: none, an old one, or the last.
func codeIndex(c *codec.Coder, index *uint64, last uint64) {
	known := *index
	switch {
	case known == 0:
	case known < last:
		known = Stale
	default:
		known = Fresh
	}
	codec.Number(c, &known)
	if c.Reading() {
		*index = known
	}
}

// Normalise clears the fields of an idle machine that can no longer make a difference.
func (m *Machine) Normalise() {
	*m = Machine{Session: m.Session, Entered: m.Entered, Held: m.Held, Slot: m.Slot, Watched: m.Watched}
	if !m.Held {
		m.Watched = 0
	}
}
