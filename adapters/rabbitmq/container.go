package rabbitmq

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/testcontainers/testcontainers-go"
	module "github.com/testcontainers/testcontainers-go/modules/rabbitmq"
)

// containerImage is what runs in Docker. 4.0 still has transient queues that are not exclusive,
// which one of the guidelines' open questions is about; 4.3 refuses them.
const containerImage = "rabbitmq:4.0"

const (
	dockerLimit         = 5 * time.Second // for Docker to say whether it is there
	containerStartLimit = 5 * time.Minute // for a container to be ready, with its image pulled
	containerStopLimit  = 30 * time.Second
)

// dockerContainer is a RabbitMQ in Docker.
type dockerContainer struct {
	*module.RabbitMQContainer
	url string
}

// StartContainer starts a RabbitMQ in Docker, whatever the environment says. Without Docker, the
// error is [ErrNoBroker]. Should this process be killed, testcontainers' own reaper removes the
// container, unless it was disabled.
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
	c := &dockerContainer{url: fmt.Sprintf("amqp://guest:guest@%s:%d/%%2F", host, port)}
	defer func() {
		if err != nil {
			_ = c.stop()
		}
	}()
	c.RabbitMQContainer, err = module.Run(ctx, containerImage, testcontainers.WithLogger(&containerLog{Options: o}), publish(host, port))
	if err != nil {
		return nil, err
	}
	version, err := awaitReady(ctx, c.url, nil)
	if err != nil {
		return nil, err
	}
	return &Broker{URL: c.url, Version: version, Origin: "a container of " + containerImage, own: c}, nil
}

// publish has Docker publish the AMQP port, and no other, at a port that is still the same after a
// restart, as one of Docker's choice would not be. Where Docker runs on this machine, the port is for
// this machine alone.
func publish(host string, port int) testcontainers.CustomizeRequestOption {
	binding := fmt.Sprintf("%d:%s", port, module.DefaultAMQPPort)
	if host == "127.0.0.1" {
		binding = host + ":" + binding
	}
	return func(request *testcontainers.GenericContainerRequest) error {
		request.ExposedPorts = []string{binding}
		return nil
	}
}

func (c *dockerContainer) restart(ctx context.Context) error {
	limit := containerStopLimit
	if err := c.Stop(ctx, &limit); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, containerStartLimit)
	defer cancel()
	if err := c.Start(ctx); err != nil {
		return err
	}
	_, err := awaitReady(ctx, c.url, nil)
	return err
}

// stop removes the container. What is about to be removed need not end in good order.
func (c *dockerContainer) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), containerStopLimit)
	defer cancel()
	return testcontainers.TerminateContainer(c.RabbitMQContainer, testcontainers.StopContext(ctx), testcontainers.StopTimeout(0))
}

// findDocker asks Docker whether it is there, and returns the host at which it publishes ports.
// Testcontainers may wait long for one that is far away and silent, so it is asked at arm's length.
func findDocker(ctx context.Context) (host string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, dockerLimit, missing(fmt.Sprintf("Docker did not answer within %s", dockerLimit)))
	defer cancel()
	answered := make(chan struct{})
	var answer string
	var refusal error
	go func() {
		defer close(answered)
		answer, refusal = askDocker(ctx)
	}()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case <-answered:
		return answer, refusal
	}
}

func askDocker(ctx context.Context) (host string, err error) {
	defer func() {
		if panicked := recover(); panicked != nil { // as testcontainers does where there is no Docker
			err = fmt.Errorf("%v", panicked)
		}
		if err != nil {
			err = missing("no Docker answers: " + oneLine(err.Error()))
		}
	}()
	docker, err := testcontainers.NewDockerProvider()
	if err != nil {
		return "", err
	}
	defer docker.Close()
	if err := docker.Health(ctx); err != nil {
		return "", err
	}
	host, err = docker.DaemonHost(ctx)
	if host == "localhost" {
		host = "127.0.0.1" // the one of its addresses that is published at
	}
	return host, err
}

// containerLog hands on what testcontainers logs. It says everything once only: an image that can't be
// pulled is tried for a hundred times, in the same words.
type containerLog struct {
	Options
	said sync.Map
}

func (l *containerLog) Printf(format string, args ...any) {
	line := oneLine(fmt.Sprintf(format, args...))
	if _, repeated := l.said.LoadOrStore(line, true); !repeated {
		l.logf("testcontainers: %s", line)
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
