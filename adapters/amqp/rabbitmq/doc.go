// Package rabbitmq is a real RabbitMQ, found or started ([Start]). A connection to it ([Dial]) takes the model's
// commands and returns the model's replies, to compare them with the simulated broker's word for word. It uses
// amqp091-go. On a shared broker, a run keeps account of the things that it makes ([Broker.Register]), so that the
// next run can tidy up after it.
package rabbitmq
