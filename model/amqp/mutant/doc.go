// Package mutant has mutants: the reference locks on queues with one bug each, which test the prover. Every mutant
// names a property that it violates, and every property has a mutant that violates it. Mutants of other locks are in
// mutants.go in model/amqp/consumption, and in targets.go in model/consul, model/redis and model/sql/leases.
//
// A mutant differs from the reference only in its bug. The bug is an option that is never safe, a bad naming of queues,
// or functions that change a command, a reply or a step of the reference's machine ([amqplock.Protocol]). Its text
// describes the mistake that a lock's author might make.
package mutant
