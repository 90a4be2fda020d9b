package tally

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
)

// counts has one number for each built-in property. Custom properties are left out, because a run in parts has none.
type counts [property.Count]int

func (c counts) all() (out [property.Most]int) {
	copy(out[:], c[:])
	return out
}

// tallyFile is the JSON form of a Tally.
type tallyFile struct {
	Scenarios       int                     `json:"scenarios"`
	Steps           int                     `json:"steps"`
	Commands        int                     `json:"commands"`
	Operations      int                     `json:"operations"`
	Undecided       int                     `json:"undecided"`
	Unclear         unclear                 `json:"unclear,omitzero"`
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
	Covered         [][2]int                `json:"covered,omitempty"` // sorted pairs of a point and a scenario
}

// MarshalJSON implements json.Marshaler.
func (s *Tally) MarshalJSON() ([]byte, error) {
	f := tallyFile{
		Scenarios: s.Scenarios, Steps: s.Steps, Commands: s.Commands, Operations: s.Operations, Undecided: s.Undecided, Unclear: s.unclear,
		Checks: counts(s.Checks[:property.Count]), Exercised: counts(s.exercised[:property.Count]), First: counts(s.First[:property.Count]), Violating: counts(s.violating[:property.Count]), Seen: s.Seen, Costs: s.Costs,
		Overlap: s.Overlap, OwnClock: s.OwnClock, OverlapCommands: s.OverlapCommands, Overlaps: s.Overlaps,
	}
	for _, point := range slices.Sorted(maps.Keys(s.Covered)) {
		f.Covered = append(f.Covered, [2]int{int(point), s.Covered[point]})
	}
	return json.Marshal(f)
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Tally) UnmarshalJSON(data []byte) error {
	var f tallyFile
	if err := json.Unmarshal(data, &f, json.RejectUnknownMembers(true)); err != nil {
		return err
	}
	*s = Tally{
		Scenarios: f.Scenarios, Steps: f.Steps, Commands: f.Commands, Operations: f.Operations, Undecided: f.Undecided, unclear: f.Unclear,
		Checks: f.Checks.all(), exercised: f.Exercised.all(), First: f.First.all(), violating: f.Violating.all(), Seen: f.Seen, Costs: f.Costs,
		Overlap: f.Overlap, OwnClock: f.OwnClock, OverlapCommands: f.OverlapCommands, Overlaps: f.Overlaps,
	}
	for _, c := range f.Covered {
		s.cover(sim.Point(c[0]), c[1])
	}
	return nil
}
