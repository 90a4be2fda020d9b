package property

import (
	"fmt"

	"github.com/lockproof/lockproof/model/lock"
)

// Users of a mutex know no slots. Texts therefore say "the lock" for the one slot of a persistent mutex.

// SlotName is the name of a slot in texts, such as "slot 2". For a mutex, and for slot 0, it is "the lock".
func SlotName(k lock.Kind, slot int) string {
	if k != lock.Semaphore || slot == 0 {
		return "the lock"
	}
	return fmt.Sprintf("slot %d", slot)
}

// ForKind selects between two texts: one for semaphores, one for mutexes.
func ForKind(k lock.Kind, semaphore, mutex string) string {
	if k == lock.Semaphore {
		return semaphore
	}
	return mutex
}

// mutexSentences are the sentences of properties for mutexes, if those in [Properties] mention slots.
var mutexSentences = map[Property]string{
	MutualExclusion:  "no two clients hold the lock at once",
	NoPhantomSlot:    "nobody is granted a lock that did not exist at any moment of the call",
	NoFalseHold:      "destroying the lock and creating it again never lets a new client hold it while the old holder still does",
	HonestVerify:     "verify says held only if the lock exists and this client still owns it",
	ContiguousSlots:  "with no administrative operation under way, the lock is there if it was created, and only then",
	AdminExclusion:   "administrative operations of one lock never interleave",
	RemovalDrains:    "a destroyed lock is never granted again; its holder keeps it until it releases or fails to verify",
	EffectiveRelease: "after release returns, the lock can be acquired",
	CrashFrees:       "what a crashed client holds becomes free once the broker notices",
	SurvivesRestart:  "after a broker restart the lock is there and nobody holds it",
	Progress:         "a lock that is free is got; retries are bounded; nothing waits for what nobody does",
}

// The sentences of custom properties.
const (
	OwnAlways    = "a function of your own finds nothing wrong after any step"
	OwnSometimes = "a function of your own sees it in some execution"
)

// serverSentences are the sentences of properties for locks that are not on a broker, if those in [Properties] mention
// brokers or queues.
var serverSentences = map[Property]string{
	StaleBeliefEnds: "a client whose session the server has ended learns it from its next verify",
	CrashFrees:      "what a crashed client holds becomes free once the server notices",
	NoLeak:          "nothing is left behind by what is over",
	NameSafety:      "nothing on the server is two locks' at once",
	SurvivesRestart: "after a restart of the server, a lock that is free is got",
	CheapAcquire:    "acquire stays within its round trips, and never reconnects but to mend a connection",
}

// SentenceOn is the property's sentence for a lock of type k on the kind of server that w describes.
func (p Property) SentenceOn(w lock.Words, k lock.Kind) string {
	if said, ok := serverSentences[p]; ok && w.OffBroker() {
		return said
	}
	return p.Sentence(k)
}

// Sentence is the property's sentence for a lock of type k on a broker: it says when the property holds.
func (p Property) Sentence(k lock.Kind) string {
	if p.Own() {
		return OwnAlways
	}
	if said, ok := mutexSentences[p]; ok && k != lock.Semaphore {
		return said
	}
	return Properties[p].Sentence
}

// Counted is a number with its noun, such as "1 slot" or "2 slots".
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
