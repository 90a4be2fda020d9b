package rabbitmq_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
)

// Without Docker this is skipped even where a broker is required: any other broker will do there.
func TestContainerRestartsAndStops(t *testing.T) {
	b, err := rabbitmq.StartContainer(t.Context(), rabbitmq.Options{Log: func(line string) { t.Log(line) }})
	if errors.Is(err, rabbitmq.ErrNoBroker) {
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

// TestDockerHost: the host at which a broker is looked for, by the address of Docker.
func TestDockerHost(t *testing.T) {
	for address, want := range map[string]string{
		"unix:///var/run/docker.sock": "127.0.0.1", "npipe:////./pipe/docker_engine": "127.0.0.1", "tcp://localhost:2375": "127.0.0.1",
		"tcp://docker:2375": "docker", "ssh://me@far.example": "far.example", "tcp://[::1]:2375": "::1", "": "127.0.0.1", "%": "127.0.0.1",
	} {
		if got := rabbitmq.DockerHost(address); got != want {
			t.Errorf("%q: %s, expected %s", address, got, want)
		}
	}
}
