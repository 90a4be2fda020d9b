package search

import (
	"fmt"
	"syscall"
	"unsafe"
)

// newSlots is memory that is used at random: in huge pages, where the system has them, every access
// saves a walk through the page table. It does not count as the garbage collector's.
func newSlots(n int) []uint64 {
	mem, err := syscall.Mmap(-1, 0, n*8, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(fmt.Sprintf("search: no memory for a table of %d MiB: %v; a bound of memory ends a search in time", n>>17, err))
	}
	_ = syscall.Madvise(mem, syscall.MADV_HUGEPAGE) // without them it is only slower
	return unsafe.Slice((*uint64)(unsafe.Pointer(&mem[0])), n)
}

// freeSlots gives the memory back.
func freeSlots(s []uint64) {
	_ = syscall.Munmap(bytesOf(s))
}

// dropSlots gives back what a part of it takes, before the whole is freed.
func dropSlots(s []uint64) {
	_ = syscall.Madvise(bytesOf(s), syscall.MADV_DONTNEED) // otherwise it stays until then
}

func bytesOf(s []uint64) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*8) }
