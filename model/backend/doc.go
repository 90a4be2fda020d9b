// Package backend says what a command to a server was, in terms that hold for every server: whether it took or gave
// back a slot, asked, connected, and how it was answered. Generic code sees that alone ([Exchange]), never the
// command. A backend's own package (model/amqp) says of its commands and replies what they are.
package backend
