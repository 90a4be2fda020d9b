// Package mutant has the reference locks with one bug each: the suite that proves the prover. Every
// mutant names a property that it breaks, and every property has a mutant that breaks it.
//
// A mutant is made of as little as makes the bug: an option that is never safe, a naming, or hooks
// into the reference's machine ([amqplock.Protocol]) that alter a command, a reply or a turn. What it
// says of itself is what the person did who wrote such a lock.
package mutant
