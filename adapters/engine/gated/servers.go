package gated

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	consul "github.com/lockproof/lockproof/adapters/consul/plugin"
	etcd "github.com/lockproof/lockproof/adapters/etcd/plugin"
	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/gate/process"
	redis "github.com/lockproof/lockproof/adapters/redis/plugin"
	"github.com/lockproof/lockproof/adapters/sql/plugin/mariadb"
	"github.com/lockproof/lockproof/adapters/sql/plugin/postgres"
	tcp "github.com/lockproof/lockproof/adapters/tcp/plugin"
	zookeeper "github.com/lockproof/lockproof/adapters/zookeeper/plugin"
)

// AMQP is the kind of server of the simulated broker and of a real RabbitMQ.
const AMQP = "amqp"

// MostServers is the maximum number of servers that a lock may use.
const MostServers = redis.Most

// ours are the kinds of servers that lockproof starts itself for each run, with virtual time. The simulated broker is
// not among them.
var ours = map[string]func(servers int) (Server, error){
	"consul":    starts(consul.Name, consul.Open),
	"etcd":      starts(etcd.Name, etcd.Open),
	"mariadb":   starts(mariadb.Name, mariadb.Open),
	"postgres":  starts(postgres.Name, postgres.Open),
	"redis":     starts(redis.Name, redis.Open),
	"tcp":       anyServer,
	"zookeeper": starts(zookeeper.Name, zookeeper.Open),
}

// anyServer describes the TCP server of unknown kind that the user names in the environment variable LOCKPROOF_TCP.
func anyServer(servers int) (Server, error) {
	s, err := starts(tcp.Name, tcp.Open)(servers)
	s.Shared, s.Unseen = tcp.Shared(), tcp.Unseen()
	return s, err
}

// starts makes an entry of ours. name returns the server's name, and open starts the given number of servers.
func starts(name func() (string, error), open func(servers int) (gate.Server, error)) func(servers int) (Server, error) {
	return func(servers int) (Server, error) {
		called, err := name()
		return Server{Name: called, Open: func() (gate.Server, error) { return open(servers) }}, err
	}
}

// stocks start unmodified servers, by kind of server.
var stocks = map[string]func() (process.Stock, error){"mariadb": mariadb.Stock, "postgres": postgres.Stock, "redis": redis.Stock}

// Stock starts unmodified servers of the given kind. They use the machine's clock and are not behind the gate.
func Stock(kind string, servers int) (all []process.Stock, err error) {
	if err := CheckServers(kind, servers); err != nil {
		return nil, err
	}
	start := stocks[kind]
	if start == nil {
		return nil, fmt.Errorf("a stock server of the kind %q: expected %s", kind, strings.Join(slices.Sorted(maps.Keys(stocks)), " or "))
	}
	for range max(1, servers) {
		s, err := start()
		if err != nil {
			for _, s := range all {
				err = errors.Join(err, s.Close())
			}
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// Kinds lists the kinds of servers that can be behind the gate.
func Kinds() []string { return append([]string{AMQP}, slices.Sorted(maps.Keys(ours))...) }

// CheckServers rejects an unknown kind of server and an invalid number of servers. 0 means one server.
func CheckServers(kind string, servers int) error {
	amqp := kind == "" || kind == AMQP
	switch _, ok := ours[kind]; {
	case !ok && !amqp:
		return fmt.Errorf("the kind of server %q: expected %s", kind, strings.Join(Kinds(), " or "))
	case servers < 0 || servers > MostServers:
		return fmt.Errorf("%d servers: expected 1 to %d", servers, MostServers)
	case amqp && servers > 1:
		return fmt.Errorf("%d servers of AMQP: expected one", servers)
	}
	return nil
}

// ServerOf describes one or several servers of a kind that lockproof starts itself. The kind "" means AMQP, and 0
// servers mean one. The error is for an unknown kind, or for one that cannot be started on this machine.
func ServerOf(kind string, servers int) (Server, error) {
	if err := CheckServers(kind, servers); err != nil {
		return Server{}, err
	}
	servers = max(1, servers)
	if kind == "" || kind == AMQP {
		return Server{}, nil
	}
	s, err := ours[kind](servers)
	s.Kind, s.Servers = kind, servers
	if servers > 1 {
		s.Name = fmt.Sprintf("%d × %s", servers, s.Name)
	}
	return s, err
}
