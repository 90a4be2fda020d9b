package property

import "github.com/lockproof/lockproof/model/lock"

// What is judged of somebody else's lock has three parts.
const (
	// Safety is judged by the history alone, and nothing excuses it: what a client was told that it holds, it holds for certain
	// until it releases that, verifies it and is not told yes, dies, or loses a connection.
	Safety = Set(1<<MutualExclusion | 1<<LimitRespected | 1<<NoPhantomSlot | 1<<StaleBeliefEnds | 1<<FencingMonotone | 1<<NoCrash)
	// Recovery is judged at rest, by an audit: fresh clients acquire and release, one after the other, and nobody else is at
	// work. Nothing excuses it either.
	Recovery = Set(1<<EffectiveRelease | 1<<CrashFrees | 1<<SurvivesRestart | 1<<NoLeak | 1<<Progress | 1<<ExactCount |
		1<<ContiguousSlots | 1<<NameSafety)
	// Promises are a contract's: what it demands is judged in executions in which nothing goes wrong.
	Promises = Set(1<<Linearizable | 1<<CheapAcquire | 1<<CheapVerify | 1<<MinimalDriver)
)

// ApplicableForeign are the properties that can be judged of somebody else's lock of a type without knowing what its server has
// of it, where its clients announce some traits.
func ApplicableForeign(k lock.Kind, t lock.Traits) Set {
	all := (Applicable(k) | ForTraits(t)&Announceable).With(NoCrash)
	if k == lock.Semaphore {
		all = all.With(LimitRespected)
	} else {
		all &^= 1<<NoPhantomSlot | 1<<ContiguousSlots
	}
	return all & (Safety | Recovery | Promises)
}
