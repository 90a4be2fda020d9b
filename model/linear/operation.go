package linear

import (
	"math"

	"github.com/lockproof/lockproof/model/lock"
)

// effect is what an operation did to its lock, or what it observed.
type effect uint8

const (
	noEffect   effect = iota // nothing was changed or observed
	takes                    // acquire: took its slot
	mayTake                  // unanswered acquire: took one slot, or none
	claims                   // withdrawn acquire: took its slot, saw it removed, and gave it back
	findsFull                // acquire: found every slot taken
	findsHeld                // verify: answered "held"
	leaves                   // verify: saw the slot removed, and gave it up
	frees                    // release of the client's own slot
	freesAny                 // release of any client's slot
	findsCount               // count: found the number n of slots
	findsFree                // wait: found the slot free
	adds                     // administrative operations, slot by slot
	creates
	removes
	destroys
	impossible // the answer has no explanation
)

// traits are further facts about a call.
type traits uint16

const (
	// interrupted: the client's connection ended during the call.
	interrupted traits = 1 << iota
	// partial: the operation has no answer. It may have happened completely, in part, or not at all.
	partial
	// mayExpire: the slot may be lost at any moment since the event exit, without a call or an event.
	mayExpire
	// unproven: the slot that the operation concerns can only have been taken by an unanswered acquire of its client.
	unproven
	// loose: like mayExpire, but because the history does not record ends of connections.
	loose
	// lost: the client's connection has ended since the operation.
	lost
	// open: the moment of effect matters to other operations, so every moment must be tried (classify.go).
	open
	// openExit: the moment at which the slot is lost matters to other operations, so every moment must be tried.
	openExit
	// given: an unanswered release may have ended it.
	given
)

func (t traits) has(u traits) bool { return t&u != 0 }

// endless is the index of an event after the end of the history; none is the index of no event or call.
const (
	endless = math.MaxInt32
	none    = -1
)

// operation is an operation on the lock being checked. It takes effect at one or more moments between the events inv
// and ret.
type operation struct {
	inv, ret int32
	client   int32 // index in clients
	link     int32 // if effect is findsHeld, leaves or frees: the grant that took the slot; if takes: the client's previous grant
	after    int32 // if effect is takes: number of the slot's previous grant, in the order of answers; or none
	exit     int32 // if effect is takes or mayTake: the event since which the slot may be free again; or endless
	quit     int32 // if effect is takes: like exit, but only if the slot was missing at some moment since
	lostAt   int32 // event at which the slot was lost, if it has the trait lost
	slot     uint16
	n        uint16 // number of slots: created, added, removed or counted; acquire: the caller's limit
	op       lock.Op
	effect   effect
	traits   traits
}

// ends is the event since which the slot of a call may be free again for any reason; endless if there is none.
func (c *operation) ends() int32 { return min(c.exit, c.quit) }

// staged reports whether a call takes effect in several steps, or at a moment that must be searched for.
func (c *operation) staged() bool {
	switch c.effect {
	case claims, adds, creates, removes, destroys:
		return true
	case takes, findsHeld:
		return c.traits.has(open)
	}
	return false
}
