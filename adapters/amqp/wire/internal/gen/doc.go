// Command gen generates a part of package frame from the definition of AMQP 0-9-1: its methods, the properties of content,
// and its reply codes. The definition is amqp0-9-1.stripped.extended.xml, which has its own licence, and includes RabbitMQ's
// additions.
package main
