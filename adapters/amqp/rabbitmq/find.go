package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"syscall"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// usualURL is the address of a RabbitMQ with default settings on this machine.
const usualURL = exampleURL

// lookLimit is the maximum time for a broker at usualURL to answer.
const lookLimit = 2 * time.Second

// find finds the broker that runs on this machine at usualURL.
func find(ctx context.Context, o Options) (*Broker, error) {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	version, err := greet(ctx, usualURL)
	switch {
	case err == nil && strings.HasPrefix(version, product):
		return &Broker{URL: usualURL, Version: version, Origin: "the broker at " + address(usualURL), Found: true}, nil
	case err == nil:
		err = fmt.Errorf("%s calls itself %s, and is passed over", address(usualURL), version)
	case errors.Is(err, syscall.ECONNREFUSED):
		err = missing("nobody listens at " + address(usualURL))
	default:
		err = fmt.Errorf("%s is passed over: %w", address(usualURL), unreached(err))
	}
	return nil, err
}

// product begins the version text of a RabbitMQ. Other products that speak AMQP have other names.
const product = "RabbitMQ "

// unreached adds to an error of connecting what is probably wrong and what to do.
func unreached(err error) error {
	var timeout net.Error
	var refusal *amqp.Error
	switch {
	case errors.Is(err, amqp.ErrCredentials), errors.Is(err, amqp.ErrSASL):
		return errors.New("the broker there refuses the user name or the password; write both into the address as they are there")
	case errors.Is(err, amqp.ErrVhost), errors.As(err, &refusal) && refusal.Code == amqp.NotAllowed:
		return errors.New("the broker there has no such virtual host, or keeps the user out of it; write one into the address that is there, such as /%2F")
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("nobody listens there; start a broker, or write its address")
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return errors.New("nobody answers there in time; start a broker, or write its address")
	}
	return fmt.Errorf("%w; expected a broker that speaks AMQP 0-9-1 there", err)
}

// address is the broker's host and port, with the virtual host if it is not the default one. It has no user or
// password.
func address(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return redact(raw)
	}
	if u.Path == "//" || u.Path == "/" || u.Path == "" {
		return u.Host
	}
	return u.Host + "/" + url.PathEscape(strings.TrimPrefix(u.Path, "/"))
}
