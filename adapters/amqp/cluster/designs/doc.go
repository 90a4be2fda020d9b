// Package designs has small lock clients on RabbitMQ, one for each usual design, to be tried on clusters: what is judged there
// is the design, not somebody's library. They are written with amqp091-go, as a careful user would write them.
//
//	designs.go    the list of designs, and what each needs on the server
//	client.go     what all clients share: a connection, and what it was told
//	exclusive_queue.go   whoever has declared the exclusive queue holds the lock
//	fetched.go    whoever has fetched the only message holds it
//	delivered.go  whoever was delivered the only message holds it
//	exclusive_consumer.go   whoever consumes the queue exclusively holds it
package designs
