package property

// severity orders the properties by the harm that a violation does, the worst first: two holders of one slot, then lost
// or invisible slots, then high costs.
var severity = [Count]Property{
	MutualExclusion, LeaseRespected, VictimAcknowledged, LimitRespected, NoFalseHold, NoPhantomSlot, HonestVerify,
	RenewalHonest, StaleBeliefEnds, FencingMonotone, PriorityRespected, Linearizable, NameSafety,
	RemovalDrains, AdminExclusion, ContiguousSlots, SurvivesRestart, EffectiveRelease, CrashFrees, NoCrash, HonestFull, Progress, ExactCount,
	LossTold, FreesAtOnce, NoLeak, MinimalDriver, CheapAcquire, CheapVerify,
}

// BySeverity are the properties of the set, the worst first and custom ones last.
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
