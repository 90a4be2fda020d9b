package stress

import (
	"fmt"
	"math/rand/v2"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// Load says how much is done to a broker.
type Load struct {
	Slots   int // that the lock begins with; a true mutex has none
	Clients int // that acquire, at least 1
	Admins  int // that administer, now and then; a true mutex has none
	Rounds  int // each of which all clients begin at one instant
	// Verifies is how often a client verifies, at most, before it releases what it acquired.
	Verifies int
	// CrashShare is the share of operations in which, or after which, a client dies, from 0 to 1. It goes on
	// as a new process with a new connection.
	CrashShare float64
	// Seed decides what clients choose to do. Timing decides the results.
	Seed uint64
	// Progress is called before each round with the number of those done, and of all. It may be nil, and is
	// not called by two goroutines at once.
	Progress func(rounds, of int)
}

// Fit is as much of the load as a lock type can bear. A true mutex has no slots that can be made. Only a semaphore has more
// than one.
func (l Load) Fit(kind lock.Kind) Load {
	switch kind {
	case lock.Mutex:
		l.Slots, l.Admins = 0, 0
	case lock.PersistentMutex:
		l.Slots = min(l.Slots, 1)
	}
	return l
}

// Words is the load of a lock of that type in words.
func (l Load) Words(kind lock.Kind) string {
	out := fmt.Sprintf("%d clients that acquire", l.Clients)
	if l.Admins > 0 {
		out += fmt.Sprintf(", %d that administer", l.Admins)
	}
	if kind == lock.Semaphore {
		out += fmt.Sprintf(", %d slots at first", l.Slots)
	}
	return out + fmt.Sprintf(", %d rounds, crashes in %g of operations, choices from seed %d", l.Rounds, l.CrashShare, l.Seed)
}

// Bounds of a load: of what a broker has connections for, and so that processes can be numbered.
const (
	maxMembers      = 1000
	maxStressRounds = 1_000_000
)

// Check says what is wrong with the load of a lock of that type. The error begins with the name of what is.
func (l *Load) Check(kind lock.Kind) error {
	switch {
	case l.Clients < 1 || l.Clients > maxMembers:
		return fmt.Errorf("clients %d: expected 1 to %d", l.Clients, maxMembers)
	case l.Admins < 0 || l.Admins > maxMembers:
		return fmt.Errorf("admins %d: expected 0 to %d", l.Admins, maxMembers)
	case l.Rounds < 1 || l.Rounds > maxStressRounds:
		return fmt.Errorf("rounds %d: expected 1 to %d", l.Rounds, maxStressRounds)
	case kind != lock.Semaphore && l.Slots > 1:
		return fmt.Errorf("slots %d: expected at most 1 of a %s", l.Slots, kind)
	case kind == lock.Mutex && l.Admins > 0:
		return fmt.Errorf("admins %d: a mutex has no administration; leave it out", l.Admins)
	case l.Slots < 0 || l.Slots+l.Admins >= lock.MaxSlots:
		return fmt.Errorf("slots %d: expected 0 to %d beside %d administrators, who add one each", l.Slots, lock.MaxSlots-1-l.Admins, l.Admins)
	case l.Verifies < 0:
		return fmt.Errorf("verifies %d: expected at least 0", l.Verifies)
	case !(l.CrashShare >= 0 && l.CrashShare <= 1):
		return fmt.Errorf("crash-share %v: expected a share of operations, 0 to 1", l.CrashShare)
	}
	return nil
}

// Members is how many clients there are, those who administer among them: they have the last numbers.
func (l *Load) Members() int { return l.Clients + l.Admins }

// MaxSlots is the largest number that a slot can get: each administrator adds one at most before it removes
// one.
func (l *Load) MaxSlots() int { return max(1, l.Slots) + l.Admins }

// Process is the number by which a history knows one life of a client, both counted from 1: see [spec.Event].
func (l *Load) Process(client, life int32) int32 { return history.Process(client, life, l.Members()) }

// Choices is the source of what a client chooses.
func (l *Load) Choices(client int32) *rand.Rand {
	return rand.New(rand.NewPCG(l.Seed, uint64(client-1)))
}

// progress tells how far the run is.
func (l *Load) progress(round int) {
	if l.Progress != nil {
		l.Progress(round, l.Rounds)
	}
}
