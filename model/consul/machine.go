package consul

import (
	"encoding/json"
	"slices"

	"github.com/lockproof/lockproof/model/codec"
	"github.com/lockproof/lockproof/model/lock"
)

// Protocol is one semaphore: its options, its keys' prefix and its limit. It drives the machines of its clients.
type Protocol struct {
	Options
	Prefix string // prefix of the semaphore's keys, without the last slash
	Limit  int    // number of slots that all clients agree on
}

// Body is the value of the key that lists the holders, as JSON.
type Body struct {
	Limit   int      `json:"Limit"`
	Holders []string `json:"Holders"` // IDs of the holders' sessions
}

// Encode encodes a body as the value of the key that lists the holders.
func (b *Body) Encode() string {
	data, err := json.Marshal(b)
	if err != nil {
		panic(err) // never: a body has only strings and a number
	}
	return string(data)
}

// ReadBody decodes the value of the key that lists the holders. An invalid value gives the zero Body.
func ReadBody(value string) (b Body) {
	if json.Unmarshal([]byte(value), &b) != nil {
		return Body{}
	}
	return b
}

// Lock is the name of the key that lists the holders.
func (p *Protocol) Lock() string { return p.Prefix + "/.lock" }

// Contender is the name of the key that a client acquires with the session id before it claims a slot.
func (p *Protocol) Contender(id string) string { return p.Prefix + "/" + id }

// Machine is one client of the semaphore, as a plain value. Slices in it are never changed in place.
type Machine struct {
	Op     lock.Op
	Result lock.Result
	Phase  Phase
	// Session is the ID of the client's session; "" is none. Entered says that the client has acquired its own key with
	// it.
	Session string
	Entered bool
	// Held says that the client believes it holds a slot. Slot is the number that the simulated cluster gives this
	// slot, since the semaphore does not number slots.
	Held bool
	Slot uint8
	// Stated is the limit that the caller of an acquire states; 0 means Protocol.Limit.
	Stated uint8
	// Watched is the X-Consul-Index of the last read that told the client it is a holder. The client's watch reports
	// changes with a later index.
	Watched uint64

	seen    snapshot // the last read of an acquire or release
	earlier []string // live contenders of the first of two reads, with the option [TwoReads]
	tries   int
	waited  bool
}

// snapshot is what a client learns from one read of all keys under the prefix.
type snapshot struct {
	body  Body
	there bool   // the key that lists the holders exists
	index uint64 // ModifyIndex of the key that lists the holders
	upTo  uint64 // X-Consul-Index of the read
	live  []string
}

// Phase is what a client does now.
type Phase uint8

// The phases.
const (
	Idle Phase = iota
	Opening
	Entering
	Looking // the first of two reads, with the option [TwoReads]
	Reading
	Waiting
	Claiming
	Confirming
	Checking
	Leaving // first request of a release: reads the holders
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

// limit is the number of slots that client m assumes: the one that its caller states, or the agreed one.
func (p *Protocol) limit(m *Machine) int {
	if m.Stated > 0 {
		return int(m.Stated)
	}
	return p.Limit
}

// Start begins an operation of an idle client.
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

// Next is the client's next request. created is the ID for a session that this request creates.
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

// Read is the request that reads all keys under the prefix.
func (p *Protocol) Read() Request { return Request{Method: Get, Key: p.Prefix + "/", Recurse: true} }

// write is the request that writes a new list of holders.
func (p *Protocol) write(m *Machine, holders []string) Request {
	b := Body{Limit: m.seen.body.Limit, Holders: holders}
	if !m.seen.there {
		b.Limit = p.limit(m)
	}
	return Request{Method: Put, Key: p.Lock(), Value: b.Encode(), Checked: p.Write == CheckAndSet, Index: m.seen.index}
}

// read decodes the reply to a read of all keys.
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

// holders are the holders in the last read whose sessions are alive, in their order. The option Prune says which are.
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

// others returns the holders that the list has after the client's release: all except the client itself. If the option
// Removes is everyone, there are none.
func (p *Protocol) others(m *Machine) []string {
	if p.Removes == Everyone {
		return []string{}
	}
	return slices.DeleteFunc(append([]string{}, m.seen.body.Holders...), func(id string) bool { return id == m.Session })
}

// Holds reports whether the read r shows that the client holds a slot.
func (p *Protocol) Holds(m *Machine, r *Reply) bool {
	s := p.read(r)
	return slices.Contains(s.body.Holders, m.Session) && (p.Verify == ByHolders || slices.Contains(s.live, m.Session))
}

// Notice hands a client that watches the prefix a new read, which may show that it no longer holds a slot.
func (p *Protocol) Notice(m *Machine, r *Reply) {
	m.Held, m.Watched = p.Holds(m, r), r.Index
}

// Lose ends the operation, since no reply came in time. The client gives up its session, and with it any slot.
func (m *Machine) Lose() {
	r := lock.Result{Outcome: lock.Unknown, Reason: lock.TimedOut}
	if m.Op == lock.Verify {
		r = lock.Result{Outcome: lock.Done, Reason: lock.Disconnected}
	}
	*m = Machine{Op: m.Op}
	m.end(r)
}

// Knows reports whether the client's state still contains the session with that ID.
func (m *Machine) Knows(id string) bool {
	return m.Session == id || slices.Contains(m.seen.body.Holders, id) || slices.Contains(m.seen.live, id) || slices.Contains(m.earlier, id)
}

// Code encodes a machine, or decodes it if c reads. Of indexes it keeps only whether they are up to date. lockIndex is
// the present ModifyIndex of the key that lists the holders. prefixIndex is the index of the last change under the
// prefix.
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

// codeIndex encodes or decodes an index that a client has read: 0, [Stale], or [Fresh] if it is last.
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

// Normalise clears the fields of an idle machine that its later operations do not read, so that equal states are
// merged.
func (m *Machine) Normalise() {
	*m = Machine{Session: m.Session, Entered: m.Entered, Held: m.Held, Slot: m.Slot, Watched: m.Watched}
	if !m.Held {
		m.Watched = 0
	}
}
