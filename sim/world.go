package sim

import (
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/codec"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/own"
	"github.com/lockproof/lockproof/model/scenario"
)

// World is the state of an execution at one moment: clients, servers and monitor.
type World struct {
	target   *lock.Target
	options  lock.Options
	scenario *scenario.Scenario
	cluster  Cluster
	links    bool        // from the backend, see Backend.Links
	leases   bool        // from the backend, see Backend.Leases
	lasting  bool        // from the backend, see Backend.Lasting
	units    bool        // from the backend, see Backend.Units
	clocked  ClockFaults // from the backend, see Backend.Clocks
	clocks   Clocks
	clusters map[*Backend]Cluster // by backend, the clusters that exist
	locks    []string             // names of the locks
	now      int64                // virtual time in milliseconds
	shared   backend.Session      // the session that all clients share; 0 if each has its own
	clients  []client
	halfOpen []halfOpen
	owners   []uint8 // by number of a session: the client that owns it
	truth    [lock.MaxLocks]monitor.Truth
	expired  []backend.Session // scratch
	coder    codec.Coder       // scratch
	told     tellers
	// Monitor judges the execution while it runs. Costs adds up the costs of operations; it may be nil.
	Monitor monitor.Monitor
	Costs   *monitor.Costs
	// Coverage collects what the executions have covered; it may be nil.
	Coverage *Coverage
	// Own evaluates the user's custom properties; it is nil if there are none.
	Own *own.Watch
	// Seen has the coverage points of the current execution.
	Seen Seen

	forever bool // clients repeat their operations without end
	record  record
}

// client is one client: its sessions, and how far it is in its workload. The cluster has the client's machine.
type client struct {
	conn  backend.Session // 0 once the server has ended it, even if the client does not know
	grant backend.Session // the session on which the client was granted what it believes it holds
	// process is the number of the history's process for the current or last operation. incarnation is the number of
	// the client's sessions so far.
	process     int32
	incarnation int32
	invoked     int    // index of the event that invoked the operation
	next        uint8  // index of the next operation
	sent        uint16 // number of commands sent
	called      uint16 // number of operations invoked
	dead        bool
	busy        bool // an operation is under way
	wake        int64
}

// halfOpen is a session that is dead, but that still exists on the server.
type halfOpen struct {
	conn    backend.Session
	client  uint8
	process int32
}

// tellers has the callbacks that are passed to clusters. They are created only once.
type tellers struct {
	owner    func(backend.Session) uint8
	setUp    func(backend.Exchange)
	believed func(l, s uint8) bool
}

// reset begins the execution of a scenario: it creates the locks' slots and connects the clients.
func (w *World) reset(target *lock.Target, s *scenario.Scenario) {
	w.settle(target, s)
	w.now, w.shared, w.Seen, w.clocks = 0, 0, 0, Clocks{}
	if len(s.Locks) > 1 {
		w.Seen.add(SawTwoLocks)
	}
	w.halfOpen, w.owners = w.halfOpen[:0], w.owners[:0]
	w.truth = [lock.MaxLocks]monitor.Truth{}
	w.record.Reset()
	w.clients = append(w.clients[:0], make([]client, len(s.Clients))...)
	w.cluster.SetUp(w.told.setUp)
	for i := range w.clients {
		w.connect(uint8(i + 1))
	}
	for l := range w.locks {
		w.survey(uint8(l))
	}
	w.record.initial(w.truth)
	if w.Coverage != nil {
		w.Coverage.begin()
	}
	w.Monitor.Reset(target.Kind, w.options.Facts(), len(w.clients), w.truth[:len(w.locks)])
	w.Monitor.Has(target.Traits)
	w.Monitor.Speaks(lock.BackendOf(target).Words)
	if w.units {
		w.Monitor.Unbound()
		w.Monitor.Drains()
	}
	for l := range s.Locks {
		if s.Locks[l].Missing != 0 {
			w.Monitor.BeginsWithHoles(uint8(l))
		}
	}
}

// settle selects the cluster of the target's backend, and resets it for the scenario.
func (w *World) settle(target *lock.Target, s *scenario.Scenario) {
	b := BackendOf(target)
	if w.clusters == nil {
		w.clusters = make(map[*Backend]Cluster)
		w.told = tellers{w.ownerOf, func(x backend.Exchange) { w.record.setUp(w, 0, x) }, w.Monitor.Believed}
	}
	if w.clusters[b] == nil {
		w.clusters[b] = b.New()
		if k, ok := w.clusters[b].(Clocked); ok {
			k.Clocks(&w.clocks)
		}
	}
	w.cluster, w.links, w.leases, w.lasting, w.units, w.clocked = w.clusters[b], b.Links, b.Leases, b.Lasting, b.Units, b.Clocks
	w.target, w.scenario, w.options, w.locks = target, s, target.Settled(s.Options), w.locks[:0]
	for i := range s.Locks {
		w.locks = append(w.locks, s.Locks[i].Name)
	}
	w.cluster.Reset(target, s, w.options, w.told.owner)
}

// connect opens a client's session before the first action.
func (w *World) connect(c uint8) {
	cl := &w.clients[c-1]
	w.cluster.Start(c, lock.Connect, 0)
	for _, done := w.cluster.Result(c); !done; _, done = w.cluster.Result(c) {
		w.record.setUp(w, c, w.deliver(c))
		w.cluster.Reply(c)
	}
	cl.sent = 0
}

// Sent returns the number of commands that all clients have sent since their first connection.
func (w *World) Sent() (n int) {
	for i := range w.clients {
		n += int(w.clients[i].sent)
	}
	return n
}

// Called returns the number of operations that all clients have invoked.
func (w *World) Called() (n int) {
	for i := range w.clients {
		n += int(w.clients[i].called)
	}
	return n
}

// lockOf returns the index of the lock that client c uses.
func (w *World) lockOf(c uint8) uint8 { return uint8(w.scenario.Clients[c-1].Lock) }
