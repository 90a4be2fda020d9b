// Package history records what clients observe: invocations and completions of operations in real-time order, and
// faults, in Jepsen's terms. A history is a plain value. Packages linear and beliefs judge it, and package histories
// reads and writes it. process.go says how clients are numbered.
package history
