package clock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Client is the virtual time of a client: of all processes that were started with its environment, and of their child
// processes. It is in memory shared with them, and leaves no file behind.
type Client struct {
	memory  *os.File
	page    []byte
	taken   atomic.Bool // a process uses the virtual time
	machine atomic.Bool // a process sleeps by the machine's clock

	mu        sync.Mutex
	processes map[int32]*process // by process number
}

// row is what one thread of the client reports about itself, as preload/clock.c writes it.
type row struct {
	Process, Thread int32
	Until           int64 // the virtual time until which the thread waits; 0 if it does not wait
	Seen            int64 // the time at which the thread last read the clock
	Turn            int64 // how often the thread has begun to wait
}

const (
	mostThreads = 255
	rowSize     = int(unsafe.Sizeof(row{}))
	timeSize    = 8
)

// preloaded is the preloaded library, as a file in memory. It exists as long as this process.
var preloaded = sync.OnceValues(func() (*os.File, error) {
	code, err := library(context.Background())
	if err != nil {
		return nil, err
	}
	f, err := inMemory("lockproof-clock.so")
	if err == nil {
		_, err = f.Write(code)
	}
	return f, err
})

// inMemory creates a file that exists only in memory.
func inMemory(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("a file in memory for a client's clock: %w", err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

// NewClient makes a clock for a client. Its time begins at [Epoch].
func NewClient() (*Client, error) {
	if _, err := preloaded(); err != nil {
		return nil, err
	}
	memory, err := inMemory("lockproof-clock")
	if err != nil {
		return nil, err
	}
	c := &Client{memory: memory, processes: make(map[int32]*process)}
	size := timeSize + mostThreads*rowSize
	if err = memory.Truncate(int64(size)); err == nil {
		c.page, err = unix.Mmap(int(memory.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	if err != nil {
		return nil, errors.Join(err, memory.Close())
	}
	c.Set(0)
	return c, nil
}

// Environment returns the environment variables with which to start the client.
func (c *Client) Environment() []string {
	library, _ := preloaded()
	return []string{"LD_PRELOAD=" + pathOf(library), "LOCKPROOF_CLOCK=" + pathOf(c.memory)}
}

// pathOf returns the path at which other processes can open f, an unnamed file of this process.
func pathOf(f *os.File) string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), f.Fd()) }

// now points to the time in the shared memory.
func (c *Client) now() *int64 { return (*int64)(unsafe.Pointer(&c.page[0])) }

// Set sets the virtual time. since is the time after [Epoch].
func (c *Client) Set(since time.Duration) { atomic.StoreInt64(c.now(), Epoch.UnixNano()+int64(since)) }

// Taken reports whether a process of the client uses the virtual clock. A program that does not read the time through
// the C library keeps the machine's clock, even if it has loaded the clock's library. Taken returns false for such a
// program from the first time that Rest finds it asleep.
func (c *Client) Taken() bool {
	if c.machine.Load() {
		return false
	}
	if !c.taken.Load() && len(c.rows()) > 0 {
		c.taken.Store(true)
	}
	return c.taken.Load()
}

// Close releases the memory that is shared with the client.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	page := c.page
	c.page = nil
	if page == nil {
		return nil
	}
	for _, p := range c.processes {
		p.close()
	}
	c.processes = nil
	return errors.Join(unix.Munmap(page), c.memory.Close())
}

// rows returns what all threads of the client report about themselves.
func (c *Client) rows() (all []row) {
	for at := timeSize; at+rowSize <= len(c.page); at += rowSize {
		r := (*row)(unsafe.Pointer(&c.page[at]))
		if atomic.LoadInt32(&r.Thread) == 0 {
			continue
		}
		all = append(all, row{
			Process: atomic.LoadInt32(&r.Process), Thread: r.Thread,
			Until: atomic.LoadInt64(&r.Until), Seen: atomic.LoadInt64(&r.Seen), Turn: atomic.LoadInt64(&r.Turn),
		})
	}
	return all
}
