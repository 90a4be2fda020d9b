package rabbitmqtest

import (
	"errors"
	"testing"

	"github.com/rabbitmq/amqp091-go"
)

// WantAbsent fails the test if one of the queues exists.
func WantAbsent(t testing.TB, url string, queues []string) {
	t.Helper()
	conn, err := amqp091.Dial(url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, queue := range queues {
		ch, err := conn.Channel()
		if err != nil {
			t.Fatal(err)
		}
		var closed *amqp091.Error
		if _, err = ch.QueueDeclarePassive(queue, false, false, false, false, nil); !errors.As(err, &closed) || closed.Code != amqp091.NotFound {
			t.Errorf("queue %s: %v; it must not exist", queue, err)
		}
	}
}
