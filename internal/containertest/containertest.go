// Package containertest gives tests servers in containers, where there are no others. The tests of a binary share them,
// and they end with its process.
package containertest

import (
	"context"
	"fmt"
	"sync"

	"github.com/lockproof/lockproof/adapters/container"
	"github.com/lockproof/lockproof/adapters/container/docker"
)

// result is what starting a server came to.
type result struct {
	server container.Server
	err    error
}

var (
	mu      sync.Mutex
	started = make(map[container.Image]result)
)

// Start is a [container.Starter] whose server is shared, so that nobody stops it. Ryuk ends it: without Ryuk, none is
// started.
func Start(_ context.Context, i container.Image, ready container.Ready) (container.Server, error) {
	if !docker.Reaps() {
		return nil, fmt.Errorf("%w for tests that share a server: TESTCONTAINERS_RYUK_DISABLED leaves out Ryuk, which ends it", container.ErrNoEngine)
	}
	mu.Lock()
	defer mu.Unlock()
	r, known := started[i]
	if !known {
		r.server, r.err = docker.Start(context.Background(), i, ready) // not the context of the test that is first
		started[i] = r
	}
	return r.server, r.err
}

// URL is the address of a server by the name of its image.
func URL(name string, ready container.Ready) (string, error) {
	s, err := Start(context.Background(), container.Usual(name), ready)
	if err != nil {
		return "", err
	}
	return s.URL(), nil
}
