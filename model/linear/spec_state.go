package linear

import (
	"encoding/binary"
	"strings"
)

// lockState is a state of the lock in the sequential specification. Two states can be compared by ==.
type lockState struct {
	slots   int
	holders string // by slot: the call that took it, plus 1, in four bytes; 0 if free
	stages  string // by index of a stage: how many of a call's steps are done, in two bytes
}

const (
	holderSize = 4
	stageSize  = 2
	noHolder   = 0
	// over is the stage of a call that has no further steps.
	over = 1<<16 - 1
)

// initial is the state of the lock before the first event.
func (p *Specification) initial() lockState {
	slots := p.r.first
	if p.r.unnamed {
		slots = p.r.permits
	}
	return lockState{
		slots:   slots,
		holders: strings.Repeat("\x00", holderSize*max(slots, p.r.slots)),
		stages:  strings.Repeat("\x00", stageSize*p.stages),
	}
}

// holder is the call that took a slot; none if the slot is free.
func (s *lockState) holder(slot int) int32 {
	return int32(binary.LittleEndian.Uint32([]byte(s.holders[holderSize*(slot-1):holderSize*slot]))) - 1
}

// held returns the state in which call k holds the slot; none frees it.
func (s lockState) held(slot int, k int32) lockState {
	b := []byte(s.holders)
	binary.LittleEndian.PutUint32(b[holderSize*(slot-1):], uint32(k+1))
	s.holders = string(b)
	return s
}

// slotOf is the slot that a call holds; 0 if it holds none.
func (s *lockState) slotOf(k int32) int {
	for slot := 1; slot <= len(s.holders)/holderSize; slot++ {
		if s.holder(slot) == k {
			return slot
		}
	}
	return 0
}

func (s *lockState) stage(i int32) int {
	return int(binary.LittleEndian.Uint16([]byte(s.stages[stageSize*i : stageSize*i+stageSize])))
}

// staged returns the state in which the stage with index i has the value stage.
func (s lockState) staged(i int32, stage int) lockState {
	b := []byte(s.stages)
	binary.LittleEndian.PutUint16(b[stageSize*i:], uint16(stage))
	s.stages = string(b)
	return s
}

// full reports whether every existing slot is held.
func (s *lockState) full() bool {
	for slot := 1; slot <= s.slots; slot++ {
		if s.holder(slot) == none {
			return false
		}
	}
	return true
}

// free reports whether a slot exists and nobody holds it.
func (s *lockState) free(slot int) bool { return slot <= s.slots && s.holder(slot) == none }

// spare is a free permit; 0 if all are held.
func (s *lockState) spare() int {
	for slot := 1; slot <= s.slots; slot++ {
		if s.free(slot) {
			return slot
		}
	}
	return 0
}
