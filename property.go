package lockproof

import (
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// Property is a named thing that must hold.
type Property string

const (
	MutualExclusion, Linearizable, NoPhantomSlot Property = "mutual-exclusion", "linearizable", "no-phantom-slot"
	NoFalseHold, HonestVerify, StaleBeliefEnds   Property = "no-false-hold", "honest-verify", "stale-belief-ends"
	ContiguousSlots, ExactCount, AdminExclusion  Property = "contiguous-slots", "exact-count", "admin-exclusion"
	RemovalDrains, EffectiveRelease, CrashFrees  Property = "removal-drains", "effective-release", "crash-frees"
	NoLeak, SurvivesRestart, Progress            Property = "no-leak", "survives-restart", "progress"
	CheapAcquire, CheapVerify, MinimalDriver     Property = "cheap-acquire", "cheap-verify", "minimal-driver"
	NameSafety, NoCrash                          Property = "name-safety", "no-crash"
)

// Sentence is what holds, such as "no two clients hold one slot at once".
func (p Property) Sentence() string {
	named, err := property.Named(string(p))
	if err != nil {
		return ""
	}
	return named.Sentence(lock.Semaphore)
}

// setOf is a list of properties as a set. All must mean something for the target.
func setOf(list []Property, applicable property.Set, kind lock.Kind) (set property.Set, err error) {
	for _, p := range list {
		named, err := property.Named(string(p))
		if err != nil {
			return 0, invalid("property %q is not known", p)
		}
		if !applicable.Has(named) {
			return 0, invalid("%s means nothing for this %s", p, kind)
		}
		set = set.With(named)
	}
	return set, nil
}
