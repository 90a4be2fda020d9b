package sim

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim/broker"
)

// World is clients, a broker and what watches them, at one moment of an execution.
type World struct {
	setting  setting
	scenario *scenario.Scenario
	broker   *broker.Broker
	now      int64 // virtual milliseconds
	shared   broker.Conn
	clients  []client
	halfOpen []halfOpen
	owners   []uint8 // by connection: the client's number
	truth    [lock.MaxLocks]monitor.Truth
	// Monitor watches the execution. Costs adds up what operations took; nil adds nothing.
	Monitor monitor.Monitor
	Costs   *monitor.Costs
	// Coverage takes in what executions come to; nil takes in nothing.
	Coverage *Coverage
	// Seen is what has happened in the execution at hand.
	Seen Seen

	forever bool // workloads begin again
	record  record
}

// client is one client: its machine, its connection, and how far its workload is.
type client struct {
	machine lock.Machine
	conn    broker.Conn // 0 once the broker has dropped it, known to the client or not
	grant   broker.Conn // the connection under which it was granted what it believes to hold
	// process is the one that its operation at hand, or the last one, goes by in the history;
	// incarnation counts its connections.
	process     int32
	incarnation int32
	invoked     int    // index of the event that invoked its operation
	next        uint8  // index of its next operation
	sent        uint16 // commands sent
	called      uint16 // operations called
	dead        bool
	busy        bool // an operation is under way
	confirms    bool // its channel confirms publishes
	wake        int64
}

// halfOpen is a connection that is dead while the broker has not noticed.
type halfOpen struct {
	conn    broker.Conn
	client  uint8
	process int32
}

// reset begins a scenario's execution: the locks have their slots and the clients are connected.
func (w *World) reset(target *lock.Target, s *scenario.Scenario) {
	w.setting.settle(target, s)
	w.broker = w.setting.broker
	w.scenario, w.now, w.shared, w.Seen = s, 0, 0, 0
	if len(s.Locks) > 1 {
		w.Seen.add(SawTwoLocks)
	}
	w.halfOpen, w.owners = w.halfOpen[:0], w.owners[:0]
	w.truth = [lock.MaxLocks]monitor.Truth{}
	w.record.reset()
	w.furnish()
	w.clients = w.clients[:0]
	w.clients = append(w.clients, make([]client, len(s.Clients))...)
	for i := range w.clients {
		w.connect(uint8(i + 1))
	}
	for l := range w.setting.layouts {
		w.survey(uint8(l))
	}
	w.record.furnished(w.truth)
	if w.Coverage != nil {
		w.Coverage.begin()
	}
	w.Monitor.Reset(target.Kind, &w.setting.options, len(w.clients), w.truth[:len(w.setting.layouts)])
	for l := range s.Locks {
		if s.Locks[l].Missing != 0 {
			w.Monitor.BeginsWithHoles(uint8(l))
		}
	}
}

// furnish declares the slots that the locks begin with, as their administrator would have.
func (w *World) furnish() {
	conn := w.broker.Connect()
	w.tell(conn, amqp.Command{Method: amqp.ChannelOpen, Channel: 1})
	for i, layout := range w.setting.layouts {
		cmd := amqp.Command{Method: amqp.QueueDeclare, Channel: 1, Args: w.setting.options.Arguments}
		if w.setting.options.Durable {
			cmd.Flags = amqp.Durable
		}
		for s := uint8(1); s <= w.scenario.Locks[i].Slots; s++ {
			if w.scenario.Locks[i].Has(s) {
				cmd.Queue = layout.A[s]
				w.tell(conn, cmd)
			}
		}
	}
	w.tell(conn, amqp.Command{Method: amqp.ConnectionClose})
	w.broker.Disconnect(conn)
}

// tell has the broker carry out a command that no client's machine asked for.
func (w *World) tell(conn broker.Conn, cmd amqp.Command) {
	reply := w.broker.Apply(conn, cmd)
	w.record.setUp(0, cmd, reply)
}

// connect opens a client's connection and channel before the first action.
func (w *World) connect(c uint8) {
	cl, impl := w.client(c)
	cl.machine.Channel = 1
	if w.sharing() {
		cl.machine.Channel = c
	}
	impl.Start(&cl.machine, lock.Connect, 0)
	for !cl.machine.Done() {
		cmd := impl.Next(&cl.machine)
		reply, _ := w.send(c, cmd)
		w.record.setUp(c, cmd, reply)
		impl.Apply(&cl.machine, reply)
	}
	cl.sent = 0
}

// Sent is how many commands clients have sent since they were connected.
func (w *World) Sent() (n int) {
	for i := range w.clients {
		n += int(w.clients[i].sent)
	}
	return n
}

// Called is how many operations were called.
func (w *World) Called() (n int) {
	for i := range w.clients {
		n += int(w.clients[i].called)
	}
	return n
}

// client is a client by number, and the implementation that it runs.
func (w *World) client(c uint8) (*client, lock.Implementation) {
	return &w.clients[c-1], w.setting.kinds[w.lockOf(c)]
}

// lockOf is which lock a client uses.
func (w *World) lockOf(c uint8) uint8 { return uint8(w.scenario.Clients[c-1].Lock) }

// sharing reports whether all clients use one connection, a channel each.
func (w *World) sharing() bool { return w.setting.options.Connection == lock.SharedConnection }
