package scenario

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// SlotSet is a set of slot numbers: bit s is slot s.
type SlotSet uint16

// Has reports whether a slot is in the set.
func (s SlotSet) Has(slot uint8) bool { return s>>slot&1 == 1 }

// Slots are the numbers in the set, in ascending order.
func (s SlotSet) Slots() (list []int) {
	for ; s != 0; s &= s - 1 {
		list = append(list, bits.TrailingZeros16(uint16(s)))
	}
	return list
}

// String is the set in words, such as "1, 3 and 4".
func (s SlotSet) String() string {
	var words []string
	for _, slot := range s.Slots() {
		words = append(words, strconv.Itoa(slot))
	}
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

// MarshalJSON implements [json.Marshaler]: it writes a list of slot numbers.
func (s SlotSet) MarshalJSON() ([]byte, error) { return json.Marshal(s.Slots()) }

// UnmarshalJSON implements [json.Unmarshaler].
func (s *SlotSet) UnmarshalJSON(data []byte) error {
	var list []int
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	*s = 0
	for _, slot := range list {
		if slot < 1 || slot > 15 {
			return fmt.Errorf("slot %d: expected 1 to 15", slot)
		}
		*s |= 1 << slot
	}
	return nil
}

// Begin is a lock whose slots before the first step are the given ones, such as 1 and 3.
func Begin(name string, slots SlotSet) Lock {
	top := max(0, bits.Len16(uint16(slots))-1)
	return Lock{Name: name, Slots: uint8(top), Missing: (1<<(top+1) - 2) &^ slots}
}

// Has reports whether a slot exists before the first step.
func (l Lock) Has(slot uint8) bool { return slot >= 1 && slot <= l.Slots && !l.Missing.Has(slot) }

// Existing are the slots that exist before the first step.
func (l Lock) Existing() SlotSet { return (1<<(l.Slots+1) - 2) &^ l.Missing }

// HistoryTells reports whether the execution's history can be judged for linearizability. It cannot if a lock begins
// with a hole, since a history knows only the number of slots, or if the judged part begins later than the execution.
func (s *Scenario) HistoryTells() bool { return s.Schedule.Before == 0 && !s.holes() }

// holes reports whether a lock begins with a hole among its slots.
func (s *Scenario) holes() bool {
	for _, l := range s.Locks {
		if l.Missing != 0 {
			return true
		}
	}
	return false
}
