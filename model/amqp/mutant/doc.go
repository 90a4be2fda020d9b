// Package mutant has the reference locks on queues with one bug each: the suite that tests the prover. Every mutant
// names a property that it violates, and every property has a mutant that violates it. Mutants of other locks are in
// the packages of those: see mutants.go in model/amqp/consumption, and targets.go in model/consul, model/redis and
// model/sql/leases.
//
// A mutant is as small as its bug: an option that is never safe, a naming, or hooks into the reference's machine
// ([amqplock.Protocol]) that alter a command, a reply or a step. Its text describes the mistake of the lock's author.
package mutant
