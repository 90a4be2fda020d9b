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

// granted are a broker's limits. Heartbeats bound its silence. frameSize is the largest frame that it may send, even if it
// would send larger ones.
var granted = bound.Limits{Most: 64 << 20}

const frameSize = 128 << 10

const (
	greetLimit = 5 * time.Second        // for opening one connection
	firstPause = 20 * time.Millisecond  // between the first two attempts to connect
	longPause  = 250 * time.Millisecond // between later ones
)

// greet opens a connection, asks the broker for its name and version, and closes the connection again.
func greet(ctx context.Context, url string) (version string, err error) {
	conn, err := open(ctx, url, amqp.Config{FrameSize: frameSize})
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.CloseDeadline(time.Now().Add(greetLimit)) }() // its confirmation may never come
	product, _ := conn.Properties["product"].(string)
	number, _ := conn.Properties["version"].(string)
	return product + " " + number, nil
}

// open opens a connection. If a broker exceeds its limits, amqp091-go reports other errors, for example that the broker
// refuses the password.
func open(ctx context.Context, url string, config amqp.Config) (*amqp.Connection, error) {
	ctx, told := telling(ctx)
	config.Dial = dialer(ctx)
	conn, err := amqp.DialConfig(url, config)
	return conn, told(err)
}

// telling is [bound.Telling] for connections that must be open within greetLimit.
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

// dialer is amqp091-go's own dialer, but it obeys ctx.
func dialer(ctx context.Context) func(network, addr string) (net.Conn, error) {
	return func(network, addr string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, greetLimit)
		defer cancel()
		conn, err := granted.Dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		deadline, _ := ctx.Deadline()
		return conn, conn.SetDeadline(deadline) // for the handshake; amqp091-go clears it after
	}
}

// errEnded is the error for a broker whose process ended before it was ready.
var errEnded = errors.New("it ended before it was ready")

// AwaitReady tries to connect until a connection is made, ctx is done, or ended is closed.
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
