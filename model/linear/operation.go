package linear

import (
	"math"

	"github.com/lockproof/lockproof/model/lock"
)

// effect is what an operation did to its lock, or must have found there. The history has the invocation and the
// completion.
type effect uint8

const (
	noEffect   effect = iota // it changes nothing and says nothing
	takes                    // acquire: takes its slot
	mayTake                  // acquire without an answer: takes one slot, or none
	claims                   // acquire that withdrew: has its slot for a while, until it sees it gone
	findsFull                // acquire that found every slot taken
	findsHeld                // verify that said held
	leaves                   // verify that saw the slot gone and gave it up
	frees                    // release
	freesAny                 // release, by anyone
	findsCount               // count
	findsFree                // wait: the slot is free
	adds                     // the administrative operations, each in single steps
	creates
	removes
	destroys
	impossible // an answer that nothing explains
)

// traits are what more there is to a call.
type traits uint8

const (
	// interrupted: its client's connection ended in its course.
	interrupted traits = 1 << iota
	// partial: it has no answer, so that it may have happened in part, or not at all.
	partial
	// mayExpire: what it took may be lost at any moment from exit on, without any call or event.
	mayExpire
	// unproven: it is about a slot that only an unanswered acquire of its client can have taken.
	unproven
	// loose: the same, where nothing tells when connections ended.
	loose
	// lost: its client's connection has ended since.
	lost
	// open: the moment of its effect matters to others, so that none may be preferred (classify.go).
	open
	// openExit: the same of the moment at which what it took is lost.
	openExit
)

func (t traits) has(u traits) bool { return t&u != 0 }

// endless is the end of what nothing bounds, and none the index of nothing.
const (
	endless = math.MaxInt32
	none    = -1
)

// operation is an operation on the lock at hand. It takes effect at moments between the events inv and
// ret.
type operation struct {
	inv, ret int32
	client   int32 // index in clients
	link     int32 // findsHeld, leaves, frees: the call that took the slot; takes: its client's one before
	after    int32 // takes: the call that takes the slot before, in the order of answers; or none
	exit     int32 // takes, mayTake: the event from which on the slot may be free again; or endless
	quit     int32 // takes: the same, provided that the slot did not exist at some moment since
	lostAt   int32 // lost: since that event
	slot     uint16
	n        uint16 // how many slots
	op       lock.Op
	effect   effect
	traits   traits
}

// ends is the event from which on the slot that a call took may be free again for any reason, or
// endless.
func (c *operation) ends() int32 { return min(c.exit, c.quit) }

// staged reports whether a call takes effect in steps, or at a moment that has to be chosen.
func (c *operation) staged() bool {
	switch c.effect {
	case claims, adds, creates, removes, destroys:
		return true
	case takes, findsHeld:
		return c.traits.has(open)
	}
	return false
}
