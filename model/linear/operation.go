package linear

import (
	"math"

	"github.com/lockproof/lockproof/model/lock"
)

// effect is what an operation did to its lock, or observed. The history has the invocation and the completion.
type effect uint8

const (
	noEffect   effect = iota // changes nothing and observes nothing
	takes                    // acquire: takes its slot
	mayTake                  // unanswered acquire: takes one slot, or none
	claims                   // acquire that withdrew: holds its slot until it sees the slot gone
	findsFull                // acquire that found every slot taken
	findsHeld                // verify that said held
	leaves                   // verify that saw the slot gone and gave it up
	frees                    // release
	freesAny                 // release, by anyone
	findsCount               // count
	findsFree                // wait: the slot is free
	adds                     // administrative operations, each in single steps
	creates
	removes
	destroys
	impossible // an answer that nothing explains
)

// traits are further facts about a call.
type traits uint16

const (
	// interrupted: its client's connection ended during the call.
	interrupted traits = 1 << iota
	// partial: it has no answer, so it may have happened in part, or not at all.
	partial
	// mayExpire: its slot may be lost at any moment from exit on, without any call or event.
	mayExpire
	// unproven: only an unanswered acquire of its client can have taken the slot that it concerns.
	unproven
	// loose: the same, in a history that does not record ends of connections.
	loose
	// lost: its client's connection has ended since.
	lost
	// open: the moment of its effect matters to other operations, so no moment may be preferred (classify.go).
	open
	// openExit: the moment at which its slot is lost matters in the same way.
	openExit
	// given: an unanswered release may have ended it.
	given
)

func (t traits) has(u traits) bool { return t&u != 0 }

// endless is the end of what nothing bounds; none is the index of nothing.
const (
	endless = math.MaxInt32
	none    = -1
)

// operation is an operation on the current lock. It takes effect at moments between the events inv and ret.
type operation struct {
	inv, ret int32
	client   int32 // index in clients
	link     int32 // findsHeld, leaves, frees: the call that took the slot; takes: the client's previous take
	after    int32 // takes: the previous take of the slot, in the order of answers; or none
	exit     int32 // takes, mayTake: the event from which on the slot may be free again; or endless
	quit     int32 // takes: the same, if the slot did not exist at some moment since then
	lostAt   int32 // lost: the event of the loss
	slot     uint16
	n        uint16 // number of slots
	op       lock.Op
	effect   effect
	traits   traits
}

// ends is the event from which on the slot of a call may be free again for any reason, or endless.
func (c *operation) ends() int32 { return min(c.exit, c.quit) }

// staged reports whether a call takes effect in steps, or at a moment that must be chosen.
func (c *operation) staged() bool {
	switch c.effect {
	case claims, adds, creates, removes, destroys:
		return true
	case takes, findsHeld:
		return c.traits.has(open)
	}
	return false
}
