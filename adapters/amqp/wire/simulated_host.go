package wire

import (
	"slices"
	"strings"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

// virtualHost is one virtual host of the simulated broker, with its own queues, exchanges and connections.
type virtualHost struct {
	name      string
	broker    *broker.Broker
	queues    register
	messages  store
	sessions  []*simSession // indexed by broker.Conn-1; nil if the number is free
	consumers int           // number of consumers of all sessions
	buf       []amqp.Delivery
}

func newVirtualHost(name string, opts *SimulatedOptions) *virtualHost {
	h := &virtualHost{name: name}
	h.broker = broker.New(&h.queues.names, opts.Broker)
	h.queues.broker = h.broker
	h.messages.limit = opts.MaxMessages
	return h
}

// host is the virtual host with the given name; nil if there is none. "" means the default host, "/".
func (s *Simulated) host(name string) *virtualHost {
	if name == "" {
		return s.virtualHost
	}
	if i := slices.IndexFunc(s.hosts, func(h *virtualHost) bool { return h.name == name }); i >= 0 {
		return s.hosts[i]
	}
	return nil
}

// enter assigns the connection a free number in the model.
func (h *virtualHost) enter(x *simSession) {
	x.host, x.conn = h, h.broker.Connect()
	for len(h.sessions) < int(x.conn) {
		h.sessions = append(h.sessions, nil)
	}
	h.sessions[x.conn-1] = x
	h.broker.Apply(x.conn, amqp.Command{Method: amqp.ConnectionOpen})
}

// says adapts an error text to this virtual host, by replacing the default host's name.
func (h *virtualHost) says(text string) string {
	if h == nil || h.name == "/" {
		return text
	}
	return strings.ReplaceAll(text, "in vhost '/'", "in vhost '"+h.name+"'")
}
