// Package backend describes a command to any kind of server in general terms: whether it took or returned a slot,
// read something, or connected, and its result. Generic code sees this description ([Exchange]), never the command
// itself. A backend's own package (such as model/amqp) describes its commands and replies.
package backend
