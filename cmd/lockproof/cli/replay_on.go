package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/container"
	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/cmd/lockproof/servers"
	"github.com/lockproof/lockproof/histories/safetext"
	"github.com/lockproof/lockproof/model/lock"
)

// kindOfServer describes a kind of server, for example Redis, on which a counterexample can be replayed by --on.
type kindOfServer struct {
	backend string
	title   string
	names   []string // values of --on that mean a server to be found; the first is also the name of its image
	schemes []string
	usual   string // default address of the server
}

// others are the kinds of servers besides RabbitMQ.
var others = []kindOfServer{
	{"redis", "Redis", []string{"redis"}, []string{"redis", "rediss"}, "redis://127.0.0.1:6379/0"},
	{"mariadb", "MariaDB", []string{"mariadb", "mysql"}, []string{"mysql", "mariadb"}, "mysql://root@127.0.0.1:3306/"},
	{"postgres", "PostgreSQL", []string{"postgres", "postgresql"}, []string{"postgres", "postgresql"}, "postgres://postgres@127.0.0.1:5432/postgres"},
	{"consul", "Consul", []string{"consul"}, []string{"consul", "http", "https"}, "http://127.0.0.1:8500"},
}

// otherOf returns the kind of server for a backend; nil if there is none.
func otherOf(backend string) *kindOfServer {
	for i := range others {
		if others[i].backend == backend {
			return &others[i]
		}
	}
	return nil
}

// handedOver reports whether the server that --on names needs another program: for its driver, or to start an image.
func (k *kindOfServer) handedOver(on string) bool {
	_, image := container.Parse(on)
	return finders[k.backend] == nil || image && containers == nil
}

// find finds a server at an address, or at the default address if it is "". If the address is an image, it starts the
// server in a container, which runs until the command ends.
func (k *kindOfServer) find(c *cobra.Command, address string) (servers.Server, error) {
	if i, ok := container.Parse(address); ok {
		var err error
		if address, err = k.inContainer(c, i); err != nil {
			return nil, err
		}
	}
	s, err := finders[k.backend](c.Context(), address)
	if err == nil {
		atEnd(c, s.Close)
	}
	return s, err
}

// address returns the address or image in --on. It is "" if --on only names the kind of server, which then must be
// found. The error is for a server of another kind.
func (k *kindOfServer) address(target, on string) (string, error) {
	if slices.Contains(k.names, on) {
		return "", nil
	}
	if scheme, _, ok := strings.Cut(on, "://"); ok && slices.Contains(k.schemes, scheme) {
		return on, nil
	}
	usual := container.Usual(k.names[0])
	if i, ok := container.Parse(on); ok && i.Name == usual.Name {
		return on, nil
	}
	return "", fmt.Errorf("%s stands on %s: expected --on %s, an image such as %v, or an address such as %s", target, k.title, usual.Name, usual, k.usual)
}

// kindNamed returns the kind of server that --on names; nil if it is not in others.
func kindNamed(on string) *kindOfServer {
	for i := range others {
		if _, err := others[i].address("", on); err == nil {
			return &others[i]
		}
	}
	return nil
}

// beyondExec returns the error for --on with an external program, which says what to do instead.
func (k *kindOfServer) beyondExec(on string) error {
	return fmt.Errorf("--on %s with --exec: expected --server %s, which starts servers here that have a clock of ours", on, k.backend)
}

// Ends of error messages about a lock that uses no broker. They say what to do instead.
const (
	unreplayed = "no counterexample is replayed on a real one: leave --on out for the simulated one"
	unstressed = "prove puts locks on a broker alone under stress: leave --on out, or measure a real one with `lockproof compare`"
)

// elsewhere returns an error for --on if the lock's server is not a broker, for commands that support brokers only.
func (f *onFlags) elsewhere(backend, what, instead string) error {
	b, err := lock.BackendNamed(backend)
	if err != nil || b.Words.Server == "broker" {
		return nil
	}
	return fmt.Errorf("--on %s: %s stands on %s, and %s", f.on, what, b.Title, instead)
}

// replayOn replays a counterexample on a real server of its kind, and reports how the server's replies differ.
func replayOn(c *cobra.Command, kind *kindOfServer, on *onFlags, w io.Writer, r *engine.Replayed) error {
	url, err := kind.address(r.Target.Name, on.on)
	if err != nil {
		return err
	}
	server, err := kind.find(c, url)
	if err != nil {
		return err
	}
	real, err := server.Replay(c.Context(), r.Trace)
	if err != nil {
		return err
	}
	r.Server = real.Server
	fmt.Fprintln(safetext.NewWriter(w), real)
	switch {
	case real.Skipped != "":
		return fmt.Errorf("replaying on %s: skipped: %s", real.Server, real.Skipped)
	case r.Violation == nil || !real.Reproduces(*r.Violation):
		return nil
	}
	fmt.Fprintf(w, "%s: reproduced: %s\n", r.Violation.Property, safetext.Escape(r.Violation.Explain()))
	return errViolated
}
