// Command gen writes the part of package frame that follows from the definition of AMQP 0-9-1: its
// methods, the properties of content, and its reply codes. The definition is
// amqp0-9-1.stripped.extended.xml, which comes with a licence of its own; it has RabbitMQ's additions.
package main
