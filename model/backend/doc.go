// Package backend describes a command to a server in terms of any server: whether it took or returned a slot, asked,
// or connected, and its result. Generic code sees that description alone ([Exchange]), never the command. A backend's
// own package (model/amqp) describes its commands and replies.
package backend
