// Package rabbitmq finds or starts a real RabbitMQ ([Start]). A connection to it ([Dial]) takes the model's commands and
// returns the model's replies, so that they can be compared exactly with the simulated broker's. It uses amqp091-go. On a
// shared broker, a run registers everything that it creates ([Broker.Register]), so that a later run can tidy up after it.
package rabbitmq
