//go:build !unix

package rabbitmq

import "context"

// StartNode starts a private RabbitMQ where it can; here it can't.
func StartNode(context.Context, Options) (*Broker, error) {
	return nil, missing("a private node is started on Unix systems only")
}

func installed() bool { return false }
