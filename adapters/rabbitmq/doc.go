// Package rabbitmq is a real RabbitMQ: one that is found or started ([Start]), and a connection to it
// ([Dial]) that takes the model's commands and gives the model's replies, so that what it says can be
// compared with the simulated broker's word for word. It speaks through amqp091-go. On a broker that others use as
// well, a run keeps account of what it makes ([Broker.Register]), so that the next one can tidy up after it.
package rabbitmq
