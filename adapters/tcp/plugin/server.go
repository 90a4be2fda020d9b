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

// Env names the environment variable that says which server: an address, or a command that starts one.
const Env = "LOCKPROOF_TCP"

// portHere stands in a command for the port that the server is to listen on.
const portHere = "{port}"

func init() { lock.RegisterServer("tcp", "a server", lock.Words{Hold: "what its protocol says"}) }

// Server is a server of any kind behind the gate.
type Server struct {
	gate.Private
	process *process.Process // nil where it runs already
	command string
	prefix  string
	up      *upstream
	proxy   *stream.Proxy
	names   *stream.Names
	failure error // of what could not be done
}

var (
	_ gate.Server = (*Server)(nil)
	_ gate.Unseen = (*Server)(nil)
)

// named is what the environment names: an address of a server that runs, or a command.
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

// Shared reports whether the server runs already, so that everybody has the same one.
func Shared() bool {
	address, _, err := named()
	return err == nil && address != ""
}

// Name is what the server is called.
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

// Open is the way to a server that runs, or starts one.
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

// start starts a server in a folder of its own.
func (s *Server) start() (address string, err error) {
	if s.process, err = process.New("tcp", ""); err != nil {
		return "", err
	}
	if err = s.boot(); err != nil {
		return "", errors.Join(fmt.Errorf("%s: %w", Env, err), s.process.Remove())
	}
	return s.at(), nil
}

// at is where a server that was started here listens.
func (s *Server) at() string { return "127.0.0.1:" + strconv.Itoa(s.process.Port) }

// boot starts the process, and waits until it takes connections.
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

// Unseen says what is not known of the server.
func (s *Server) Unseen() string { return Unseen() }

// Unseen says what is not known of a server of which nothing is.
func Unseen() string {
	said := "what the server has is not seen, its time is its own, and a command without an answer within " + answerTime.String() + " counts as one that waits"
	if Shared() {
		said += "; the server was there before, and keeps what is left there"
	}
	return said
}

// Prefix begins the names of locks on a server that others may use.
func (s *Server) Prefix() string { return s.prefix }

// Ours is false: nobody knows what time is there.
func (s *Server) Ours() bool { return false }

// Plays reports whether a fault can be made to happen: connections have no channels, and who has not started a server does not restart
// it.
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

// Items are not known.
func (s *Server) Items() []gate.Item { return nil }

// Canonical is an item's name in traces.
func (s *Server) Canonical(item string) string { return s.names.Item(item) }

// Words are those of items, which there are not.
func (s *Server) Words() (item, amount string) { return "item", "" }

// Remove has nothing to delete.
func (s *Server) Remove([]string) error { return s.failure }

// Close ends the server if it was started here.
func (s *Server) Close() error {
	if s.process == nil {
		return nil
	}
	return s.process.Remove()
}
