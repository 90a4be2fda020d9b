package property

import (
	"fmt"

	"github.com/lockproof/lockproof/model/lock"
)

// Users of a mutex see no slots, although a persistent mutex is a semaphore with one slot: it is free, held, or does
// not exist.

// SlotName is the name of a lock's slot: for a mutex, or if the slot is unknown, it is the lock.
func SlotName(k lock.Kind, slot int) string {
	if k != lock.Semaphore || slot == 0 {
		return "the lock"
	}
	return fmt.Sprintf("slot %d", slot)
}

// ForKind selects the wording for a semaphore, or for a mutex.
func ForKind(k lock.Kind, semaphore, mutex string) string {
	if k == lock.Semaphore {
		return semaphore
	}
	return mutex
}

// mutexSentences replace the sentences of [Properties] that speak of slots.
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

// The sentences of users' own properties.
const (
	OwnAlways    = "a function of your own finds nothing wrong after any step"
	OwnSometimes = "a function of your own sees it in some execution"
)

// serverSentences replace the sentences that speak of a broker and its queues, for locks on another kind of server.
var serverSentences = map[Property]string{
	StaleBeliefEnds: "a client whose session the server has ended learns it from its next verify",
	CrashFrees:      "what a crashed client holds becomes free once the server notices",
	NoLeak:          "nothing is left behind by what is over",
	NameSafety:      "nothing on the server is two locks' at once",
	SurvivesRestart: "after a restart of the server, a lock that is free is got",
	CheapAcquire:    "acquire stays within its round trips, and never reconnects but to mend a connection",
}

// SentenceOn is [Property.Sentence] for a lock on a server with the words w.
func (p Property) SentenceOn(w lock.Words, k lock.Kind) string {
	if said, ok := serverSentences[p]; ok && w.OffBroker() {
		return said
	}
	return p.Sentence(k)
}

// Sentence says when the property of a lock of that type holds.
func (p Property) Sentence(k lock.Kind) string {
	if p.Own() {
		return OwnAlways
	}
	if said, ok := mutexSentences[p]; ok && k != lock.Semaphore {
		return said
	}
	return Properties[p].Sentence
}

// Counted is a number of things, in words.
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
