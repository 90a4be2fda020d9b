package property

import (
	"fmt"
	"maps"

	"github.com/lockproof/lockproof/model/lock"
)

// Applicable are the properties that apply to every lock of type k.
func Applicable(k lock.Kind) Set {
	all := Set(1<<NoCrash - 1)
	if k != lock.Mutex {
		return all
	}
	for _, p := range []Property{NoPhantomSlot, NoFalseHold, ContiguousSlots, ExactCount, AdminExclusion, RemovalDrains} {
		all &^= 1 << p
	}
	return all
}

// Of returns the properties that apply to a target: those for its type and traits, without those that the target or its
// backend skips.
func Of(t *lock.Target) Set {
	set := Applicable(t.Kind) | ForTraits(t.Traits)
	for p := range Skipped(t) {
		set &^= 1 << p
	}
	return set
}

// External are the properties that apply to an external lock of type k on a server of backend b.
func External(b *lock.Backend, k lock.Kind) Set {
	set := ApplicableExternal(k)
	for p := range skipped(b.Skips) {
		set &^= 1 << p
	}
	return set
}

// Skipped are the properties that apply to a target's type, but not to the target, each with the reason.
func Skipped(t *lock.Target) map[Property]string {
	out := skipped(lock.BackendOf(t).Skips, t.Skips)
	maps.Copy(out, untold(t.Traits))
	return out
}

// skipped combines maps from names of properties to reasons. It panics for an unknown name: see CheckSkips.
func skipped(skips ...map[string]string) map[Property]string {
	out := make(map[Property]string)
	for _, all := range skips {
		for name, reason := range all {
			p, err := Named(name)
			if err != nil {
				panic("property: " + err.Error())
			}
			out[p] = reason
		}
	}
	return out
}

// CheckSkips returns an error if a backend or one of its targets skips an unknown property, or one without a reason.
func CheckSkips(b *lock.Backend) error {
	check := func(skips map[string]string) error {
		for name, reason := range skips {
			if _, err := Named(name); err != nil {
				return err
			}
			if reason == "" {
				return fmt.Errorf("property %s is skipped without a reason", name)
			}
		}
		return nil
	}
	if err := check(b.Skips); err != nil {
		return fmt.Errorf("backend %q: %w", b.Name, err)
	}
	for _, t := range b.Targets() {
		if err := check(t.Skips); err != nil {
			return fmt.Errorf("target %s: %w", t.Name, err)
		}
	}
	return nil
}

// ForTraits are the further properties that apply to locks with the traits t.
func ForTraits(t lock.Traits) (all Set) {
	for _, need := range []struct {
		trait lock.Traits
		p     Property
	}{
		{lock.Leases, LeaseRespected}, {lock.Leases, RenewalHonest}, {lock.Leases, HonestFull},
		{lock.Leases | lock.Permits, LimitRespected},
		{lock.Limits, LimitRespected}, {lock.Limits, HonestFull},
		{lock.Priorities, PriorityRespected}, {lock.Priorities, HonestFull},
		{lock.Acknowledged, VictimAcknowledged}, {lock.Tokens, FencingMonotone}, {lock.Losses, LossTold},
	} {
		if t.Has(need.trait) {
			all = all.With(need.p)
		}
	}
	return all
}

// untold are the properties that do not apply to a lock because of its traits, each with the reason.
func untold(t lock.Traits) map[Property]string {
	out := make(map[Property]string)
	if t.Has(lock.Priorities) {
		out[Linearizable] = "the sequential specification has no priorities"
	}
	if t.Has(lock.Limits | lock.Permits) {
		out[NoPhantomSlot] = "permits have no numbers: limit-respected counts them"
	}
	return out
}
