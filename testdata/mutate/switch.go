package main

// switchSource is the package that turns bugs on in the copy: the one whose number envBug names. If envReached
// names a file instead, its n-th byte becomes 1 when the code of bug n is reached, in whatever process.
const switchSource = `package injected

import (
	"os"
	"strconv"
	"sync/atomic"
)

var (
	active, _ = strconv.Atoi(os.Getenv("` + envBug + `"))
	noted     []atomic.Bool // by number; it takes no memory to note one, which some tests look at
	reached   = open(os.Getenv("` + envReached + `"))
)

func open(path string) *os.File {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	info, err := f.Stat()
	if err != nil {
		panic(err)
	}
	noted = make([]atomic.Bool, info.Size())
	return f
}

// On reports whether a bug is turned on.
func On(number int) bool { return active == number || reached != nil && note(number) }

func note(number int) bool {
	if !noted[number].Swap(true) {
		if _, err := reached.WriteAt([]byte{1}, int64(number)); err != nil {
			panic(err)
		}
	}
	return false
}
`

// The environment variables of the copy's tests.
const (
	envBug     = "MUTATE_BUG"
	envReached = "MUTATE_REACHED"
)
