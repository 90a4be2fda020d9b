package wire

import (
	"fmt"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
)

// The error texts in this file are RabbitMQ's, measured with 3.10.8, because some clients match them.

func refusef(code frame.Code, format string, args ...any) *refusal {
	return &refusal{code: code, text: fmt.Sprintf(format, args...)}
}

// unsupported is the error for a feature of RabbitMQ that the model lacks: 540 NOT_IMPLEMENTED.
func unsupported(format string, args ...any) *refusal {
	return refusef(frame.NotImplemented, "lockproof's simulated broker does not have "+format, args...)
}

// aboutQueue is the error with which RabbitMQ refuses the use of a queue.
func aboutQueue(code frame.Code, name string) *refusal {
	switch code {
	case frame.NotFound:
		return refusef(code, "no queue '%s' in vhost '/'", name)
	case frame.ResourceLocked:
		return refusef(code, "cannot obtain exclusive access to locked queue '%s' in vhost '/'. It could be originally declared on another connection or the exclusive property value does not match that of the original declaration.", name)
	case frame.AccessRefused:
		return refusef(code, "queue '%s' in vhost '/' in exclusive use", name)
	}
	return refusef(code, "queue '%s' in vhost '/'", name)
}

func noExchange(name string) *refusal {
	return refusef(frame.NotFound, "no exchange '%s' in vhost '/'", name)
}

func onDefaultExchange() *refusal {
	return refusef(frame.AccessRefused, "operation not permitted on the default exchange")
}
