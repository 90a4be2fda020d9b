package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/stress"
)

// Together returns an error if an address does not belong to the same cluster and virtual host as the first. It creates
// an exclusive queue at the first address and looks for it at the others. The queue's name has the run's mark, and the
// queue ends with its connection. Names of clusters would not do: by default each node reports its own name.
func Together(ctx context.Context, urls []string) error {
	if len(urls) < 2 {
		return nil
	}
	queue := stress.Prefix() + "together"
	declare := func(url string, passive bool) (release func(), err error) {
		checked, err := checkURL(url)
		if err != nil {
			return nil, err
		}
		conn, err := open(ctx, checked, amqp.Config{FrameSize: frameSize})
		if err != nil {
			return nil, fmt.Errorf("connecting to %s: %w", redact(checked), err)
		}
		release = func() { _ = conn.CloseDeadline(time.Now().Add(greetLimit)) }
		defer time.AfterFunc(greetLimit, release).Stop()
		ch, err := conn.Channel()
		if err != nil {
			return release, err
		}
		if passive {
			_, err = ch.QueueDeclarePassive(queue, false, false, true, false, nil)
		} else {
			_, err = ch.QueueDeclare(queue, false, false, true, false, nil)
		}
		return release, err
	}
	release, err := declare(urls[0], false)
	if release != nil {
		defer release()
	}
	if err != nil {
		return fmt.Errorf("making a queue at %s: %w", redact(urls[0]), err)
	}
	for _, url := range urls[1:] {
		release, err := declare(url, true)
		if release != nil {
			release()
		}
		var closed *amqp.Error
		switch {
		case errors.As(err, &closed) && closed.Code == amqp.ResourceLocked:
		case err == nil || closed != nil && closed.Code == amqp.NotFound:
			return fmt.Errorf("%s knows nothing of a queue of %s: they are two clusters or two virtual hosts, and a lock on both is two locks", redact(url), redact(urls[0]))
		default:
			return fmt.Errorf("asking %s for a queue: %w", redact(url), err)
		}
	}
	return nil
}
