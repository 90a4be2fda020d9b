package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/adapters/redis/node"
	"github.com/lockproof/lockproof/model/scenario"
)

// Server is one redis-server behind the gate, or several independent ones. lockproof has started them.
type Server struct {
	gate.Private
	instances []*instance
	names     *stream.Names
	before    map[string]bool // items that existed before the run
	err       error           // the first error; after it, the results of other methods may be wrong
}

var _ gate.Server = (*Server)(nil)

// Name returns the name and version of the server that Open starts, such as "Redis 7.0.15".
func Name() (string, error) {
	version, err := node.Version()
	return "Redis " + version, err
}

// Most is the maximum number of servers that Open starts.
const Most = 7

// Open starts the given number of servers, each with virtual time. They store nothing on disk, except during a
// restart.
func Open(servers int) (_ gate.Server, err error) {
	if servers < 1 || servers > Most {
		return nil, fmt.Errorf("%d servers: expected 1 to %d", servers, Most)
	}
	s := &Server{names: stream.NewNames("")}
	for i := range servers {
		n, err := start(i)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.instances = append(s.instances, n)
	}
	return s, nil
}

// Listen opens an address for one client on each server.
func (s *Server) Listen(g gate.Gate, l gate.Limits) (gate.Address, error) {
	var all stream.Addresses
	for _, n := range s.instances {
		a, err := n.proxy.Listen(g, l, urlAt)
		if err != nil {
			return nil, errors.Join(err, all.Close())
		}
		all = append(all, a)
	}
	return all, nil
}

// Endpoints returns the number of servers.
func (s *Server) Endpoints() int { return len(s.instances) }

// Plays reports whether the gate can cause a fault. It cannot close channels, which connections do not have.
func (s *Server) Plays(do scenario.ActionKind) bool { return do != scenario.ChannelError }

// Advance lets ms milliseconds pass, and waits for the effects on the servers.
func (s *Server) Advance(ms int64) {
	for _, n := range s.instances {
		s.note(errors.Join(n.clock.Advance(ms), n.proxy.Settle()))
	}
}

// note records err, unless an earlier error is recorded.
func (s *Server) note(err error) { s.err = cmp.Or(s.err, err) }

// Restart stops the servers and starts them again, with all their data.
func (s *Server) Restart() {
	ctx, cancel := context.WithTimeout(context.Background(), answerLimit)
	defer cancel()
	for _, n := range s.instances {
		s.note(n.restart(ctx))
	}
}

// Begin begins a run. part is the text that the names of the run's locks contain.
func (s *Server) Begin(part string) {
	s.before = make(map[string]bool)
	for _, item := range s.items() {
		s.before[item.Name] = true
	}
	s.names = stream.NewNames(part)
	for _, n := range s.instances {
		n.proxy.Begin(s.names)
		s.note(n.forgetScripts())
	}
}

// Items returns the keys that did not exist before the run.
func (s *Server) Items() []gate.Item {
	return slices.DeleteFunc(s.items(), func(i gate.Item) bool { return s.before[i.Name] })
}

// items returns all keys of all servers, as items of the gate.
func (s *Server) items() (all []gate.Item) {
	for i, n := range s.instances {
		keys, err := n.keys()
		s.note(err)
		for _, key := range keys {
			item := n.item(key)
			item.Name = s.at(i, key)
			all = append(all, item)
		}
	}
	return all
}

// at returns the name of a key's item. If there are several servers, it begins with the number of the server.
func (s *Server) at(server int, key string) string {
	if len(s.instances) == 1 {
		return key
	}
	return strconv.Itoa(server+1) + "/" + key
}

// Canonical returns a key's name as traces show it.
func (s *Server) Canonical(key string) string { return s.names.Item(key) }

// Words returns the word for an item, and the word for its amount.
func (s *Server) Words() (item, amount string) { return "key", "members" }

// Remove deletes the given keys.
func (s *Server) Remove(items []string) error {
	for i, n := range s.instances {
		keys, err := n.keys()
		s.note(err)
		keys = slices.DeleteFunc(keys, func(key string) bool { return !slices.Contains(items, s.at(i, key)) })
		if len(keys) > 0 {
			_, err := n.control.Load().Do(append([]string{"DEL"}, keys...)...)
			s.note(err)
		}
	}
	return s.err
}

// Close stops the servers and removes their files.
func (s *Server) Close() error {
	var errs []error
	for _, n := range s.instances {
		errs = append(errs, n.close())
	}
	return errors.Join(errs...)
}
