package docker

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"

	spec "github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"

	"github.com/lockproof/lockproof/adapters/container"
)

const (
	answerLimit = 5 * time.Second  // maximum time for the engine to answer
	startLimit  = 5 * time.Minute  // maximum time for a server to start, which includes pulling its image
	stopLimit   = 30 * time.Second // maximum time for a server to shut down cleanly
	pause       = 100 * time.Millisecond
)

// server is a server that runs in a container.
type server struct {
	engine    *testcontainers.DockerProvider
	name      string // name of the container
	container *testcontainers.DockerContainer
	url       string
	ready     container.Ready
}

// Start implements [container.Starter].
func Start(ctx context.Context, i container.Image, ready container.Ready) (_ container.Server, err error) {
	engine, host, err := find(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("starting %v in a container: %w", i, explained(err))
		}
	}()
	limited, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("it was not ready after %v", startLimit))
	defer cancel()
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	s := &server{engine: engine, name: "lockproof-" + strings.ToLower(rand.Text()), url: i.URL(net.JoinHostPort(host, port)), ready: ready}
	s.container, err = testcontainers.Run(limited, i.Reference(), testcontainers.WithName(s.name), testcontainers.WithEnv(i.Environment()),
		testcontainers.WithExposedPorts(strconv.Itoa(i.Port())+"/tcp"), testcontainers.WithHostConfigModifier(publish(i.Port(), host, port)))
	if err == nil {
		err = s.await(limited)
	} else if limited.Err() != nil {
		err = fmt.Errorf("%w: %w", context.Cause(limited), err)
	}
	if err == nil {
		return s, nil
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return nil, errors.Join(err, s.Stop())
}

// here is the host address at which an engine on this machine publishes ports.
const here = "127.0.0.1"

// publish returns a change to a container's configuration that publishes the container's port at port at of the host.
// If host is this machine, other machines cannot reach the port. We choose the port ourselves, since one that the
// engine chooses changes with a restart.
func publish(port int, host, at string) func(*spec.HostConfig) {
	binding := network.PortBinding{HostPort: at}
	if host == here {
		binding.HostIP = netip.MustParseAddr(here)
	}
	return func(c *spec.HostConfig) {
		c.PortBindings = network.PortMap{network.MustParsePort(strconv.Itoa(port) + "/tcp"): {binding}}
	}
}

// await waits until the server accepts commands.
func (s *server) await(ctx context.Context) error {
	for {
		err := s.ready(ctx, s.url)
		if err == nil {
			return nil
		}
		if state, unknown := s.container.State(ctx); unknown == nil && !state.Running {
			return fmt.Errorf("it ended with exit code %d before it was ready; it said: %s", state.ExitCode, s.said(ctx))
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return fmt.Errorf("%w, and still: %w", context.Cause(ctx), err)
		}
	}
}

// said returns the last line of the server's log.
func (s *server) said(ctx context.Context) string {
	last := "nothing"
	logs, err := s.container.Logs(ctx)
	if err != nil {
		return last
	}
	defer logs.Close()
	for lines := bufio.NewScanner(logs); lines.Scan(); {
		if line := strings.TrimSpace(lines.Text()); line != "" {
			last = line
		}
	}
	return last
}

// URL implements [container.Server].
func (s *server) URL() string { return s.url }

// Restart implements [container.Server]: it shuts the server down cleanly and starts it again at the same address.
func (s *server) Restart(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("it was not ready after %v", startLimit))
	defer cancel()
	limit := stopLimit
	if err := s.container.Stop(ctx, &limit); err != nil {
		return err
	}
	if err := s.container.Start(ctx); err != nil {
		return err
	}
	return s.await(ctx)
}

// Stop implements [container.Server]. It kills the server, and removes its data.
func (s *server) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	if s.container != nil {
		return testcontainers.TerminateContainer(s.container, testcontainers.StopContext(ctx), testcontainers.StopTimeout(0))
	}
	// If Start was interrupted, the engine may have created the container without telling us.
	_, _ = s.engine.Client().ContainerRemove(ctx, s.name, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	return nil
}

// find connects to the engine. It returns the engine and the host at which the engine publishes ports.
func find(ctx context.Context) (*testcontainers.DockerProvider, string, error) {
	type answer struct {
		engine *testcontainers.DockerProvider
		host   string
		err    error
	}
	answered := make(chan answer, 1)
	go func() { // in a goroutine, as the calls below take no context
		var a answer
		defer func() {
			if failure := recover(); failure != nil { // testcontainers-go panics if the environment is misconfigured
				a.err = fmt.Errorf("%v", failure)
			}
			answered <- a
		}()
		log.SetDefault(log.NewNoopLogger())
		if a.engine, a.err = testcontainers.NewDockerProvider(); a.err == nil {
			a.host, a.err = a.engine.DaemonHost(context.Background())
		}
	}()
	select {
	case a := <-answered:
		if a.err != nil {
			return nil, "", missing(a.err)
		}
		if a.host == "localhost" {
			a.host = here
		}
		return a.engine, a.host, nil
	case <-time.After(answerLimit):
		return nil, "", missing(fmt.Errorf("no answer within %v", answerLimit))
	case <-ctx.Done():
		return nil, "", context.Cause(ctx)
	}
}

// missing returns the error for the case that no engine answers. It lists the places that were tried, and says what
// to do.
func missing(why error) error {
	at := "at the usual sockets of Docker (DOCKER_HOST names none)"
	if host := os.Getenv("DOCKER_HOST"); host != "" {
		at = "at " + host + ", which DOCKER_HOST names, and at the usual sockets of Docker"
	}
	return fmt.Errorf("%w %s: %s; start Docker, or Podman's service (podman system service) with its socket in DOCKER_HOST", container.ErrNoEngine, at, oneLine(why))
}

// explained returns an engine's error in one line. If Ryuk is the cause, it adds what to do.
func explained(err error) error {
	said := oneLine(err)
	if _, engine, ok := strings.Cut(said, "Error response from daemon: "); ok {
		said = engine
	}
	if strings.Contains(err.Error(), "reaper") {
		said += "; where Ryuk may not run, set TESTCONTAINERS_RYUK_DISABLED=true"
	}
	return errors.New(said)
}

func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' }), "; ")
}

// freePort returns a port of this machine on which no process listens.
func freePort() (string, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(here, "0"))
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}

// Reaps reports whether Ryuk removes a container when the process that started it ends, however it ends.
func Reaps() bool { return !testcontainers.ReadConfig().Config.RyukDisabled }
