// Package rabbitmq finds or starts a real RabbitMQ ([Start]). A connection to it ([Dial]) uses amqp091-go, but has the
// commands and replies of the model, so that replies can be compared with the simulated broker's. On a shared broker, a
// run registers everything that it creates ([Broker.Register]), so that a later run can tidy up after it.
package rabbitmq
