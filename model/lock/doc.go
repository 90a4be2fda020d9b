// Package lock has what the user of any lock on any server sees:
//
//   - operation.go: operations, outcomes, reasons, results, and kinds of locks ([Kind]);
//   - target.go, traits.go: a [Target] is a lock to be judged, with the [Traits] that not every lock has;
//   - backend.go: a [Backend] is a kind of server with its targets, which it registers by name;
//   - options.go, options_table.go: a lock's settings. Generic code uses [Options]; a backend has its own struct and
//     makes Options of it with a [Table];
//   - limits.go: the bounds of one execution.
//
// The machine (client) of each lock decides when to give up (gave-up). Packages monitor and beliefs judge whether it
// may.
//
// The machines of a backend's locks are in the backend's package (model/amqp/amqplock for AMQP). Slots count from 1.
package lock
