package subprocess

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/histories/safetext"
	"github.com/lockproof/lockproof/histories/secret"
)

// Starter starts clients from a command line. It implements [foreign.Starter].
type Starter struct {
	// Command is a shell command line, such as "python3 my_adapter.py".
	Command string
	// Dir is the command's working directory; "" is the current one.
	Dir string
	// Env is added to the environment of this process, as NAME=value.
	Env []string
	// Stderr receives the clients' standard error, up to a bound for each process and without control characters; nil drops
	// it. Writes to Stderr do not overlap.
	Stderr io.Writer
	// Limit is how long a program may take to answer the first call; 0 is [DefaultLimit].
	Limit time.Duration
	// Parallel lets programs choose their number of processors. Otherwise Go programs run on one, unless GOMAXPROCS is set.
	// Under a schedule one client works at a time, and looking for work on other processors takes a third of a Go client's
	// time.
	Parallel bool

	showing sync.Mutex
	// told are the standard error texts of clients that never answered: each text is shown once.
	told map[string]bool

	mu       sync.Mutex
	forks    bool      // its programs declare that they fork
	template *template // nil if there is none
	alive    int       // processes that are clients, or may become clients
	marked   string    // see mark
}

// DefaultLimit is the default of [Starter.Limit].
const DefaultLimit = 20 * time.Second

// Start makes a client. Its process starts with the first call, as its environment contains the address of the broker.
func (s *Starter) Start(_ context.Context, number int) (foreign.Client, error) {
	return s.Client(fmt.Sprintf("c%d", number)), nil
}

// Prepare starts a process before it is known which client it will be. It implements [foreign.Preparer].
func (s *Starter) Prepare(ctx context.Context, in foreign.Setup) (foreign.Client, error) {
	c := s.Client("a client that stands ready")
	if err := c.start(ctx, in); err != nil {
		return nil, err
	}
	return c, nil
}

// Client is Start for callers that need the methods of [Client]. name is the client's name in errors.
func (s *Starter) Client(name string) *Client {
	c := &Client{starter: s, name: name, last: "start", settled: make(chan struct{})}
	c.secrets.AddCommand(s.Command)
	c.stderr.secrets = &c.secrets
	if s.Stderr != nil {
		c.early = &early{starter: s}
		c.stderr.to = safetext.NewWriter(c.early)
	}
	return c
}

// Write shows the standard error of a client.
func (s *Starter) Write(p []byte) (int, error) {
	s.showing.Lock()
	defer s.showing.Unlock()
	return s.Stderr.Write(p)
}

// mostTold is the maximum number of different texts that told remembers.
const mostTold = 100

// writeOnce shows the standard error of a client that never answered, unless the same text was shown before.
func (s *Starter) writeOnce(p []byte) {
	s.showing.Lock()
	defer s.showing.Unlock()
	if len(p) == 0 || s.told[string(p)] || len(s.told) >= mostTold {
		return
	}
	if s.told == nil {
		s.told = make(map[string]bool)
	}
	s.told[string(p)] = true
	_, _ = s.Stderr.Write(p)
}

// early holds a client's standard error back until the client has answered: if several clients fail to start with the same
// text, it is shown once.
type early struct {
	starter *Starter

	mu   sync.Mutex
	open bool
	held []byte
}

// Write implements [io.Writer].
func (e *early) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.open {
		return e.starter.Write(p)
	}
	e.held = append(e.held, p...)
	return len(p), nil
}

// answered shows what was held back; from now on everything is shown at once. It does nothing if e is nil.
func (e *early) answered() {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.open && len(e.held) > 0 {
		_, _ = e.starter.Write(e.held)
	}
	e.open, e.held = true, nil
}

// over shows what was held back of a client that has ended without an answer, unless the same text was shown before.
func (e *early) over() {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.starter.writeOnce(e.held)
	e.held = nil
}

// limit is how long a program may take to answer the first call.
func (s *Starter) limit() time.Duration { return cmp.Or(s.Limit, DefaultLimit) }

// start starts the process of a client, with the additional environment env. If env is empty, the process may be forked by
// the template.
func (s *Starter) start(ctx context.Context, urls, env []string) (child *child, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(env) == 0 {
		child, err = s.forked(ctx, urls)
	}
	if child == nil && err == nil {
		child, err = s.command(urls, env...)
	}
	if err != nil {
		s.unneeded()
		return nil, err
	}
	s.alive++
	child.over = s.over
	return child, nil
}

// Addressed is the environment variable with the addresses of the servers, such as AMQP_URL or REDIS_URL, with commas
// between several.
func Addressed(urls []string) string {
	scheme, _, _ := strings.Cut(urls[0], ":")
	return strings.ToUpper(scheme) + "_URL=" + strings.Join(urls, ",")
}

// command starts the command.
func (s *Starter) command(urls []string, more ...string) (*child, error) {
	env := append(os.Environ(), Addressed(urls))
	if _, set := os.LookupEnv("GOMAXPROCS"); !set && !s.Parallel {
		env = append(env, "GOMAXPROCS=1")
	}
	env = append(append(append(env, s.Env...), more...), s.marking())
	child, err := startChild(s.Command, s.Dir, env)
	if err != nil {
		return nil, fmt.Errorf("starting %q: %w", secret.HideCommand(s.Command), err)
	}
	return child, nil
}

// over is called when a process has ended that was a client, or was prepared.
func (s *Starter) over() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alive--
	s.unneeded()
	if s.alive == 0 {
		s.endDetached()
	}
}

// unneeded ends the template if no process exists that it has forked or is forking.
func (s *Starter) unneeded() {
	if s.alive == 0 && s.template != nil {
		s.template.end()
		s.template = nil
	}
}
