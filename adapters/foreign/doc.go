// Package foreign runs scenarios on external clients, whose commands wait at the gate until the schedule lets them through,
// and judges them by three rules:
//
//   - Safety, by the history alone. A client holds a lock for certain from the yes that it was told until it releases it, verifies
//     it and is not told yes, dies, or loses a connection. Package beliefs judges that. Nothing excuses it.
//   - Recovery, at rest. When a scenario is over, faults and operations end, and then fresh clients, one after the other, acquire
//     and release what is free. A refusal then, or a leftover, is wrong, whatever happened before: audit.go.
//   - Promises, by contract: that a refusal means that the lock is full, that operations are cheap. They are judged in executions
//     in which nothing goes wrong, and a contract says which of them it demands: judge.go.
//
// Nothing is learnt of how a lock is held, or of its driver. A client is waited for by one rule: rest.go. One that has our time
// is known to be at rest: clock.go. If a user has declared how a lock is held, a wrong belief is found when it begins: holding.go.
//
// These files carry a scenario out: run.go and loop.go, acts.go (what can happen next), gate.go and deliver.go (commands
// and their replies), faults.go, record.go. The questions to clients before the first run: try.go. Explorations of all
// orders: package orders.
//
// The definition of a client: client.go. The server behind the gate is a plug-in, of which only package gate is known.
package foreign
