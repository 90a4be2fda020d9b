// Package containertest starts servers in containers for tests, if no other server is available. All tests of a test
// binary share a server, and it ends with the binary's process.
package containertest

import (
	"context"
	"fmt"
	"sync"

	"github.com/lockproof/lockproof/adapters/container"
	"github.com/lockproof/lockproof/adapters/container/docker"
)

// result is a started server, or the error of starting it.
type result struct {
	server container.Server
	err    error
}

var (
	mu      sync.Mutex
	started = make(map[container.Image]result)
)

// Start is a [container.Starter] whose server is shared, so that no test stops it. Ryuk removes the container at the
// end of the process; without Ryuk, Start starts nothing and returns an error.
func Start(_ context.Context, i container.Image, ready container.Ready) (container.Server, error) {
	if !docker.Reaps() {
		return nil, fmt.Errorf("%w for tests that share a server: TESTCONTAINERS_RYUK_DISABLED leaves out Ryuk, which ends it", container.ErrNoEngine)
	}
	mu.Lock()
	defer mu.Unlock()
	r, known := started[i]
	if !known {
		r.server, r.err = docker.Start(context.Background(), i, ready) // not a test's context, which ends early
		started[i] = r
	}
	return r.server, r.err
}

// URL starts the server with the given image name, unless it runs already, and returns its address.
func URL(name string, ready container.Ready) (string, error) {
	s, err := Start(context.Background(), container.Usual(name), ready)
	if err != nil {
		return "", err
	}
	return s.URL(), nil
}
