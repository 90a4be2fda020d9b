package rabbitmq_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/adapters/container"
	"github.com/lockproof/lockproof/adapters/container/docker"
)

// This test is skipped without a container engine, even if the environment requires a broker: that broker need not be
// in a container.
func TestContainerRestartsAndStops(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short starts no RabbitMQ")
	}
	b, err := rabbitmq.StartContainer(t.Context(), container.Usual("rabbitmq"), rabbitmq.Options{Container: docker.Start, Log: func(line string) { t.Log(line) }})
	if errors.Is(err, container.ErrNoEngine) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Stop() })
	if !b.CanRestart() || !strings.HasPrefix(b.Version, "RabbitMQ ") {
		t.Errorf("a container is %q and can restart: %v", b.Version, b.CanRestart())
	}
	wantRealRestart(t, b)
	if err := b.Stop(); err != nil {
		t.Error(err)
	}
	if left := listenersAt(b.URL); len(left) > 0 {
		t.Error("still listening: ", left)
	}
}

// inNoContainer stands for a server in a container. It is a simulated broker that counts restarts and stops.
type inNoContainer struct {
	server             *wire.Server
	restarted, stopped int
}

func (s *inNoContainer) URL() string { return s.server.URL() }

func (s *inNoContainer) Restart(context.Context) error {
	s.restarted++
	return nil
}

func (s *inNoContainer) Stop() error {
	s.stopped++
	return s.server.Close()
}

// StartContainer asks the broker for its version. Restart and Stop use the container's own methods.
func TestContainerBroker(t *testing.T) {
	var s *inNoContainer
	start := func(ctx context.Context, i container.Image, ready container.Ready) (container.Server, error) {
		server, err := wire.Listen("127.0.0.1:0", wire.Config{Backend: wire.NewSimulated(wire.SimulatedOptions{}), Gate: wire.Through{}})
		if err != nil {
			return nil, err
		}
		s = &inNoContainer{server: server}
		return s, ready(ctx, s.URL())
	}
	b, err := rabbitmq.StartContainer(t.Context(), container.Image{Name: "rabbitmq", Tag: "4.1"}, rabbitmq.Options{Container: start})
	if err != nil {
		t.Fatal(err)
	}
	if b.URL != s.URL() || !strings.HasPrefix(b.Version, "lockproof ") || b.Origin != "a container of rabbitmq:4.1" || !b.CanRestart() {
		t.Errorf("%s, %s, %s, can restart: %v", b.URL, b.Version, b.Origin, b.CanRestart())
	}
	if err := errors.Join(b.Restart(t.Context()), b.Stop(), b.Stop()); err != nil || s.restarted != 1 || s.stopped != 1 {
		t.Errorf("%v; restarted %d times, stopped %d times", err, s.restarted, s.stopped)
	}
}

// Without a named image, startUsual starts the default one. A missing container engine counts as a missing broker;
// other errors are returned as they are.
func TestContainerUsual(t *testing.T) {
	for _, failure := range []error{fmt.Errorf("%w anywhere", container.ErrNoEngine), errors.New("no such tag")} {
		var said string
		_, err := rabbitmq.StartUsual(t.Context(), rabbitmq.Options{
			Log: func(line string) { said = line },
			Container: func(context.Context, container.Image, container.Ready) (container.Server, error) {
				return nil, failure
			},
		})
		if want := "starting " + container.Usual("rabbitmq").String() + " in a container"; said != want {
			t.Errorf("%q, want %q", said, want)
		}
		if err == nil || err.Error() != failure.Error() || errors.Is(err, rabbitmq.ErrNoBroker) != errors.Is(failure, container.ErrNoEngine) {
			t.Errorf("%v: %v", failure, err)
		}
	}
}
