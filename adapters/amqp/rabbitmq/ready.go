package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/bound"
)

// granted limits what a broker may send: at most 64 MiB after the last byte that the client has sent. It has no limit
// of time, because heartbeats detect a silent broker. frameSize is the largest frame that the client agrees to receive.
var granted = bound.Limits{Most: 64 << 20}

const frameSize = 128 << 10

const (
	greetLimit = 5 * time.Second        // maximum time for opening one connection
	firstPause = 20 * time.Millisecond  // pause between the first two attempts to connect
	longPause  = 250 * time.Millisecond // pause between later attempts
)

// greet opens a connection and closes it again. It returns the broker's name and version, such as "RabbitMQ 3.10.8".
func greet(ctx context.Context, url string) (version string, err error) {
	conn, err := open(ctx, url, amqp.Config{FrameSize: frameSize})
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.CloseDeadline(time.Now().Add(greetLimit)) }() // the broker may never confirm it
	product, _ := conn.Properties["product"].(string)
	number, _ := conn.Properties["version"].(string)
	return product + " " + number, nil
}

// open opens a connection. If the broker exceeds a limit, the error says so: amqp091-go would report another one, for
// example a refused password.
func open(ctx context.Context, url string, config amqp.Config) (*amqp.Connection, error) {
	ctx, told := telling(ctx)
	config.Dial = dialer(ctx)
	conn, err := amqp.DialConfig(url, config)
	return conn, told(err)
}

// telling is [bound.Telling] for connections that must open within greetLimit. The function that it returns converts
// the driver's error: if that limit or one of granted was exceeded, the result says so.
func telling(ctx context.Context) (context.Context, func(error) error) {
	start := time.Now()
	ctx, told := bound.Telling(ctx)
	return ctx, func(err error) error {
		if err = told(err); err != nil && !errors.Is(err, bound.ErrServer) && time.Since(start) >= greetLimit {
			err = fmt.Errorf("it opened no connection within %v: %w", greetLimit, bound.ErrServer)
		}
		return err
	}
}

// dialer connects as amqp091-go does by default, but stops when ctx is done.
func dialer(ctx context.Context) func(network, addr string) (net.Conn, error) {
	return func(network, addr string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, greetLimit)
		defer cancel()
		conn, err := granted.Dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		deadline, _ := ctx.Deadline()
		return conn, conn.SetDeadline(deadline) // deadline for the handshake; amqp091-go clears it afterwards
	}
}

// errEnded is the error for a broker whose process ended before it was ready.
var errEnded = errors.New("it ended before it was ready")

// AwaitReady tries to connect until it succeeds. It gives up when ctx is done or ended is closed.
func AwaitReady(ctx context.Context, url string, ended <-chan struct{}) (version string, err error) {
	for pause := firstPause; ; pause = min(2*pause, longPause) {
		if version, err = greet(ctx, url); err == nil {
			return version, nil
		}
		select {
		case <-time.After(pause):
		case <-ended:
			return "", errEnded
		case <-ctx.Done():
			return "", fmt.Errorf("%w, and still: %w", context.Cause(ctx), err)
		}
	}
}
