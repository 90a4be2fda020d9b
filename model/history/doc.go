// Package history is the record of what clients saw: invocations and completions of operations in real-time order, and
// what happened to the clients meanwhile, in Jepsen's terms. It is a value; packages linear and beliefs
// judge it, and package histories reads and writes it.
// How a client is numbered: process.go.
package history
