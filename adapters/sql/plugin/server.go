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

// Database is a database server of our own, with a clock of ours.
type Database interface {
	stream.Upstream
	// Protocol is how clients talk to it.
	Protocol() stream.Protocol
	// URL is where clients find it at an address.
	URL(host string) string
	// Advance lets milliseconds pass. When it returns, the server knows.
	Advance(ms int64) error
	// Restart stops it and starts it again, with everything that it had.
	Restart(context.Context) error
	// Amounts are how many rows each table has, and how many locks there are that belong to no row, by a name for them.
	Amounts() (map[string]int, error)
	// Drop deletes tables that are there.
	Drop(tables []string) error
	// Close ends it and removes its files.
	Close() error
}

// Server is one database server of our own behind the gate, or several that know nothing of one another.
type Server struct {
	gate.Private
	all    []member
	names  *stream.Names
	part   string
	before map[string]int // the amounts at the beginning of the run
	err    error          // of what could not be done; everything else of it is in doubt
}

// member is one server of several.
type member struct {
	Database
	proxy *stream.Proxy
}

var _ gate.Server = (*Server)(nil)

// Most is how many servers there may be.
const Most = 7

// restartLimit is how long a server may take to stop and to start.
const restartLimit = time.Minute

// Open starts so many servers.
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

// Listen opens addresses for one client.
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

// Endpoints is how many servers there are.
func (s *Server) Endpoints() int { return len(s.all) }

// Plays reports whether a fault can be made to happen: connections have no channels.
func (s *Server) Plays(do scenario.ActionKind) bool { return do != scenario.ChannelError }

// Advance lets milliseconds pass, and waits for what the servers do then.
func (s *Server) Advance(ms int64) {
	for _, m := range s.all {
		s.note(errors.Join(m.Advance(ms), m.proxy.Settle()))
	}
}

// note keeps the first error.
func (s *Server) note(err error) { s.err = cmp.Or(s.err, err) }

// Restart stops the servers and starts them again, with everything that they had.
func (s *Server) Restart() {
	ctx, cancel := context.WithTimeout(context.Background(), restartLimit)
	defer cancel()
	for _, m := range s.all {
		s.note(m.Database.Restart(ctx))
	}
}

// Begin begins a run.
func (s *Server) Begin(part string) {
	s.part, s.before = part, s.amounts()
	s.names = stream.NewNames(part)
	for _, m := range s.all {
		m.proxy.Begin(s.names)
	}
}

// amounts are what the servers have, by the names of items.
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

// at is the name of an item: with the number of its server, where there are several.
func (s *Server) at(server int, name string) string {
	if len(s.all) == 1 {
		return name
	}
	return strconv.Itoa(server+1) + "/" + name
}

// Items are the tables that have more rows than at the beginning of the run or are named after it, and locks that were not held then.
func (s *Server) Items() (all []gate.Item) {
	now := s.amounts()
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if more := now[name] - s.before[name]; more > 0 || s.own(name) {
			all = append(all, gate.Item{Name: name, Amount: more})
		}
	}
	return all
}

// own reports whether an item is named after the run.
func (s *Server) own(name string) bool { return s.part != "" && strings.Contains(name, s.part) }

// Canonical is an item's name in traces.
func (s *Server) Canonical(name string) string { return s.names.Item(name) }

// Words are those of tables and what is in them.
func (s *Server) Words() (item, amount string) { return "table", "rows" }

// Remove deletes tables that are named after the run. Rows in others stay.
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

// Close ends the servers and removes their files.
func (s *Server) Close() error {
	var errs []error
	for _, m := range s.all {
		errs = append(errs, m.Close())
	}
	return errors.Join(errs...)
}
