package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/gate/process"
	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/histories/secret"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// Env names the environment variable for the server: its value is an address, or a command that starts the server.
const Env = "LOCKPROOF_TCP"

// portHere is the placeholder, in a command, for the port that the server should listen on.
const portHere = "{port}"

func init() { lock.RegisterServer("tcp", "a server", lock.Words{Hold: "what its protocol says"}) }

// Server is a server of any kind behind the gate.
type Server struct {
	gate.Private
	process *process.Process // process of the server; nil if lockproof did not start it
	command string
	prefix  string
	up      *upstream
	proxy   *stream.Proxy
	names   *stream.Names
	failure error // the first error that occurred
}

var (
	_ gate.Server = (*Server)(nil)
	_ gate.Unseen = (*Server)(nil)
)

// named returns the value of the environment variable: the address of a running server, or a command.
func named() (address, command string, err error) {
	text := strings.TrimSpace(os.Getenv(Env))
	if strings.Contains(text, portHere) {
		return "", text, nil
	}
	address = strings.TrimPrefix(text, "tcp://")
	_, port, err := net.SplitHostPort(address)
	if n, _ := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return "", "", fmt.Errorf("%s is %q: expected the address of a server that runs, such as 127.0.0.1:7000, or a command that starts one, such as 'my-server --port %s'", Env, text, portHere)
	}
	return address, "", nil
}

// Shared reports whether the server is already running, so that all runs use the same one.
func Shared() bool {
	address, _, err := named()
	return err == nil && address != ""
}

// Name returns the server's name in reports.
func Name() (string, error) {
	address, command, err := named()
	if err != nil {
		return "", err
	}
	if command != "" {
		return secret.Command(command), nil
	}
	conn, err := net.DialTimeout("tcp", address, dialLimit)
	if err != nil {
		return "", fmt.Errorf("nobody listens at %s, which %s names: %w", address, Env, err)
	}
	return "tcp://" + address, conn.Close()
}

// Open returns a proxy to the running server, or starts the server.
func Open(servers int) (gate.Server, error) {
	if servers != 1 {
		return nil, fmt.Errorf("%d servers of a kind that is not known: expected one", servers)
	}
	address, command, err := named()
	if err != nil {
		return nil, err
	}
	s := &Server{command: command, names: stream.NewNames("")}
	if command == "" {
		s.prefix = stress.Prefix()
	} else if address, err = s.start(); err != nil {
		return nil, err
	}
	s.up = newUpstream(address)
	s.proxy = stream.NewProxy(protocol{}, s.up, 0)
	return s, nil
}

// start prepares and starts the server in a folder of its own.
func (s *Server) start() (address string, err error) {
	if s.process, err = process.New("tcp", ""); err != nil {
		return "", err
	}
	if err = s.boot(); err != nil {
		return "", errors.Join(fmt.Errorf("%s: %w", Env, err), s.process.Remove())
	}
	return s.at(), nil
}

// at returns the address of the server that lockproof started.
func (s *Server) at() string { return "127.0.0.1:" + strconv.Itoa(s.process.Port) }

// boot starts the process, and waits until it accepts connections.
func (s *Server) boot() error {
	answers := func() error {
		conn, err := net.DialTimeout("tcp", s.at(), dialLimit)
		if err != nil {
			return err
		}
		return conn.Close()
	}
	line := "exec " + strings.ReplaceAll(s.command, portHere, strconv.Itoa(s.process.Port))
	return s.process.Start(context.Background(), answers, nil, "/bin/sh", "-c", line)
}

// Listen opens an address at which one client finds the server.
func (s *Server) Listen(g gate.Gate, l gate.Limits) (gate.Address, error) {
	a, err := s.proxy.Listen(g, l, func(host string) string { return "tcp://" + host })
	if err != nil {
		return nil, err
	}
	return stream.Addresses{a}, nil
}

// Unseen implements [gate.Unseen].
func (s *Server) Unseen() string { return Unseen() }

// Unseen describes what lockproof cannot see of a server whose protocol is unknown.
func Unseen() string {
	said := "what the server has is not seen, its time is its own, and a command without an answer within " + answerTime.String() + " counts as one that waits"
	if Shared() {
		said += "; the server was there before, and keeps what is left there"
	}
	return said
}

// Prefix returns the prefix of the locks' names, which separates this run from others on the same server.
func (s *Server) Prefix() string { return s.prefix }

// Ours returns false, since the server's time is not virtual.
func (s *Server) Ours() bool { return false }

// Plays reports whether the gate can cause a fault. It cannot close channels, which connections do not have, and can
// restart only a server that lockproof started.
func (s *Server) Plays(do scenario.ActionKind) bool {
	return do != scenario.ChannelError && (do != scenario.Restart || s.process != nil)
}

// Advance does nothing, since the server's time is not virtual.
func (s *Server) Advance(int64) {}

// Restart stops the server and starts it again, in the same folder.
func (s *Server) Restart() {
	s.process.End(syscall.SIGTERM)
	s.failure = cmp.Or(s.failure, s.boot())
}

// Begin begins a run. The names of the run's locks contain part.
func (s *Server) Begin(part string) {
	s.names = stream.NewNames(part)
	s.proxy.Begin(s.names)
}

// Items returns nil, since the server's items are unknown.
func (s *Server) Items() []gate.Item { return nil }

// Canonical returns an item's name as traces show it.
func (s *Server) Canonical(item string) string { return s.names.Item(item) }

// Words returns the word for an item. The word for an amount is "", since no items are known.
func (s *Server) Words() (item, amount string) { return "item", "" }

// Remove deletes nothing, since no items are known. It returns the first error that occurred.
func (s *Server) Remove([]string) error { return s.failure }

// Close stops the server if lockproof started it.
func (s *Server) Close() error {
	if s.process == nil {
		return nil
	}
	return s.process.Remove()
}
