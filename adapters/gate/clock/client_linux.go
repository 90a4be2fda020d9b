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

// Client is the time of a client: of all processes that were started with its environment, and of those that they start. It is in
// memory that we share with them, and leaves no file behind.
type Client struct {
	memory  *os.File
	page    []byte
	taken   atomic.Bool // a process has it
	machine atomic.Bool // a process sleeps by the machine's time

	mu        sync.Mutex
	processes map[int32]*process // by their numbers
}

// row is what one thread of the client says of itself, as preload/clock.c writes it.
type row struct {
	Process, Thread int32
	Until           int64 // the time until which it waits; 0 is none
	Seen            int64 // the time when it last looked
	Turn            int64 // how often it has begun to wait
}

const (
	mostThreads = 255
	rowSize     = int(unsafe.Sizeof(row{}))
	timeSize    = 8
)

// preloaded is the library as a file in memory. It stays as long as we do.
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

// inMemory is a new file that is nowhere but in memory.
func inMemory(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("a file in memory for a client's clock: %w", err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

// NewClient makes a clock for a client. Its time begins with [Epoch].
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

// Environment is what a client is started with to have the clock.
func (c *Client) Environment() []string {
	library, _ := preloaded()
	return []string{"LD_PRELOAD=" + pathOf(library), "LOCKPROOF_CLOCK=" + pathOf(c.memory)}
}

// pathOf is where other processes find a file of ours that has no name.
func pathOf(f *os.File) string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), f.Fd()) }

// now is the place of the time.
func (c *Client) now() *int64 { return (*int64)(unsafe.Pointer(&c.page[0])) }

// Set has it be so long after [Epoch].
func (c *Client) Set(since time.Duration) { atomic.StoreInt64(c.now(), Epoch.UnixNano()+int64(since)) }

// Taken reports whether a process of the client has the clock. One that does not take the time from the C library has not, even
// where it has the library: such a program is found out when it first is at rest.
func (c *Client) Taken() bool {
	if c.machine.Load() {
		return false
	}
	if !c.taken.Load() && len(c.rows()) > 0 {
		c.taken.Store(true)
	}
	return c.taken.Load()
}

// Close lets go of the memory.
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

// rows are those of threads.
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
