package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/gate/clock"
	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/adapters/redis/node"
	"github.com/lockproof/lockproof/model/holding"
	"github.com/lockproof/lockproof/model/scenario"
)

// Server is a redis-server of our own behind the gate.
type Server struct {
	node    *node.Node
	clock   *clock.Clock
	control *control
	proxy   *stream.Proxy
	before  map[string]bool // keys that there were before the run
	err     error           // of what could not be done; everything else of it is in doubt
}

var _ gate.Server = (*Server)(nil)

// Open starts a server, with a clock of ours. It keeps nothing on disk, but for a restart.
func Open() (_ gate.Server, err error) {
	n, err := node.New("--save", "", "--dbfilename", "kept.rdb")
	if err != nil {
		return nil, err
	}
	s := &Server{node: n}
	ctx := context.Background()
	if s.clock, err = clock.New(ctx, n.Folder()); err == nil {
		err = n.Start(ctx, s.clock.Environment()...)
	}
	if err == nil {
		s.control, err = dial(n.Port)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.proxy = stream.NewProxy(resp{}, upstream{s})
	return s, nil
}

// Version is what the server calls itself, such as "Redis 7.0.15".
func (s *Server) Version() string {
	v, err := s.control.do("INFO", "server")
	if err != nil {
		return "Redis"
	}
	_, rest, _ := strings.Cut(string(v.text), "redis_version:")
	version, _, _ := strings.Cut(rest, "\r\n")
	return "Redis " + version
}

// Listen opens an address for one client.
func (s *Server) Listen(g gate.Gate, l gate.Limits) (gate.Address, error) {
	return s.proxy.Listen(g, l, func(host string) string { return "redis://" + host + "/0" })
}

// Prefix is "": the server is nobody else's.
func (s *Server) Prefix() string { return "" }

// Ours is true.
func (s *Server) Ours() bool { return true }

// Plays reports whether a fault can be made to happen: connections have no channels.
func (s *Server) Plays(do scenario.ActionKind) bool { return do != scenario.ChannelError }

// Advance lets milliseconds pass, and waits for what the server does then.
func (s *Server) Advance(ms int64) { s.note(errors.Join(s.clock.Advance(ms), s.proxy.Settle())) }

// note keeps the first error.
func (s *Server) note(err error) { s.err = cmp.Or(s.err, err) }

// Restart stops the server and starts it again, with everything that it had.
func (s *Server) Restart() {
	_, _ = s.control.do("SHUTDOWN", "SAVE", "NOW", "FORCE") // it ends instead of an answer
	_ = s.control.close()
	ctx, cancel := context.WithTimeout(context.Background(), answerLimit)
	defer cancel()
	s.note(s.node.Ended(ctx))
	s.note(s.node.Restart(ctx))
	control, err := dial(s.node.Port)
	if s.note(err); err == nil {
		s.control = control
	}
}

// Begin begins a run.
func (s *Server) Begin(part string) {
	s.before = make(map[string]bool)
	for _, key := range s.keys() {
		s.before[key] = true
	}
	s.proxy.Begin(stream.NewNames(part))
}

// keys are all keys, by name.
func (s *Server) keys() (all []string) {
	v, err := s.control.do("KEYS", "*")
	s.note(err)
	for _, item := range v.items {
		all = append(all, string(item.text))
	}
	slices.Sort(all)
	return all
}

// sizes are the commands that say how much is in a key of each type.
var sizes = map[string]string{"list": "LLEN", "set": "SCARD", "zset": "ZCARD", "hash": "HLEN", "stream": "XLEN"}

// Items are the keys that there were not before.
func (s *Server) Items() (all []gate.Item) {
	for _, key := range s.keys() {
		if s.before[key] {
			continue
		}
		item := gate.Item{Name: key}
		if left, err := s.control.do("PTTL", key); err == nil {
			item.Lasts = int64(atoi64(left.text))
		}
		kind, err := s.control.do("TYPE", key)
		if size := sizes[string(kind.text)]; err == nil && size != "" {
			amount, _ := s.control.do(size, key)
			item.Amount = atoi(amount.text)
		}
		all = append(all, item)
	}
	return all
}

// atoi64 is a number of milliseconds, 0 where there is none.
func atoi64(b []byte) int64 {
	n, _ := strconv.ParseInt(string(b), 10, 64)
	return max(0, n)
}

// Canonical is a key's name in traces.
func (s *Server) Canonical(key string) string { return s.proxy.Names().Item(key) }

// Words are those of keys and what is in them.
func (s *Server) Words() (item, amount string) { return "key", "members" }

// Holders are not known: nothing can be declared of keys yet.
func (s *Server) Holders(holding.Declared, string, int, func(gate.Conn) uint8) []holding.Hold {
	return nil
}

// Crowds is false: each worker has a server of its own.
func (s *Server) Crowds() bool { return false }

// Remove deletes keys.
func (s *Server) Remove(keys []string) error {
	if len(keys) > 0 {
		_, err := s.control.do(append([]string{"DEL"}, keys...)...)
		s.note(err)
	}
	return s.err
}

// Disagreement is "": there is no other server beside it.
func (s *Server) Disagreement() string { return "" }

// Agreed is 0.
func (s *Server) Agreed() int { return 0 }

// Close ends the server and removes its files.
func (s *Server) Close() error {
	var errs []error
	if s.control != nil {
		errs = append(errs, s.control.close())
	}
	if s.clock != nil {
		errs = append(errs, s.clock.Close())
	}
	return errors.Join(append(errs, s.node.Stop())...)
}

// upstream is the server as the proxy needs it.
type upstream struct{ s *Server }

// Dial connects a client.
func (u upstream) Dial() (net.Conn, int64, error) {
	c, err := dial(u.s.node.Port)
	if err != nil {
		return nil, 0, err
	}
	id, err := c.do("CLIENT", "ID")
	if err != nil {
		return nil, 0, errors.Join(err, c.close())
	}
	return c.conn, atoi64(id.text), nil
}

// Waits reports whether the server has a connection blocked.
func (u upstream) Waits(id int64) (bool, error) {
	v, err := u.s.control.do("CLIENT", "LIST", "ID", strconv.FormatInt(id, 10))
	if err != nil {
		return false, err
	}
	_, rest, _ := strings.Cut(string(v.text), " flags=")
	flags, _, _ := strings.Cut(rest, " ")
	return strings.Contains(flags, "b"), nil
}

// Barrier has two commands answered one after the other: by then the server has written what it had to say.
func (u upstream) Barrier() error {
	for range 2 {
		if _, err := u.s.control.do("PING"); err != nil {
			return fmt.Errorf("waiting for our redis-server: %w", err)
		}
	}
	return nil
}

// Kill ends a connection.
func (u upstream) Kill(id int64) error {
	_, err := u.s.control.do("CLIENT", "KILL", "ID", strconv.FormatInt(id, 10))
	return err
}
