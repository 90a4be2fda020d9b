package property

// severity orders the properties by the harm of a violation, the worst first: two clients that believe they hold one
// slot, then lost or invisible slots, then high costs.
var severity = [Count]Property{
	MutualExclusion, LeaseRespected, VictimAcknowledged, LimitRespected, NoFalseHold, NoPhantomSlot, HonestVerify,
	RenewalHonest, StaleBeliefEnds, FencingMonotone, PriorityRespected, Linearizable, NameSafety,
	RemovalDrains, AdminExclusion, ContiguousSlots, SurvivesRestart, EffectiveRelease, CrashFrees, NoCrash, HonestFull, Progress, ExactCount,
	LossTold, FreesAtOnce, NoLeak, MinimalDriver, CheapAcquire, CheapVerify,
}

// BySeverity are the properties of the set, the gravest first, users' own last.
func (s Set) BySeverity() (out []Property) {
	for _, p := range severity {
		if s.Has(p) {
			out = append(out, p)
		}
	}
	for p := Count; p < Most; p++ {
		if s.Has(p) {
			out = append(out, p)
		}
	}
	return out
}
