// Package mutant has the reference locks on queues with one bug each: the suite that proves the prover. Every mutant names a
// property that it breaks, and every property has a mutant that breaks it. Mutants of other locks stand with those: see
// mutants.go in model/amqp/consumption, and targets.go in sim/consul, sim/redis and sim/sql.
//
// A mutant is made of as little as makes the bug: an option that is never safe, a naming, or hooks
// into the reference's machine ([amqplock.Protocol]) that alter a command, a reply or a turn. What it
// says of itself is what the person did who wrote such a lock.
package mutant
