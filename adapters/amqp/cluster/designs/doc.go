// Package designs has small lock clients for RabbitMQ, one for each common design. They are tested on clusters. A test
// on a cluster judges the design, not a library. The clients use amqp091-go, as a careful user would.
//
//	designs.go             the list of designs, and what each needs on the server
//	client.go              the common part of all clients: the connection, and whether it or the consumer has ended
//	exclusive_queue.go     the client that declared the exclusive queue holds the lock
//	fetched.go             the client that fetched the only message holds the lock
//	delivered.go           the client that received the only message holds the lock
//	exclusive_consumer.go  the exclusive consumer of the queue holds the lock
package designs
