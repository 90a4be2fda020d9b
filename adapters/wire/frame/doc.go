// Package frame reads and writes what AMQP 0-9-1 has on the wire: frames, methods, content headers and
// field tables. Methods, properties and reply codes are generated from the protocol's definition.
//
// What is read is not trusted. Every length is held against the bytes that are there before anything
// is made for it, tables have a depth, and what does not fit is an [Error] with the reply code that a
// peer is told.
package frame

//go:generate go run ../internal/gen .
