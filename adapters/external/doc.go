// Package external runs scenarios on clients that are not ours: their commands wait at the gate until the
// schedule lets them through.
//
// A [Client] carries out operations; where it is, in which language and with which driver, is not this
// package's concern. Each client has an address of its own at which it finds the broker, so that it is
// known who connects, and every command that it sends there waits until it is chosen. Behind the gate is the
// simulated broker, or a real one that is compared with it at every reply.
//
// [Stress] is the other way: no schedule, all clients at once, on a real broker.
package external
