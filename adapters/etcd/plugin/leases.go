package plugin

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// leases are those that clients have been granted, by their numbers, and when each ends by the schedule. It is safe for concurrent
// use: connections note what they hear.
type leases struct {
	mu      sync.Mutex
	now     int64 // virtual milliseconds
	ends    map[int64]ending
	granted int
	known   map[string]bool // all that there have been in the run, as clients write them into keys
	// unsynced says that somebody watches from a revision that was there already. An etcd brings such a watcher up to date later.
	unsynced bool
}

// ending is when a lease ends. Leases that end at once do so in the order in which they were granted.
type ending struct {
	at     int64
	number int
	lasts  time.Duration // by etcd's own clock, when nobody keeps it alive
	kept   time.Time     // when it was known to be there
}

func newLeases() *leases {
	return &leases{ends: make(map[int64]ending), known: make(map[string]bool)}
}

// mostSeconds is the longest lease that is told apart: a century.
const mostSeconds = 100 * 365 * 24 * 3600

// milliseconds are those of a lease's time.
func milliseconds(seconds uint64) int64 { return int64(min(seconds, mostSeconds)) * 1000 }

// grants notes that a lease begins, or begins again, for so many seconds.
func (l *leases) grants(id int64, seconds uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.granted++
	l.ends[id] = ending{l.now + milliseconds(seconds), l.granted, time.Duration(milliseconds(seconds)) * time.Millisecond, time.Now()}
	l.known[hexOf(id)] = true
}

// renews notes that a lease that there is begins again.
func (l *leases) renews(id int64, seconds uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, there := l.ends[id]; there && seconds > 0 {
		e.at = l.now + milliseconds(seconds)
		l.ends[id] = e
	}
}

// ended notes that a lease is no more.
func (l *leases) ended(id int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.ends, id)
}

// advance lets time pass, and gives the leases that have ended by now.
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

// left is how long a lease still has; 0 is for ever.
func (l *leases) left(id int64) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	end, there := l.ends[id]
	if !there {
		return 0
	}
	return max(1, end.at-l.now)
}

// all are those that there are.
func (l *leases) all() (ids []int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range l.ends {
		ids = append(ids, id)
	}
	return ids
}

// begin begins a run. Of the leases granted before it, only those that have not ended stay known.
func (l *leases) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known = make(map[string]bool)
	for id := range l.ends {
		l.known[hexOf(id)] = true
	}
}

// watchesOld notes that somebody watches from a revision that was there already.
func (l *leases) watchesOld() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unsynced = true
}

// synced reports whether nobody is to be brought up to date, and has it be so.
func (l *leases) synced() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := !l.unsynced
	l.unsynced = false
	return was
}

// hexOf is a lease as clients write it into the names of keys.
func hexOf(id int64) string { return strconv.FormatInt(id, 16) }

// split takes the lease off the end of a key's name, which etcd's own locks put there: name/694d81417acd4706.
func (l *leases) split(key string) (name, lease string) {
	i := strings.LastIndexByte(key, '/')
	l.mu.Lock()
	defer l.mu.Unlock()
	if i < 0 || !l.known[key[i+1:]] {
		return key, ""
	}
	return key[:i+1], key[i+1:]
}

// kept notes that etcd had a lease, or had it no more, when it was asked at some time. It reports whether etcd may have ended it by its
// own clock: otherwise a client has, and nobody has heard the answer yet.
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
