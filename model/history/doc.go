// Package history is the record of clients' observations: invocations and completions of operations in real-time
// order, and events of the clients, in Jepsen's terms. It is a value. Packages linear and beliefs judge it, and
// package histories reads and writes it. process.go says how clients are numbered.
package history
