package foreign

import (
	"crypto/sha256"
	"fmt"
	"io"
	"slices"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/scenario"
)

// audits is the set of situations that an exploration has audited without finding a violation. The result of an audit
// depends only on the server's state and on what each client has done and received. Executions that end in the same
// situation therefore need only one audit. An exploration assumes that clients are deterministic.
type audits map[situation]bool

// situation is a digest of the server's state and of each client's actions and answers.
type situation [sha256.Size]byte

// seen reports whether an exploration has audited the current situation before. It stores the situation in r.at.
func (r *run) seen() bool {
	if r.audits == nil {
		return false
	}
	at, known := r.situation()
	if known {
		r.at = &at
	}
	return known && r.audits[at]
}

// situation computes the current situation; clients and server must be at rest. known is false if the server does not
// show its state, if a lock has leases, or if clients share a connection or a process.
func (r *run) situation() (at situation, known bool) {
	server, told := r.server.(gate.Stated)
	if !told || r.about.Leases || r.shared || slices.ContainsFunc(r.sc.Clients, func(c scenario.Client) bool { return c.With > 0 }) {
		return at, false
	}
	state, whole := server.State(func(c gate.Conn) uint8 {
		r.mu.Lock()
		defer r.mu.Unlock()
		if of := r.connections[c]; of != nil {
			return r.numberOf(of.client)
		}
		return 0
	})
	if !whole {
		return at, false
	}
	digest := sha256.New()
	fmt.Fprintln(digest, state)
	for i := range r.clients {
		fmt.Fprintln(digest, "client", i+1)
		r.writePast(digest, &r.clients[i])
	}
	for l := range r.sc.Locks {
		least, most := r.slots(uint8(l))
		fmt.Fprintln(digest, "slots", least, most)
	}
	digest.Sum(at[:0])
	return at, true
}

// writePast writes to w what client p has done and received in the run.
func (r *run) writePast(w io.Writer, p *clientState) {
	for i := range r.record.Steps {
		if s := &r.record.Steps[i]; s.Action.Client == p.id {
			fmt.Fprintln(w, s.Action, s.Command, s.Reply)
		}
	}
	for _, e := range r.record.Events {
		if e.Process == history.Nemesis && uint8(e.Target) == p.id || history.ClientOf(e.Process, len(r.sc.Clients)) == int(p.id) {
			e.Time = 0
			fmt.Fprintln(w, e)
		}
	}
}
