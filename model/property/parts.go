package property

import "github.com/lockproof/lockproof/model/lock"

// The judgement of an external lock has three parts.
const (
	// Safety is judged from the history alone, and nothing excuses a violation. A client certainly holds a slot that
	// it was granted until it releases it, gets another answer than yes from a verify, dies, or loses a connection.
	Safety = Set(1<<MutualExclusion | 1<<LimitRespected | 1<<NoPhantomSlot | 1<<RemovalDrains |
		1<<StaleBeliefEnds | 1<<FencingMonotone | 1<<NoCrash)
	// Recovery is judged at rest, by an audit: fresh clients acquire and release one after the other, while no other
	// client is active. Nothing excuses a violation.
	Recovery = Set(1<<EffectiveRelease | 1<<CrashFrees | 1<<SurvivesRestart | 1<<NoLeak | 1<<Progress | 1<<ExactCount |
		1<<ContiguousSlots | 1<<NameSafety)
	// Promises may be part of a contract. They are judged in executions in which nothing goes wrong.
	Promises = Set(1<<Linearizable | 1<<CheapAcquire | 1<<CheapVerify | 1<<MinimalDriver | 1<<LossTold | 1<<FreesAtOnce)
)

// ApplicableExternal are the properties that can be judged of an external lock of a type without knowing its server's
// state.
func ApplicableExternal(k lock.Kind) Set {
	all := Applicable(k).With(NoCrash)
	if k == lock.Semaphore {
		all = all.With(LimitRespected) &^ (1 << RemovalDrains) // it is not known which slot was removed
	} else {
		all &^= 1 << ContiguousSlots
	}
	return all & (Safety | Recovery | Promises)
}

// Announceable are the properties that apply to an external lock only if its clients announce the necessary feature.
var Announceable = ForTraits(lock.Tokens | lock.Losses).With(FreesAtOnce)

// Announced are the announceable properties that apply to an external lock with some traits, provided that the set s
// includes all properties that apply to its type.
func (s Set) Announced(k lock.Kind, t lock.Traits) Set {
	if ApplicableExternal(k)&^s != 0 {
		return 0
	}
	all := ForTraits(t) & Announceable
	if k == lock.Mutex && t.Has(lock.Leases) { // a leaked slot of a semaphore leaves other slots to the clients
		all = all.With(FreesAtOnce)
	}
	return all
}
