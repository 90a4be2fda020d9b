// Package backend is what generic code sees of a command to a server: not the command itself, but what it was, as a small
// value that can be compared. A backend's own package (model/amqp) says of its commands and replies what they are.
package backend
