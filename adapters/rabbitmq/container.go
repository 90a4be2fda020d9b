package rabbitmq

import "context"

// StartContainer starts a RabbitMQ in Docker. Without Docker, the error is [ErrNoBroker].
func StartContainer(ctx context.Context, o Options) (*Broker, error) {
	return nil, missing("no Docker answers")
}
