package search

import (
	"fmt"
	"syscall"
	"unsafe"
)

// newSlots allocates n slots for random access, outside the memory of the garbage collector. It asks for huge pages,
// which save a page table walk for each access.
func newSlots(n int) []uint64 {
	mem, err := syscall.Mmap(-1, 0, n*8, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(fmt.Sprintf("search: no memory for a table of %d MiB: %v; a bound of memory ends a search in time", n>>17, err))
	}
	_ = syscall.Madvise(mem, syscall.MADV_HUGEPAGE) // without huge pages, access is only slower
	return unsafe.Slice((*uint64)(unsafe.Pointer(&mem[0])), n)
}

// freeSlots returns the memory of newSlots to the system.
func freeSlots(s []uint64) {
	_ = syscall.Munmap(bytesOf(s))
}

// dropSlots returns the pages of s, which is a range of a table, to the system. The rest of the table stays allocated.
func dropSlots(s []uint64) {
	_ = syscall.Madvise(bytesOf(s), syscall.MADV_DONTNEED) // if it fails, the pages stay until freeSlots
}

func bytesOf(s []uint64) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*8) }
