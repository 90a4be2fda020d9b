package queue

import (
	"context"
	"errors"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

// TestEnabled: that a server has no JetStream is said, too, where time is up while it is asked once more.
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

// TestEnabledUnanswered: the error says if the server has not answered.
func TestEnabledUnanswered(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := enabled(ctx, ctx.Err); !errors.Is(err, context.Canceled) {
		t.Errorf("%v: expected that time is up", err)
	}
}
