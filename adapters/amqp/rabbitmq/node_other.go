//go:build !unix

package rabbitmq

import "context"

// StartNode returns an error, because this system has no private nodes.
func StartNode(context.Context, Options) (*Broker, error) {
	return nil, missing("a private node is started on Unix systems only")
}

func installed() bool { return false }
