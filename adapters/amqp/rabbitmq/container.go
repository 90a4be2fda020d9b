package rabbitmq

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// containerImage is what runs in Docker. 4.0 still has transient queues that are not exclusive,
// which one of the guidelines' open questions is about; 4.3 refuses them.
const containerImage = "rabbitmq:4.0"

const (
	dockerLimit         = 5 * time.Second // for Docker to say whether it is there
	containerStartLimit = 5 * time.Minute // for a container to be ready, with its image pulled
	containerStopLimit  = 30 * time.Second
)

// dockerContainer is a RabbitMQ in Docker. It uses Docker's own command, which knows contexts,
// machines far away and who may pull images, and a library that does is as large as all else that lockproof is built of.
type dockerContainer struct {
	name, url string
	janitor   *janitor // removes the container should this process be killed
}

// StartContainer starts a RabbitMQ in Docker, whatever the environment says. Without Docker, the
// error is [ErrNoBroker].
func StartContainer(ctx context.Context, o Options) (_ *Broker, err error) {
	host, err := findDocker(ctx)
	if err != nil {
		return nil, err
	}
	o.logf("starting %s in Docker", containerImage)
	defer func() {
		if err != nil {
			err = fmt.Errorf("starting %s in Docker: %s", containerImage, oneLine(err.Error()))
		}
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, containerStartLimit, fmt.Errorf("it was not ready after %s", containerStartLimit))
	defer cancel()

	port, err := freePorts()
	if err != nil {
		return nil, err
	}
	c := &dockerContainer{
		name: "lockproof-" + strings.ToLower(rand.Text()),
		url:  fmt.Sprintf("amqp://guest:guest@%s/%%2F", net.JoinHostPort(host, strconv.Itoa(port))),
	}
	if c.janitor, err = startJanitor(removeContainer, c.name); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			c.abandon()
		}
	}()
	if _, err = docker(ctx, "run", "--detach", "--name", c.name, "--publish", binding(host, port), containerImage); err != nil {
		return nil, err
	}
	version, err := awaitReady(ctx, c.url, nil)
	if err != nil {
		return nil, err
	}
	return &Broker{URL: c.url, Version: version, Origin: "a container of " + containerImage, own: c}, nil
}

// binding is Docker's option to publish only the AMQP port, at a port that survives a restart, unlike one of Docker's
// choice. If Docker runs on this machine, the port is for this machine alone.
func binding(host string, port int) string {
	b := fmt.Sprintf("%d:5672", port)
	if host == dockerHere {
		b = host + ":" + b
	}
	return b
}

func (c *dockerContainer) restart(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, containerStartLimit)
	defer cancel()
	if _, err := docker(ctx, "restart", "--time", fmt.Sprint(containerStopLimit.Seconds()), c.name); err != nil {
		return err
	}
	_, err := awaitReady(ctx, c.url, nil)
	return err
}

// stop removes the container, without a graceful shutdown.
func (c *dockerContainer) stop() error {
	if err := c.remove(); err != nil {
		c.janitor.release()
		return err
	}
	return c.janitor.gone()
}

// abandon removes a container that did not come about. Docker may still be making it: the janitor looks again later.
func (c *dockerContainer) abandon() {
	_ = c.remove()
	c.janitor.release()
}

func (c *dockerContainer) remove() error {
	ctx, cancel := context.WithTimeout(context.Background(), containerStopLimit)
	defer cancel()
	_, err := docker(ctx, "rm", "--force", "--volumes", c.name)
	return err
}

// dockerHere is the host at which a Docker of this machine publishes ports.
const dockerHere = "127.0.0.1"

// findDocker asks Docker whether it is there, and returns the host at which it publishes ports.
func findDocker(ctx context.Context) (host string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, dockerLimit, fmt.Errorf("no answer within %s", dockerLimit))
	defer cancel()
	address := os.Getenv("DOCKER_HOST")
	if address == "" {
		if address, err = docker(ctx, "context", "inspect", "--format", "{{.Endpoints.docker.Host}}"); err != nil {
			return "", missing("no Docker answers: " + oneLine(err.Error()))
		}
	}
	if _, err = docker(ctx, "version", "--format", "{{.Server.Version}}"); err != nil {
		return "", missing("no Docker answers: " + oneLine(err.Error()))
	}
	return dockerHost(address), nil
}

// dockerHost is the host at which the Docker at that address publishes ports: this machine, where it is a socket or a
// pipe.
func dockerHost(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Hostname() == "localhost" || u.Scheme == "npipe" {
		return dockerHere
	}
	return u.Hostname()
}

// docker carries out a command of Docker's and returns what it prints.
func docker(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "docker", args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = time.Second // for children of its own that hold its output open
	err := cmd.Run()
	switch {
	case err == nil:
		return strings.TrimSpace(out.String()), nil
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case errs.Len() > 0:
		err = errors.New(strings.TrimSpace(errs.String()))
	}
	return "", fmt.Errorf("docker %s: %w", args[0], err)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
