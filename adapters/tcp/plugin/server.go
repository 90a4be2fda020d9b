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

// Env names the environment variable with the server: an address, or a command that starts one.
const Env = "LOCKPROOF_TCP"

// portHere is the placeholder, in a command, for the port that the server should listen on.
const portHere = "{port}"

func init() { lock.RegisterServer("tcp", "a server", lock.Words{Hold: "what its protocol says"}) }

// Server is a server of any kind behind the gate.
type Server struct {
	gate.Private
	process *process.Process // nil if it was running already
	command string
	prefix  string
	up      *upstream
	proxy   *stream.Proxy
	names   *stream.Names
	failure error // the first error
}

var (
	_ gate.Server = (*Server)(nil)
	_ gate.Unseen = (*Server)(nil)
)

// named is what the environment variable contains: the address of a running server, or a command.
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

// Name is the name of the server in reports.
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

// Open is a proxy to a running server, or starts one.
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

// start starts a server in its own folder.
func (s *Server) start() (address string, err error) {
	if s.process, err = process.New("tcp", ""); err != nil {
		return "", err
	}
	if err = s.boot(); err != nil {
		return "", errors.Join(fmt.Errorf("%s: %w", Env, err), s.process.Remove())
	}
	return s.at(), nil
}

// at is the address of a server that was started here.
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

// Listen opens an address for one client.
func (s *Server) Listen(g gate.Gate, l gate.Limits) (gate.Address, error) {
	a, err := s.proxy.Listen(g, l, func(host string) string { return "tcp://" + host })
	if err != nil {
		return nil, err
	}
	return stream.Addresses{a}, nil
}

// Unseen says what is unknown about the server.
func (s *Server) Unseen() string { return Unseen() }

// Unseen says what is unknown about a server whose protocol is unknown.
func Unseen() string {
	said := "what the server has is not seen, its time is its own, and a command without an answer within " + answerTime.String() + " counts as one that waits"
	if Shared() {
		said += "; the server was there before, and keeps what is left there"
	}
	return said
}

// Prefix begins the names of locks on a server that others may use.
func (s *Server) Prefix() string { return s.prefix }

// Ours is false: the server's time is not virtual.
func (s *Server) Ours() bool { return false }

// Plays reports whether the server supports a fault: connections have no channels, and only a server that was started here
// can be restarted.
func (s *Server) Plays(do scenario.ActionKind) bool {
	return do != scenario.ChannelError && (do != scenario.Restart || s.process != nil)
}

// Advance does nothing.
func (s *Server) Advance(int64) {}

// Restart ends the server and starts it again, in the same folder.
func (s *Server) Restart() {
	s.process.End(syscall.SIGTERM)
	s.failure = cmp.Or(s.failure, s.boot())
}

// Begin begins a run.
func (s *Server) Begin(part string) {
	s.names = stream.NewNames(part)
	s.proxy.Begin(s.names)
}

// Items is nil: they are unknown.
func (s *Server) Items() []gate.Item { return nil }

// Canonical is an item's name in traces.
func (s *Server) Canonical(item string) string { return s.names.Item(item) }

// Words are the word item, and "": no items are known.
func (s *Server) Words() (item, amount string) { return "item", "" }

// Remove deletes nothing. It returns the first error of the server.
func (s *Server) Remove([]string) error { return s.failure }

// Close ends the server if it was started here.
func (s *Server) Close() error {
	if s.process == nil {
		return nil
	}
	return s.process.Remove()
}
