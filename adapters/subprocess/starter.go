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

// Starter starts clients as processes, by a command line. It implements [foreign.Starter].
type Starter struct {
	// Command is a shell command line, such as "python3 my_adapter.py".
	Command string
	// Dir is the command's working directory; "" is the current one.
	Dir string
	// Env are additional environment variables for the clients, as NAME=value.
	Env []string
	// Stderr receives the clients' standard error, without control characters and up to a limit for each process. nil
	// drops it. Stderr is not written concurrently.
	Stderr io.Writer
	// Limit is the maximum time for a program to answer the first call; 0 means [DefaultLimit].
	Limit time.Duration
	// Parallel lets programs choose how many processors they use. Otherwise Go programs use one, unless GOMAXPROCS is
	// set. When a schedule lets one client run at a time, looking for work on other processors would take a third of
	// a Go client's time.
	Parallel bool

	showing sync.Mutex
	// told holds the standard error of clients that ended without an answer, so that the same text is shown only
	// once.
	told map[string]bool

	mu       sync.Mutex
	forks    bool      // the starter's programs have declared that they can fork
	template *template // process that forks clients; nil if there is none
	alive    int       // number of processes that are clients or were prepared as clients
	marked   string    // the result of mark; "" before its first call
}

// DefaultLimit is the maximum time for the first answer if [Starter.Limit] is 0.
const DefaultLimit = 20 * time.Second

// Start makes a client. Its process starts with the first call, since the process gets the broker's address in its
// environment.
func (s *Starter) Start(_ context.Context, number int) (foreign.Client, error) {
	return s.Client(fmt.Sprintf("c%d", number)), nil
}

// Prepare starts a process for a client whose number is not known yet. It implements [foreign.Preparer].
func (s *Starter) Prepare(ctx context.Context, in foreign.Setup) (foreign.Client, error) {
	c := s.Client("a client that stands ready")
	if err := c.start(ctx, in); err != nil {
		return nil, err
	}
	return c, nil
}

// Client makes a client, as Start does, with all the methods of [Client]. name is the client's name in errors.
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

// Write implements [io.Writer]. It passes a client's standard error on to Stderr.
func (s *Starter) Write(p []byte) (int, error) {
	s.showing.Lock()
	defer s.showing.Unlock()
	return s.Stderr.Write(p)
}

// mostTold is the maximum number of texts in told.
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

// early holds back a client's standard error until the client has answered. If several clients fail at their start
// with the same text, the text is shown only once.
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

// answered shows what was held back. From then on, everything is shown at once. It does nothing if e is nil.
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

// over is called when a client has ended without an answer. It shows what was held back, unless the same text was
// shown before.
func (e *early) over() {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.starter.writeOnce(e.held)
	e.held = nil
}

// limit returns the maximum time for a program to answer the first call.
func (s *Starter) limit() time.Duration { return cmp.Or(s.Limit, DefaultLimit) }

// start starts a client's process with the additional environment env. If env is empty, the template may fork the
// process instead.
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

// Addressed returns the setting NAME=value of an environment variable with the servers' addresses, separated by
// commas. The variable is, for example, AMQP_URL or REDIS_URL.
func Addressed(urls []string) string {
	scheme, _, _ := strings.Cut(urls[0], ":")
	return strings.ToUpper(scheme) + "_URL=" + strings.Join(urls, ",")
}

// command starts a process by the command line. more are additional environment variables.
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

// over is called when a process has ended that was a client or was prepared as one.
func (s *Starter) over() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alive--
	s.unneeded()
	if s.alive == 0 {
		s.endDetached()
	}
}

// unneeded ends the template when no client's process is left.
func (s *Starter) unneeded() {
	if s.alive == 0 && s.template != nil {
		s.template.end()
		s.template = nil
	}
}
