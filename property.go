package lockproof

import (
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/own"
	"github.com/lockproof/lockproof/model/property"
)

// Property is the name of a requirement, such as mutual-exclusion.
type Property string

const (
	MutualExclusion, Linearizable, NoPhantomSlot, NoFalseHold, HonestVerify, StaleBeliefEnds                 Property = "mutual-exclusion", "linearizable", "no-phantom-slot", "no-false-hold", "honest-verify", "stale-belief-ends"
	ContiguousSlots, ExactCount, AdminExclusion, RemovalDrains, EffectiveRelease, CrashFrees                 Property = "contiguous-slots", "exact-count", "admin-exclusion", "removal-drains", "effective-release", "crash-frees"
	NoLeak, SurvivesRestart, Progress, CheapAcquire, CheapVerify                                             Property = "no-leak", "survives-restart", "progress", "cheap-acquire", "cheap-verify"
	MinimalDriver, NameSafety, NoCrash, LeaseRespected, LimitRespected                                       Property = "minimal-driver", "name-safety", "no-crash", "lease-respected", "limit-respected"
	HonestFull, RenewalHonest, PriorityRespected, VictimAcknowledged, FencingMonotone, LossTold, FreesAtOnce Property = "honest-full", "renewal-honest", "priority-respected", "victim-acknowledged", "fencing-monotone", "loss-told", "frees-at-once"
)

// Sentence is the property in words, such as "no two clients hold one slot at once".
func (p Property) Sentence() string {
	named, err := property.Named(string(p))
	if err != nil {
		return ""
	}
	return named.Sentence(lock.Semaphore)
}

// setOf makes a set of the properties in list. An error means that a property is unknown or does not apply to the
// target.
func setOf(list []Property, all own.List, applicable property.Set, kind lock.Kind) (set property.Set, err error) {
	for _, p := range list {
		if mine, ok := all.Named(string(p)); ok {
			set = set.With(mine)
			continue
		}
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
