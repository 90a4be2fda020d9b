package rabbitmq

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/lockproof/lockproof/adapters/container"
)

// EnvURL names the environment variable that says where a RabbitMQ is.
const EnvURL = "LOCKPROOF_AMQP_URL"

// ErrNoBroker is what [Start] returns when there is no RabbitMQ and nothing to start one with.
var ErrNoBroker = errors.New("no RabbitMQ: set " + EnvURL + " or give an address such as amqp://user:password@host:5672/%2F, or install rabbitmq-server")

// missing says that one of the things that a broker can be started with is not there.
type missing string

func (m missing) Error() string        { return string(m) }
func (m missing) Is(target error) bool { return target == ErrNoBroker }

// Options say which broker to use.
type Options struct {
	// URL is the address of a broker that runs already, and Flag where it was given, for errors. Empty means the
	// one that LOCKPROOF_AMQP_URL names, and without that one at 127.0.0.1:5672, or else a broker of our own.
	URL, Flag string

	// Restarts says that the broker will be restarted: one that is merely found is passed over.
	Restarts bool

	// There has a broker be used that is there already: none is started.
	There bool

	// Container starts a broker in a container, if there is no other. Nil has none be started.
	Container container.Starter

	// Advanced is an advanced.config for a node of our own, in Erlang's terms.
	Advanced string
	// Plugins are those that it enables.
	Plugins []string

	// Log is called with what is being started and why something was passed over, one line a call. It may be nil.
	Log func(string)
}

func (o Options) logf(format string, args ...any) {
	if o.Log != nil {
		o.Log(fmt.Sprintf(format, args...))
	}
}

// address is the URL that was asked for, and who asked; both empty when nobody did.
func (o Options) address() (url, asker string) {
	if o.URL != "" {
		return o.URL, cmp.Or(o.Flag, "the address given")
	}
	if url = os.Getenv(EnvURL); url != "" {
		return url, EnvURL
	}
	return "", ""
}

// Broker is a RabbitMQ that is ready for clients.
type Broker struct {
	URL     string // where; the virtual host is always written out, %2F for the default one
	Version string // what it calls itself, such as "RabbitMQ 3.10.8"
	Origin  string // where it came from, for people to read
	Found   bool   // nobody named it: it was at the usual address

	mu         sync.Mutex    // one Restart or Stop at a time
	own        owned         // nil when somebody else started it, or it was stopped
	registered *registration // nil where it keeps no account of this run
	registry   string        // another registry's name, for tests; "" is the usual one
}

// owned is a broker that we started.
type owned interface {
	// restart ends the broker in good order, starts it again with what it kept on disk, and waits
	// until it is ready at its old address.
	restart(ctx context.Context) error
	// stop ends the broker and removes every trace of it.
	stop() error
}

// String is the broker as reports have it: what it calls itself, where it is, and how we came by it if nobody named
// it.
func (b *Broker) String() string {
	said := b.Version + " at " + address(b.URL)
	switch {
	case b.CanRestart():
		return said + " (started)"
	case b.Found:
		return said + " (found)"
	}
	return said
}

// Start finds a broker or starts one: the requested URL, otherwise a broker on this machine, otherwise, unless one
// has to be there already, a private node or a container. A started broker lives until Stop, which the caller has to
// call, or until the process ends in any way; ctx bounds only the start.
func Start(ctx context.Context, o Options) (*Broker, error) {
	if url, asker := o.address(); url != "" {
		return connectTo(ctx, url, asker)
	}
	failure := ErrNoBroker
	ways := []func(context.Context, Options) (*Broker, error){find, StartNode}
	if o.Container != nil {
		ways = append(ways, startUsual)
	}
	switch {
	case o.Restarts:
		ways = ways[1:]
	case o.There:
		ways = ways[:1]
	}
	for _, start := range ways {
		b, err := start(ctx, o)
		if err == nil || ctx.Err() != nil {
			return b, err
		}
		o.logf("%v", err)
		if !errors.Is(err, ErrNoBroker) {
			failure = err // what is there but does not work is worth more words than what is missing
		}
	}
	return nil, failure
}

// startUsual starts a container of the image for whoever names none.
func startUsual(ctx context.Context, o Options) (*Broker, error) {
	b, err := StartContainer(ctx, container.Usual("rabbitmq"), o)
	if errors.Is(err, container.ErrNoEngine) {
		err = missing(err.Error())
	}
	return b, err
}

// Lacking reports that Start has neither a broker at the usual address nor a rabbitmq-server to start, and nobody has
// named one.
func Lacking(ctx context.Context, o Options) bool {
	if url, _ := o.address(); url != "" || installed() {
		return false
	}
	_, err := find(ctx, o)
	return o.Restarts || err != nil
}

// connectTo makes sure that the broker somebody named is there.
func connectTo(ctx context.Context, address, asker string) (*Broker, error) {
	url, err := checkURL(address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", asker, err)
	}
	version, err := greet(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("%s: connecting to %s: %w; or leave %s out", asker, redact(url), unreached(err), asker)
	}
	return &Broker{URL: url, Version: version, Origin: "the broker that " + asker + " names"}, nil
}

// CanRestart reports whether Restart can work: whether we started this broker.
func (b *Broker) CanRestart() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.own != nil
}

// Restart stops the broker in good order and starts it again, as an administrator would: what is
// durable stays, every connection is lost. When it returns nil the broker is ready, at the same URL.
func (b *Broker) Restart(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.own == nil {
		return fmt.Errorf("restarting %s (%s): only a broker that was started here can be restarted; name none, and leave %s out, to have one started", redact(b.URL), b.Origin, EnvURL)
	}
	if err := b.own.restart(ctx); err != nil {
		return fmt.Errorf("restarting %s: %w", b.Origin, err)
	}
	return nil
}

// Stop ends the broker if we started it, and leaves any other alone, but for what was noted and has not been deleted.
// Stopping again does nothing.
func (b *Broker) Stop() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r := b.registered; r != nil {
		b.registered = nil
		if err := r.leave(); err != nil {
			return fmt.Errorf("tidying up on %s: %w", b.Version, err)
		}
	}
	if b.own == nil {
		return nil
	}
	own := b.own
	b.own = nil
	if err := own.stop(); err != nil {
		return fmt.Errorf("stopping %s: %w", b.Origin, err)
	}
	return nil
}
