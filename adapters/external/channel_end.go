package external

import (
	"slices"

	"github.com/lockproof/lockproof/adapters/external/recognise"
	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/adapters/wire/frame"
	"github.com/lockproof/lockproof/model/lock"
)

// What a driver makes of the end of a channel tells nothing about a lock: some wait for ever for the answer to a channel.close, or take
// it for the end of another channel. And a channel that the broker closes unasked is a fault that RabbitMQ has only for those that
// have deliveries.

// robbed takes from a client a channel of its connection that the broker closes unasked. An exclusive queue stays with the connection.
func (r *run) robbed(p *clientState) { r.monitor.Robbed(p.id, r.design.Holding == recognise.ByQueue) }

// crosses takes an operation that fails on a connection of which a channel was closed from both ends at once: its driver may be at
// fault; see [wire.Conn.Crossed].
func (r *run) crosses(p *clientState, res lock.Result) {
	if res.Outcome != lock.Unknown {
		return
	}
	r.mu.Lock()
	crossed := slices.ContainsFunc(p.connections, func(l *connection) bool { return l.conn.Crossed() })
	r.mu.Unlock()
	if !crossed {
		return
	}
	p.troubled = true
	r.monitor.Lost(p.id)
	r.monitor.Excuse(p.id)
}

// cutCrossed cuts the connections of which a channel was closed from both ends at once: what their drivers take that for would be met
// by whatever they do next. See [wire.Conn.Crossed].
func (r *run) cutCrossed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.handles {
		for _, l := range slices.Clone(a.connections) {
			if l.conn.Crossed() {
				r.replace(l)
			}
		}
	}
}

// closes reports whether a command closes a channel or the connection. Some drivers wait for the answer for ever, whatever becomes of
// the connection: that is theirs, and tells nothing about a lock.
func closes(cmd *wire.Command) bool {
	return cmd.Method.ID() == frame.ChannelCloseID || cmd.Method.ID() == frame.ConnectionCloseID
}
