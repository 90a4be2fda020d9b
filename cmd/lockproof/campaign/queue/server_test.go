package queue

import (
	"context"
	"errors"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

// TestEnabled checks the error if the server first says that it has no JetStream, and then does not answer in time. The
// error must be that there is no JetStream.
func TestEnabled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	answers := []func() error{
		func() error { return jetstream.ErrJetStreamNotEnabled },
		func() error { cancel(); return ctx.Err() },
	}
	err := enabled(ctx, func() error {
		answer := answers[0]
		answers = answers[1:]
		return answer()
	})
	if !errors.Is(err, jetstream.ErrJetStreamNotEnabled) {
		t.Errorf("%v: expected that there is no JetStream", err)
	}
}

// TestEnabledUnanswered checks that the error says that the server has not answered, if it has never answered.
func TestEnabledUnanswered(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := enabled(ctx, ctx.Err); !errors.Is(err, context.Canceled) {
		t.Errorf("%v: expected that time is up", err)
	}
}
