package plugin

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// leases are the leases that were granted to clients, by number, with the virtual time at which each ends. It is safe for
// concurrent use.
type leases struct {
	mu      sync.Mutex
	now     int64 // virtual time in milliseconds
	ends    map[int64]ending
	granted int
	known   map[string]bool // numbers of the run's leases in hexadecimal, as clients write them into key names
	// unsynced says that a client watches from an old revision. etcd brings such a watcher up to date with a delay.
	unsynced bool
}

// ending says when a lease ends. Leases that end at the same time do so in the order in which they were granted.
type ending struct {
	at     int64
	number int
	lasts  time.Duration // the lease's duration by etcd's clock
	kept   time.Time     // when etcd last confirmed the lease, by the machine's clock
}

func newLeases() *leases {
	return &leases{ends: make(map[int64]ending), known: make(map[string]bool)}
}

// mostSeconds is the maximum duration of a lease, a century; longer ones are cut to it.
const mostSeconds = 100 * 365 * 24 * 3600

// milliseconds converts the duration of a lease from seconds.
func milliseconds(seconds uint64) int64 { return int64(min(seconds, mostSeconds)) * 1000 }

// grants records a new lease of the given number of seconds.
func (l *leases) grants(id int64, seconds uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.granted++
	l.ends[id] = ending{l.now + milliseconds(seconds), l.granted, time.Duration(milliseconds(seconds)) * time.Millisecond, time.Now()}
	l.known[hexOf(id)] = true
}

// renews records that an existing lease starts anew.
func (l *leases) renews(id int64, seconds uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, there := l.ends[id]; there && seconds > 0 {
		e.at = l.now + milliseconds(seconds)
		l.ends[id] = e
	}
}

// ended records that the lease with the given number has ended.
func (l *leases) ended(id int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.ends, id)
}

// advance lets time pass, and returns the leases that have ended.
func (l *leases) advance(ms int64) (over []int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now += ms
	for id, end := range l.ends {
		if end.at <= l.now {
			over = append(over, id)
		}
	}
	slices.SortFunc(over, func(a, b int64) int {
		return cmp.Or(cmp.Compare(l.ends[a].at, l.ends[b].at), cmp.Compare(l.ends[a].number, l.ends[b].number))
	})
	return over
}

// left returns the remaining milliseconds of a lease; 0 if there is no such lease.
func (l *leases) left(id int64) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	end, there := l.ends[id]
	if !there {
		return 0
	}
	return max(1, end.at-l.now)
}

// all returns the numbers of the leases that have not ended.
func (l *leases) all() (ids []int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range l.ends {
		ids = append(ids, id)
	}
	return ids
}

// begin begins a run. It forgets the leases that have ended.
func (l *leases) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known = make(map[string]bool)
	for id := range l.ends {
		l.known[hexOf(id)] = true
	}
}

// watchesOld records that a client watches from an old revision.
func (l *leases) watchesOld() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unsynced = true
}

// synced reports whether no watcher had to be brought up to date since the last call.
func (l *leases) synced() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := !l.unsynced
	l.unsynced = false
	return was
}

// hexOf returns a lease's number in the form in which clients write it into names of keys.
func hexOf(id int64) string { return strconv.FormatInt(id, 16) }

// split splits a key's name into the name and the lease that etcd's own locks append, as in name/694d81417acd4706.
func (l *leases) split(key string) (name, lease string) {
	i := strings.LastIndexByte(key, '/')
	l.mu.Lock()
	defer l.mu.Unlock()
	if i < 0 || !l.known[key[i+1:]] {
		return key, ""
	}
	return key[:i+1], key[i+1:]
}

// kept records whether etcd had a lease at the time asked; there is true if it had. A lease that etcd no longer has
// is removed. late is true if etcd may have ended this lease by its own clock. It is false if that clock cannot be
// the reason: then a client has ended the lease, and etcd's answer to this client has not arrived yet.
func (l *leases) kept(id int64, there bool, asked time.Time) (late bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, known := l.ends[id]
	switch {
	case !known:
	case there:
		e.kept = asked
		l.ends[id] = e
	default:
		late = time.Since(e.kept) > e.lasts
		delete(l.ends, id)
	}
	return late
}
