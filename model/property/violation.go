package property

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/model/lock"
)

// Violation is a violation of a property.
type Violation struct {
	Property Property
	Own      string    // name of a custom property; "" for a built-in one
	Kind     lock.Kind // type of the lock
	Lock     uint8
	Client   uint8  // number of the client whose step or answer shows the violation, from 1; 0 is the broker
	Other    uint8  // number of the other client concerned; 0 is none
	Slot     uint8  // number of the slot concerned; 0 is none
	Detail   string // what was wrong; "" if the property says it
}

// Name is the name of the violated property.
func (v Violation) Name() string { return cmp.Or(v.Own, v.Property.String()) }

// Explain describes the violation in one line.
func (v Violation) Explain() string {
	if v.Property.Own() {
		return v.Detail
	}
	if v.Detail != "" && sentences.Has(v.Property) { // a detail from a history is a whole sentence
		return v.Detail
	}
	c, s := fmt.Sprintf("c%d", v.Client), SlotName(v.Kind, int(v.Slot))
	switch v.Property {
	case MutualExclusion:
		return fmt.Sprintf("c%d and %s hold %s at once", v.Other, c, s)
	case NoFalseHold:
		return fmt.Sprintf("c%d and %s hold %s, which was %s again", v.Other, c, s, ForKind(v.Kind, "removed and added", "destroyed and created"))
	case NoPhantomSlot:
		return fmt.Sprintf("%s was granted %s, which did not exist at any moment of the call", c, s)
	case HonestVerify:
		return fmt.Sprintf("%s was told that it holds %s, which does not exist or is not its own", c, s)
	case StaleBeliefEnds:
		return fmt.Sprintf("%s was told that it holds %s though the server had cut it off before it asked", c, s)
	case ExactCount:
		return fmt.Sprintf("%s counted %s, which was not right at any moment of the call", c, ForKind(v.Kind, fmt.Sprintf("%d slots", v.Slot), fmt.Sprint(v.Slot)))
	case AdminExclusion:
		return fmt.Sprintf("%s goes on administering after somebody else administered in between", c)
	case LeaseRespected:
		return fmt.Sprintf("%s was granted %s before c%d's lease had ended", c, s, v.Other)
	case VictimAcknowledged:
		return fmt.Sprintf("%s holds %s, which it took from c%d, though that one has not acknowledged it and its lease has not ended", c, s, v.Other)
	case EffectiveRelease:
		return fmt.Sprintf("%s released %s, but it cannot be acquired", c, s)
	case CrashFrees:
		if v.Slot == 0 && v.Kind == lock.Semaphore {
			return fmt.Sprintf("%s crashed and the server noticed, but what it had cannot be acquired", c)
		}
		return fmt.Sprintf("%s crashed and the server noticed, but %s is not free", c, s)
	case SurvivesRestart:
		return ForKind(v.Kind, "after the restart there are slots missing, or holders left", "after the restart the lock is missing, or a holder is left")
	case CheapAcquire:
		return fmt.Sprintf("%s's acquire %s", c, v.overspent())
	case CheapVerify:
		return fmt.Sprintf("%s's verify %s", c, v.overspent())
	case MinimalDriver:
		return fmt.Sprintf("%s uses a method that a minimal driver need not have", c)
	case NameSafety:
		return fmt.Sprintf("%s uses a queue that is also another lock's", c)
	}
	return v.about(c, s)
}

// sentences are the properties for which Explain has a text of its own, to be used if there is no Detail.
const sentences = Set(1<<MutualExclusion | 1<<NoFalseHold | 1<<NoPhantomSlot | 1<<HonestVerify | 1<<StaleBeliefEnds | 1<<ExactCount |
	1<<AdminExclusion | 1<<LeaseRespected | 1<<VictimAcknowledged | 1<<EffectiveRelease | 1<<CrashFrees | 1<<SurvivesRestart |
	1<<MinimalDriver | 1<<NameSafety)

// overspent says which cost was too high.
func (v Violation) overspent() string {
	if v.Detail == "" {
		return "costs more than it may"
	}
	return v.Detail
}

// about returns the detail. The name of the slot, s, precedes it for properties where the slot matters. The name of the
// client, c, comes first if the detail does not contain it.
func (v Violation) about(c, s string) string {
	text := v.Detail
	if v.Property == RemovalDrains || v.Property == ContiguousSlots && v.Slot > 0 {
		text = s + ": " + text
	}
	if v.Client > 0 && v.Property != Linearizable && !names(text, c) {
		text = c + ": " + text
	}
	return text
}

// names reports whether a text contains the client's name, as details from a history do.
func names(text, client string) bool {
	return slices.ContainsFunc(strings.Fields(text), func(word string) bool {
		return strings.TrimSuffix(strings.TrimRight(word, ",;:"), "'s") == client
	})
}
