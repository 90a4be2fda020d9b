// Package lock has what any lock has, whatever server it stands on, as its user sees it:
//
//   - operation.go: operations, outcomes, reasons, results, and lock types ([Kind]);
//   - target.go, traits.go: a [Target] is a lock to be judged, and says what it has that not every lock has ([Traits]);
//   - backend.go: a [Backend] is a kind of server with its targets, known by its name once it is registered;
//   - options.go, options_table.go: how a lock is set. Generic code has [Options]; a backend has a struct of its own and
//     makes them with a [Table];
//   - limits.go: how much one execution may have.
//
// The reason gave-up is given by the machine of each lock; packages monitor and beliefs judge whether it may be.
//
// The machines of a backend's locks are the backend's own (model/amqp/amqplock for AMQP). Slots count from 1.
package lock
