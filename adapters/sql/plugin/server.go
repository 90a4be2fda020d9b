package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/model/scenario"
)

// Database is a database server that lockproof started, with a virtual clock.
type Database interface {
	stream.Upstream
	// Protocol returns the protocol between the server and its clients.
	Protocol() stream.Protocol
	// URL returns the address for clients, given a host and port.
	URL(host string) string
	// Advance lets milliseconds of virtual time pass. It returns when the server has reacted.
	Advance(ms int64) error
	// Restart stops the server and starts it again, with its data.
	Restart(context.Context) error
	// Amounts returns the number of rows of each table, by the table's name, and the number of locks that belong to no row,
	// by a name for such locks.
	Amounts() (map[string]int, error)
	// Drop deletes the given tables, which exist.
	Drop(tables []string) error
	// Close stops the server and removes its files.
	Close() error
}

// Server is one database server behind the gate, or several independent ones.
type Server struct {
	gate.Private
	all    []member
	names  *stream.Names
	part   string
	before map[string]int // amounts of all items at the beginning of the run
	err    error          // the first error; after it, the results of other methods may be wrong
}

// member is one server behind the gate, with its proxy.
type member struct {
	Database
	proxy *stream.Proxy
}

var _ gate.Server = (*Server)(nil)

// Most is the maximum number of servers that Open starts.
const Most = 7

// restartLimit is the time within which the servers have to stop and start again.
const restartLimit = time.Minute

// Open starts the given number of servers, each by a call of start.
func Open(servers int, start func() (Database, error)) (_ gate.Server, err error) {
	if servers < 1 || servers > Most {
		return nil, fmt.Errorf("%d servers: expected 1 to %d", servers, Most)
	}
	s := &Server{names: stream.NewNames("")}
	for i := range servers {
		d, err := start()
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.all = append(s.all, member{d, stream.NewProxy(d.Protocol(), d, i)})
	}
	return s, nil
}

// Listen opens an address for one client on each server.
func (s *Server) Listen(g gate.Gate, l gate.Limits) (gate.Address, error) {
	var all stream.Addresses
	for _, m := range s.all {
		a, err := m.proxy.Listen(g, l, m.URL)
		if err != nil {
			return nil, errors.Join(err, all.Close())
		}
		all = append(all, a)
	}
	return all, nil
}

// Endpoints returns the number of servers.
func (s *Server) Endpoints() int { return len(s.all) }

// Plays reports whether the gate can cause a fault: all but the end of a channel, as connections have no channels.
func (s *Server) Plays(do scenario.ActionKind) bool { return do != scenario.ChannelError }

// Advance lets milliseconds pass, and waits until the servers have reacted.
func (s *Server) Advance(ms int64) {
	for _, m := range s.all {
		s.note(errors.Join(m.Advance(ms), m.proxy.Settle()))
	}
}

// note records err, unless an earlier error is recorded.
func (s *Server) note(err error) { s.err = cmp.Or(s.err, err) }

// Restart stops the servers and starts them again, with their data.
func (s *Server) Restart() {
	ctx, cancel := context.WithTimeout(context.Background(), restartLimit)
	defer cancel()
	for _, m := range s.all {
		s.note(m.Database.Restart(ctx))
	}
}

// Begin begins a run. part is the text that the names of the run's locks contain.
func (s *Server) Begin(part string) {
	s.part, s.before = part, s.amounts()
	s.names = stream.NewNames(part)
	for _, m := range s.all {
		m.proxy.Begin(s.names)
	}
}

// amounts returns the amounts of all servers, by the names of items.
func (s *Server) amounts() map[string]int {
	all := make(map[string]int)
	for i, m := range s.all {
		amounts, err := m.Amounts()
		s.note(err)
		for name, n := range amounts {
			all[s.at(i, name)] = n
		}
	}
	return all
}

// at returns the name of an item, preceded by the number of its server if there are several servers.
func (s *Server) at(server int, name string) string {
	if len(s.all) == 1 {
		return name
	}
	return strconv.Itoa(server+1) + "/" + name
}

// Items returns the tables that belong to the run: those with more rows than at its beginning, and those whose names
// contain the text of the run's lock names. It also returns kinds of locks of which more are held than at its
// beginning.
func (s *Server) Items() (all []gate.Item) {
	now := s.amounts()
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if more := now[name] - s.before[name]; more > 0 || s.own(name) {
			all = append(all, gate.Item{Name: name, Amount: more})
		}
	}
	return all
}

// own reports whether an item's name contains the text that all lock names of the run contain.
func (s *Server) own(name string) bool { return s.part != "" && strings.Contains(name, s.part) }

// Canonical returns an item's name as traces show it.
func (s *Server) Canonical(name string) string { return s.names.Item(name) }

// Words returns the words for an item and for its amount.
func (s *Server) Words() (item, amount string) { return "table", "rows" }

// Remove deletes tables that are named after the run. Rows in other tables stay.
func (s *Server) Remove(items []string) error {
	for i, m := range s.all {
		var tables []string
		for _, item := range items {
			if name, ok := strings.CutPrefix(item, s.at(i, "")); ok && s.own(name) {
				tables = append(tables, name)
			}
		}
		if len(tables) > 0 {
			s.note(m.Drop(tables))
		}
	}
	return s.err
}

// Close stops the servers and removes their files.
func (s *Server) Close() error {
	var errs []error
	for _, m := range s.all {
		errs = append(errs, m.Close())
	}
	return errors.Join(errs...)
}
