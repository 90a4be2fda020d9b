package engine

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
)

// counts are numbers of the module's own properties: a run in parts has no others.
type counts [property.Count]int

func (c counts) all() (out [property.Most]int) {
	copy(out[:], c[:])
	return out
}

// partFile is a part as JSON. Its fields are those of a sample and mean the same.
type partFile struct {
	Scenarios       int                     `json:"scenarios"`
	Steps           int                     `json:"steps"`
	Commands        int                     `json:"commands"`
	Operations      int                     `json:"operations"`
	Undecided       int                     `json:"undecided"`
	Checks          counts                  `json:"checks"`
	Exercised       counts                  `json:"exercised"`
	First           counts                  `json:"first"`
	Violating       counts                  `json:"violating"`
	Seen            [sim.CoveragePoints]int `json:"seen"`
	Costs           monitor.Costs           `json:"costs"`
	Overlap         int64                   `json:"overlap"`
	OwnClock        int64                   `json:"own_clock"`
	OverlapCommands int32                   `json:"overlap_commands"`
	Overlaps        int                     `json:"overlaps"`
	Covered         [][2]int                `json:"covered,omitempty"` // points and scenarios, in the order of the points
}

// MarshalJSON implements json.Marshaler.
func (s *sample) MarshalJSON() ([]byte, error) {
	f := partFile{
		Scenarios: s.scenarios, Steps: s.steps, Commands: s.commands, Operations: s.operations, Undecided: s.undecided,
		Checks: counts(s.checks[:property.Count]), Exercised: counts(s.exercised[:property.Count]), First: counts(s.first[:property.Count]), Violating: counts(s.violating[:property.Count]), Seen: s.seen, Costs: s.costs,
		Overlap: s.overlap, OwnClock: s.ownClock, OverlapCommands: s.overlapCommands, Overlaps: s.overlaps,
	}
	for _, point := range slices.Sorted(maps.Keys(s.covered)) {
		f.Covered = append(f.Covered, [2]int{int(point), s.covered[point]})
	}
	return json.Marshal(f)
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *sample) UnmarshalJSON(data []byte) error {
	var f partFile
	if err := json.Unmarshal(data, &f, json.RejectUnknownMembers(true)); err != nil {
		return err
	}
	*s = sample{
		scenarios: f.Scenarios, steps: f.Steps, commands: f.Commands, operations: f.Operations, undecided: f.Undecided,
		checks: f.Checks.all(), exercised: f.Exercised.all(), first: f.First.all(), violating: f.Violating.all(), seen: f.Seen, costs: f.Costs,
		overlap: f.Overlap, ownClock: f.OwnClock, overlapCommands: f.OverlapCommands, overlaps: f.Overlaps,
	}
	for _, c := range f.Covered {
		s.cover(sim.Point(c[0]), c[1])
	}
	return nil
}
