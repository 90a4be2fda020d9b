package gated

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/adapters/gate"
	redis "github.com/lockproof/lockproof/adapters/redis/plugin"
)

// AMQP is the kind of the simulated broker, and of a real RabbitMQ.
const AMQP = "amqp"

// MostServers is how many servers there may be.
const MostServers = redis.Most

// ours are the kinds of servers that are started for a run's clients, with a clock of ours, besides the simulated broker.
var ours = map[string]func(servers int) (Server, error){
	"redis": func(servers int) (Server, error) {
		name, err := redis.Name()
		return Server{Name: name, Open: func() (gate.Server, error) { return redis.Open(servers) }}, err
	},
}

// Kinds are the kinds of servers that can stand behind the gate, by name.
func Kinds() []string { return append([]string{AMQP}, slices.Sorted(maps.Keys(ours))...) }

// ServerOf is a server of ours of a kind, or several; "" is AMQP's, and 0 is one. The error is for a kind that there is not, or that
// cannot be started here.
func ServerOf(kind string, servers int) (Server, error) {
	servers = max(1, servers)
	of, ok := ours[kind]
	switch {
	case (kind == "" || kind == AMQP) && servers > 1:
		return Server{}, fmt.Errorf("%d servers of AMQP: expected one", servers)
	case kind == "" || kind == AMQP:
		return Server{}, nil
	case !ok:
		return Server{}, fmt.Errorf("the kind of server %q: expected %s", kind, strings.Join(Kinds(), " or "))
	}
	s, err := of(servers)
	s.Kind, s.Servers = kind, servers
	if servers > 1 {
		s.Name = fmt.Sprintf("%d × %s", servers, s.Name)
	}
	return s, err
}
