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

// ErrNoBroker is the error of [Start] if no RabbitMQ runs and none can be started.
var ErrNoBroker = errors.New("no RabbitMQ: set " + EnvURL + " or give an address such as amqp://user:password@host:5672/%2F, or install rabbitmq-server")

// missing is an error that says which program or engine for starting a broker is missing.
type missing string

func (m missing) Error() string        { return string(m) }
func (m missing) Is(target error) bool { return target == ErrNoBroker }

// Options say which broker to use.
type Options struct {
	// URL is the address of a running broker. Flag is the name of the command line flag that set URL, for errors. If
	// URL is "", Start uses the broker that LOCKPROOF_AMQP_URL names, else one at 127.0.0.1:5672, else it starts one.
	URL, Flag string

	// Restarts says that the run will restart the broker. Start then does not use a broker that it finds at
	// 127.0.0.1:5672.
	Restarts bool

	// There requires a broker that runs already: Start does not start one.
	There bool

	// Container starts a broker in a container, if there is no other broker; nil means that no container is started.
	Container container.Starter

	// Advanced is the advanced.config of a node that is started, in Erlang terms.
	Advanced string
	// Plugins are the plugins that are enabled in a node that is started.
	Plugins []string

	// Log is called with one line for each broker that is started, or that exists and is not used, with the reason. It
	// may be nil.
	Log func(string)
}

func (o Options) logf(format string, args ...any) {
	if o.Log != nil {
		o.Log(fmt.Sprintf(format, args...))
	}
}

// address is the requested URL and what requested it: the flag or the environment variable. Both are "" if there is
// none.
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
	URL     string // the virtual host is always explicit; %2F is the default one
	Version string // name and version, such as "RabbitMQ 3.10.8"
	Origin  string // how it was found or started, for reports
	Found   bool   // not named by the user, but found at 127.0.0.1:5672

	mu         sync.Mutex    // held during Restart and Stop
	own        owned         // nil if the broker was not started here, or was stopped
	registered *registration // nil if this run is not registered on the broker
	registry   string        // name of the registry's queue, for tests; "" means the default
}

// owned is a broker that this process has started.
type owned interface {
	// restart stops the broker in good order and starts it again, with its data on disk. It waits until the broker is
	// ready at the same address.
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

// Start finds a broker or starts one. It uses the requested URL; else a broker on this machine; else, unless o.There is
// set, it starts a private node or a container. A started broker runs until Stop, which the caller must call, or until
// this process ends. ctx limits only the start.
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
			failure = err // report this failure rather than a missing program
		}
	}
	return nil, failure
}

// startUsual starts a container with the default image. It is used if the user has named no image.
func startUsual(ctx context.Context, o Options) (*Broker, error) {
	b, err := StartContainer(ctx, container.Usual("rabbitmq"), o)
	if errors.Is(err, container.ErrNoEngine) {
		err = missing(err.Error())
	}
	return b, err
}

// Lacking reports whether Start would need a container. This is so if no address is given, no rabbitmq-server is
// installed, and no usable RabbitMQ answers at 127.0.0.1:5672.
func Lacking(ctx context.Context, o Options) bool {
	if url, _ := o.address(); url != "" || installed() {
		return false
	}
	_, err := find(ctx, o)
	return o.Restarts || err != nil
}

// connectTo connects to a broker that a flag or a variable, asker, has named.
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

// CanRestart reports whether Restart is possible, that is, whether this process has started the broker.
func (b *Broker) CanRestart() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.own != nil
}

// Restart stops the broker in good order and starts it again, as an administrator would. Durable queues stay, and all
// connections are lost. When Restart returns nil, the broker is ready at the same URL.
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

// Stop ends the broker if this process has started it. Otherwise it only deletes what this run has noted there and not
// yet deleted. Further calls do nothing.
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
