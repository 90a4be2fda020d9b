//go:build !linux

package search

func newSlots(n int) []uint64 { return make([]uint64, n) }

func freeSlots([]uint64) {}

func dropSlots([]uint64) {}
