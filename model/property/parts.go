package property

import "github.com/lockproof/lockproof/model/lock"

// The judgement of an external lock has three parts.
const (
	// Safety is judged by the history alone, and nothing excuses it. A client certainly holds a slot that it was
	// granted until it releases it, gets another answer than yes from a verify, dies, or loses a connection.
	Safety = Set(1<<MutualExclusion | 1<<LimitRespected | 1<<NoPhantomSlot | 1<<RemovalDrains |
		1<<StaleBeliefEnds | 1<<FencingMonotone | 1<<NoCrash)
	// Recovery is judged at rest, by an audit: fresh clients acquire and release one after the other, without any
	// other client. Nothing excuses it either.
	Recovery = Set(1<<EffectiveRelease | 1<<CrashFrees | 1<<SurvivesRestart | 1<<NoLeak | 1<<Progress | 1<<ExactCount |
		1<<ContiguousSlots | 1<<NameSafety)
	// Promises are a contract's: what it demands is judged in executions in which nothing goes wrong.
	Promises = Set(1<<Linearizable | 1<<CheapAcquire | 1<<CheapVerify | 1<<MinimalDriver | 1<<LossTold | 1<<FreesAtOnce)
)

// ApplicableExternal are the properties that can be judged of somebody else's lock of a type, without knowing what its server has
// of it.
func ApplicableExternal(k lock.Kind) Set {
	all := Applicable(k).With(NoCrash)
	if k == lock.Semaphore {
		all = all.With(LimitRespected) &^ (1 << RemovalDrains) // which slot was removed is not known
	} else {
		all &^= 1 << ContiguousSlots
	}
	return all & (Safety | Recovery | Promises)
}

// Announceable are those of somebody else's lock that mean something where its clients announce what it takes.
var Announceable = ForTraits(lock.Tokens | lock.Losses).With(FreesAtOnce)

// Announced are those of them that mean something for a lock with some traits, if all are judged that mean something for
// its type.
func (s Set) Announced(k lock.Kind, t lock.Traits) Set {
	if ApplicableExternal(k)&^s != 0 {
		return 0
	}
	all := ForTraits(t) & Announceable
	if k == lock.Mutex && t.Has(lock.Leases) { // a slot that is left behind leaves others
		all = all.With(FreesAtOnce)
	}
	return all
}
