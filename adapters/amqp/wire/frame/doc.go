// Package frame encodes and decodes AMQP 0-9-1: frames, methods, content headers and field tables. Methods, properties and
// reply codes are generated from the protocol's definition.
//
// Input is not trusted. Every length is compared with the available bytes before anything is allocated for it, and the depth
// of tables is bounded. Invalid input is an [Error] with the reply code for the peer.
package frame

//go:generate go run ../internal/gen .
