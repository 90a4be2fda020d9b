package adaptercheck

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/subprocess"
	"github.com/lockproof/lockproof/model/lock"
)

// Config configures a check. Command is required.
type Config struct {
	// Command is a shell command line that starts the adapter. Dir is its working directory; "" is the current one.
	Command, Dir string
	// Kind is the type of lock to check the adapter with.
	Kind lock.Kind
	// Options are options of the target, given to every client.
	Options map[string]any
	// Open opens the server that the lock uses; nil is the simulated broker.
	Open func() (gate.Server, error)
	// Limit is the maximum time for a call; 0 means [DefaultLimit].
	Limit time.Duration
	// Stderr receives the adapter's standard error; nil drops it.
	Stderr io.Writer
}

// DefaultLimit is the maximum time for a call if [Config.Limit] is 0.
const DefaultLimit = 10 * time.Second

// Mark says whether a step went well.
type Mark uint8

// The marks of a step.
const (
	Green Mark = iota
	Red
	Skipped
)

// Step is one completed step of the check.
type Step struct {
	Mark     Mark
	Client   string
	What     string // the call, for example "acquire jobs"
	Came     string
	Expected string // only if the mark is red: the expected answer
	Advice   string // only if the mark is red: what to do
}

// ErrNotStarted is the error of a check of a program that ended before its first answer.
var ErrNotStarted = errors.New("nothing was checked: the program ended before it answered initialize")

// Run checks the adapter step by step through the protocol, and calls tell after each step. green is true if no step
// was red. Run stops early if the adapter does not answer correctly any more. The error means that the adapter could
// not be checked.
func Run(ctx context.Context, c Config, tell func(Step)) (green bool, err error) {
	c.Limit = cmp.Or(c.Limit, DefaultLimit)
	w := &walk{Config: c, ctx: ctx, tell: tell, green: true}
	if w.server, err = c.open(); err != nil {
		return false, err
	}
	clock, stop := context.WithCancel(ctx)
	defer stop()
	go w.server.follow(clock) // real time passes for the server, as clients may wait by the server's clock
	w.starter = &subprocess.Starter{Command: c.Command, Dir: c.Dir, Stderr: c.Stderr, Limit: c.Limit}
	defer func() { err = errors.Join(err, w.close()) }()
	for _, name := range []string{"c1", "c2"} {
		p := &checkedClient{name: name, client: w.starter.Client(name)}
		if p.address, err = w.server.listen(); err != nil {
			return false, err
		}
		w.clients = append(w.clients, p)
	}
	w.walk()
	if w.green && ctx.Err() == nil && w.atBroker() {
		w.watch()
	}
	return w.green, cmp.Or(ctx.Err(), w.unstarted)
}

// open starts the server that the checked clients use.
func (c *Config) open() (server, error) {
	if c.atBroker() {
		return broker{wire.NewSimulated(wire.SimulatedOptions{})}, nil
	}
	s, err := c.Open()
	if err != nil {
		return nil, err
	}
	s.Begin("")
	return &gated{Server: s}, nil
}

// atBroker reports whether the server is the simulated broker, not another one.
func (c *Config) atBroker() bool { return c.Open == nil }

// walk is a check that is running.
type walk struct {
	Config
	ctx     context.Context
	tell    func(Step)
	starter *subprocess.Starter
	server  server
	clients []*checkedClient
	green   bool
	// unstarted is ErrNotStarted if nothing could be checked; otherwise nil.
	unstarted error
	token     int64 // the largest fencing token so far
	lost      bool  // the adapter no longer answers correctly
}

// checkedClient is a client of the check. Each has its own address for the server.
type checkedClient struct {
	slot    int // the slot that the client was granted; 0 if none
	name    string
	client  *subprocess.Client
	address address
	about   foreign.About
}

func (w *walk) close() error {
	var errs []error
	for _, p := range w.clients {
		errs = append(errs, p.client.Close(), p.address.Close())
	}
	return errors.Join(append(errs, w.server.close())...)
}

func (w *walk) report(s Step) {
	w.green = w.green && s.Mark != Red
	w.tell(s)
}

// begin calls initialize of a client, and checks the answer.
func (w *walk) begin(p *checkedClient) {
	s := Step{Client: p.name, What: "initialize"}
	urls, err := p.address.urls()
	if err != nil {
		w.broken(p, s, lock.NoOp, err)
		return
	}
	about, err := p.client.Initialize(w.ctx, foreign.Setup{Client: p.name, Lock: w.Kind, URLs: urls, Options: w.Options})
	p.about = about.TakenFor(w.Kind)
	if err != nil {
		if errors.As(err, new(*subprocess.ExitError)) && p == w.clients[0] && w.ctx.Err() == nil {
			w.unstarted = ErrNotStarted
		}
		w.broken(p, s, lock.NoOp, err)
		return
	}
	s.Came = strings.Join(append([]string{about.Name + ": " + words(about.Locks, lock.Kind.String), words(about.Operations, subprocess.MethodOf)}, announced(p)...), "; ")
	if !slices.Contains(about.Locks, w.Kind) {
		s.Mark, s.Expected = Red, fmt.Sprintf("%s among its locks", w.Kind)
		s.Advice = "name it in \"locks\", or say by --lock-type which one to check"
		w.lost = true
	}
	w.report(s)
}

// announced describes the optional parts of a client's answer to initialize.
func announced(p *checkedClient) []string {
	a := &p.about
	var all []string
	for _, one := range []struct {
		said bool
		what string
	}{{a.Waits, "timeouts"}, {a.Several, "several locks"}, {a.Tokens, "tokens"}, {a.Limits, "limits"}, {a.Leases, "leases"}, {a.Losses, "losses"}, {a.Modes, "modes"}, {a.Permits, "permits"}, {p.client.Forks(), "forks"}} {
		if one.said {
			all = append(all, one.what)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return []string{"with " + strings.Join(all, ", ")}
}

// broken reports a step after which the adapter cannot be called any more. op is the operation that was called, or
// NoOp.
func (w *walk) broken(p *checkedClient, s Step, op lock.Op, err error) {
	if w.ctx.Err() != nil { // the user has interrupted the check
		w.lost = true
		return
	}
	var exit *subprocess.ExitError
	s.Mark, s.Came, s.Expected = Red, err.Error(), "one JSON-RPC answer, on a line of its own"
	switch misspoken := p.address.misspoken(); {
	case misspoken != nil:
		s.Came, s.Expected = misspoken.Error(), "the protocol of the server of initialize's \"url\""
		s.Advice = "say by --server which kind of server the lock uses"
	case errors.As(err, &exit):
		s.Advice = "run the command by hand, type the call, and look why it ends"
	case errors.Is(err, context.DeadlineExceeded):
		s.Came = fmt.Sprintf("nothing within %v", w.Limit)
		s.Advice = "flush standard output after each answer, and answer by an error what takes too long"
		if op == lock.Acquire {
			s.Advice = `if it waits for the lock: answer {"held":false} instead, or say "timeouts":true and wait for no longer than the call's timeout, not at all without one`
		}
	default:
		s.Advice = "print answers to standard output and everything else to standard error"
	}
	w.lost = true
	w.report(s)
}

// call makes one call of the script, and checks the answer.
func (w *walk) call(l line) {
	p := w.clients[l.client-1]
	offers := func(op lock.Op) bool { return slices.Contains(p.about.Operations, op) }
	if l.params.Timeout > 0 && !p.about.Waits || l.more && !p.about.Slotless() || l.after != lock.NoOp && !offers(l.after) ||
		l.op == lock.Refresh && !offers(l.op) {
		return
	}
	if l.op == lock.Acquire && p.about.Limits {
		l.params.Limit = max(1, l.params.Limit)
	}
	if l.op == lock.Acquire {
		p.about.Share(&l.params, 0)
	}
	if l.op.AsksHeld() || l.op == lock.Release {
		l.params.Slot = cmp.Or(p.slot, l.params.Slot)
	}
	if l.op == lock.Refresh || l.op == lock.Acquire && p.about.Leases {
		l.params.Lease = foreign.LeaseTime
	}
	s := Step{Client: p.name, What: l.words()}
	if !offers(l.op) {
		s.Mark, s.Came = Skipped, "it does not offer "+l.op.String()
		w.report(s)
		return
	}
	ctx, cancel := context.WithTimeout(w.ctx, w.Limit)
	defer cancel()
	r, err := p.client.Do(ctx, subprocess.MethodOf(l.op), subprocess.ParamsOf(l.op, l.params))
	if err != nil {
		w.broken(p, s, l.op, err)
		return
	}
	s.Came = said(r)
	got, err := subprocess.Outcome(l.op, l.params, r)
	token, badToken := int64(0), error(nil)
	if p.about.Tokens {
		token, badToken = subprocess.TokenOf(l.op, r)
	}
	if err != nil || got.Outcome != lock.Done || got.Held != l.held || l.op == lock.Acquire && !l.fits(got.Slot, p.about.Slotless()) || got.Slots != l.slots {
		s.Mark, s.Expected, s.Advice = Red, l.expected(), w.advised(l.advice)
	} else if badToken != nil || token > 0 && token <= w.token {
		s.Mark, s.Expected, s.Advice = Red, fmt.Sprintf(`{"held":true,"slot":1,"token":n} with n from %d`, w.token+1), w.advised(fencing)
	}
	w.token = max(w.token, token)
	switch l.op {
	case lock.Acquire:
		p.slot = int(got.Slot)
	case lock.Release:
		p.slot = 0
	}
	w.report(s)
}

// unknown calls a method that does not exist, and checks that the answer is an error.
func (w *walk) unknown(p *checkedClient) {
	s := Step{Client: p.name, What: "a method that nobody has"}
	ctx, cancel := context.WithTimeout(w.ctx, w.Limit)
	defer cancel()
	r, err := p.client.Do(ctx, "no-such-method", struct{}{})
	if err != nil {
		w.broken(p, s, lock.NoOp, err)
		return
	}
	if s.Came = said(r); r.Error == nil || r.Error.Code == subprocess.CodeFailed {
		s.Mark, s.Expected = Red, "an error with the code -32601"
		s.Advice = "answer methods that you don't know by that error: later versions of the protocol may have more"
	}
	w.report(s)
}

// connected checks whether a client has connected to the server at the address that it was given.
func (w *walk) connected(p *checkedClient) {
	s := Step{Client: p.name, What: w.advised("uses the broker")}
	n := p.address.opened()
	if s.Came = fmt.Sprintf("connections so far: %d", n); n == 0 {
		s.Mark, s.Expected = Red, w.advised("at least one connection, to the broker of initialize's \"url\"")
		s.Advice = fmt.Sprintf("connect to params.url, or to the environment's %s: nothing else can be judged", w.variable(p))
	}
	w.report(s)
}

// variable returns the name of the environment variable with the server's address, such as AMQP_URL.
func (w *walk) variable(p *checkedClient) string {
	urls, err := p.address.urls()
	if err != nil || len(urls) == 0 {
		return "AMQP_URL"
	}
	name, _, _ := strings.Cut(subprocess.Addressed(urls), "=")
	return name
}

// advised adapts a text about the broker to the checked server.
func (c *Config) advised(text string) string {
	if c.atBroker() {
		return text
	}
	text, _, _ = strings.Cut(text, " (") // omit the part about a broker's clients
	return strings.ReplaceAll(text, "broker", "server")
}

// end closes a client's standard input, and checks that its process ends.
func (w *walk) end(p *checkedClient) {
	s := Step{Client: p.name, What: "end of input", Came: "the process ended"}
	before := p.address.undone()
	_ = p.client.Close() // Close returns no errors here
	switch {
	case p.client.IgnoredEnd():
		s.Mark, s.Came, s.Expected = Red, "the process went on and was made to end", "the process to end soon"
		s.Advice = "leave the loop when standard input ends, and don't wait for other threads or connections"
	case p.address.undone() > before:
		s.Mark, s.Came, s.Expected = Red, "the process deleted queues and ended", "the process to end, releasing nothing on purpose"
		if !w.atBroker() {
			s.Came = "the process sent commands and ended"
		}
		s.Advice = "don't release at exit: the end of input stands for a program that just stops"
	}
	for late := time.Now().Add(w.Limit); p.address.present() > 0 && w.ctx.Err() == nil && time.Now().Before(late); {
		time.Sleep(time.Millisecond) // the server may see the end of the client's sockets a little later
	}
	w.report(s)
}

// said returns an answer's result or error as the adapter has written it.
func said(r *subprocess.Reply) string {
	if r.Error != nil {
		return r.Error.Error()
	}
	return strings.Join(strings.Fields(string(r.Result)), " ")
}

func words[T any](list []T, word func(T) string) string {
	var out []string
	for _, w := range list {
		out = append(out, word(w))
	}
	return strings.Join(out, ", ")
}
