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

// EnvURL names the environment variable with the address of a RabbitMQ.
const EnvURL = "LOCKPROOF_AMQP_URL"

// ErrNoBroker is the error of [Start] if there is no RabbitMQ and nothing to start one with.
var ErrNoBroker = errors.New("no RabbitMQ: set " + EnvURL + " or give an address such as amqp://user:password@host:5672/%2F, or install rabbitmq-server")

// missing is the error for something missing that a broker could be started with.
type missing string

func (m missing) Error() string        { return string(m) }
func (m missing) Is(target error) bool { return target == ErrNoBroker }

// Options say which broker to use.
type Options struct {
	// URL is the address of a running broker. Flag names the flag that gave it, for errors. If URL is empty, the broker is
	// the one that LOCKPROOF_AMQP_URL names, else the one at 127.0.0.1:5672, else one that is started.
	URL, Flag string

	// Restarts says that the broker will be restarted: a broker that was merely found is then not used.
	Restarts bool

	// There requires an existing broker: none is started.
	There bool

	// Container starts a broker in a container, if there is no other. If it is nil, no container is started.
	Container container.Starter

	// Advanced is an advanced.config for a node that is started, in Erlang terms.
	Advanced string
	// Plugins are the plugins that a started node enables.
	Plugins []string

	// Log is called with what is being started, and why something was not used, in one line. It may be nil.
	Log func(string)
}

func (o Options) logf(format string, args ...any) {
	if o.Log != nil {
		o.Log(fmt.Sprintf(format, args...))
	}
}

// address is the requested URL, and who requested it; both are empty if there is none.
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
	URL     string // its virtual host is always explicit, %2F for the default one
	Version string // its name and version, such as "RabbitMQ 3.10.8"
	Origin  string // describes where it came from
	Found   bool   // it was not named, but found at the usual address

	mu         sync.Mutex    // for Restart and Stop
	own        owned         // nil if it was not started here, or was stopped
	registered *registration // nil if this run is not registered
	registry   string        // name of another registry, for tests; "" is the default
}

// owned is a broker that was started here.
type owned interface {
	// restart ends the broker in good order, starts it again with its data on disk, and waits until it is ready at its old
	// address.
	restart(ctx context.Context) error
	// stop ends the broker and removes all its files.
	stop() error
}

// String describes the broker in reports: its name and version, its address, and where it came from if it was not named.
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

// Start finds a broker or starts one: the requested URL; otherwise a broker on this machine; otherwise a private node or a
// container, unless o.There is set. A started broker lives until Stop, which the caller has to call, or until the process
// ends in any way; ctx bounds only the start.
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
			failure = err // something that exists and fails is reported rather than what is missing
		}
	}
	return nil, failure
}

// startUsual starts a container with the default image, if no image is named.
func startUsual(ctx context.Context, o Options) (*Broker, error) {
	b, err := StartContainer(ctx, container.Usual("rabbitmq"), o)
	if errors.Is(err, container.ErrNoEngine) {
		err = missing(err.Error())
	}
	return b, err
}

// Lacking reports that Start finds no broker at the usual address and no rabbitmq-server to start, and that no broker was
// named.
func Lacking(ctx context.Context, o Options) bool {
	if url, _ := o.address(); url != "" || installed() {
		return false
	}
	_, err := find(ctx, o)
	return o.Restarts || err != nil
}

// connectTo checks that a named broker is available.
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

// CanRestart reports whether Restart can work: whether this broker was started here.
func (b *Broker) CanRestart() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.own != nil
}

// Restart stops the broker in good order and starts it again, as an administrator would: durable things stay, and every
// connection is lost. When it returns nil the broker is ready, at the same URL.
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

// Stop ends the broker if it was started here. From any other broker it only deletes what was noted and not yet deleted.
// Further calls do nothing.
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
