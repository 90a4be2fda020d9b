package property

// severity is the properties by how much harm their violation does, the most first: two clients that believe to
// hold one slot, then slots that are lost or in nobody's sight, then what takes too much.
var severity = [Count]Property{
	MutualExclusion, LeaseRespected, VictimAcknowledged, LimitRespected, NoFalseHold, NoPhantomSlot, HonestVerify,
	RenewalHonest, StaleBeliefEnds, FencingMonotone, PriorityRespected, Linearizable, NameSafety,
	RemovalDrains, AdminExclusion, ContiguousSlots, SurvivesRestart, EffectiveRelease, CrashFrees, NoCrash, HonestFull, Progress, ExactCount,
	NoLeak, MinimalDriver, CheapAcquire, CheapVerify,
}

// BySeverity are the properties of the set, the gravest first, and users' own behind.
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
