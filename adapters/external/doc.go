// Package external runs scenarios on clients of an AMQP broker that are not ours: their commands wait at the gate until
// the schedule lets them through. Most of it knows AMQP: what a client sends, which channel broke, which queues hold a
// lock. Little of it does not: what a client is (client.go), explorations (explore.go), times (timing.go). Clients of
// other servers are not run here.
//
// A [Client] carries out operations; where it is, in which language and with which driver, is not this
// package's concern. Each client has an address of its own at which it finds the broker, so that it is
// known who connects, and every command that it sends there waits until it is chosen (gate.go). Behind the gate is the
// simulated broker, or a real one that is compared with it at every reply.
//
// What a lock is held by on the broker is learnt before the first run: probe.go has clients use two locks, and package
// recognise tells by what was seen how they are held. By that, survey.go looks up in a run what the broker has of each
// lock. Where slots are messages that are all alike, permits.go gives each a number. Where nothing is known, the history
// alone is judged.
//
// Whether a failed operation is recorded as gave-up is decided in watch.go, and taken back in judge.go; whether a client
// has stopped waiting for a reply, in stall.go; what the end of a channel tells nothing about, in channel_end.go;
// learnt.go has what runs learn of commands that clients send unasked, shared between runs. An operation that never ends is
// given up in loop.go.
//
// A client is at rest when the next step needs not wait for it: client_handle.go (quiet) says so, loop.go (settle) waits
// until all are, wait.go says which of them wait for a lock, and does not wait for those. In explorations, package
// orders says what is tried next, and which steps depend on one another.
//
// Without a schedule, all clients at once on a real broker: package clientstress.
package external
