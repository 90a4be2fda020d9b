// Package foreign runs scenarios on external clients, whose commands wait at the gate until the schedule lets them through,
// and judges them by three rules:
//
//   - Safety, by the history alone. A client holds a lock for certain from the moment at which it is told of the grant. The
//     certain hold ends when the client releases the lock, verifies it without being told yes, dies, or loses a connection.
//     Package beliefs judges these holds. There are no exceptions.
//   - Recovery, at rest. When a scenario is over, faults and operations end. Then fresh clients, one after the other, acquire
//     and release what is free. A refusal or a leftover is then wrong, whatever happened before (audit.go).
//   - Promises, by contract: for example that a refusal means that the lock is full, or that operations are cheap. They are
//     judged in executions in which nothing goes wrong. A contract says which promises it demands (judge.go).
//
// The package does not depend on how a lock is held, or on its driver. One rule decides how long to wait for a client
// (rest.go). A client with virtual time is known to be at rest (clock.go). If a user has declared how a lock is held, a
// wrong belief is found when it begins (holding.go).
//
// A scenario is carried out by run.go and loop.go, acts.go (what can happen next), gate.go and deliver.go (commands and
// their replies), faults.go and record.go. try.go tries the clients before the first run. Package orders explores all
// orders.
//
// client.go defines clients. The server behind the gate is a plug-in, of which this package knows only the interfaces of
// package gate.
package foreign
