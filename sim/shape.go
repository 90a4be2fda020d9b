package sim

import (
	"fmt"
	"strings"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/scenario"
)

// Shape fixes parts of a workload and of its faults. What it does not fix (nil) is drawn. The zero value fixes nothing.
type Shape struct {
	Clients *int // number of clients that acquire
	Admins  *int // number of administrators
	Slots   *int // number of slots of each lock at the beginning
	// Start, if not 0, is the set of slots that each lock has at the beginning. It replaces Slots.
	Start scenario.SlotSet
	// Rounds is the number of rounds of each client. A round is an acquire, up to two verifies, and a release.
	Rounds *int
	// CrashShare is the share of operations in which a client crashes, from 0 to 1.
	CrashShare *float64
	// Restarts is the number of restarts of the broker.
	Restarts *int
}

// These bounds ensure that the index of an operation fits into a byte, and that all faults fit into a scenario.
const (
	maxDrawnRounds = 50
	maxRestarts    = 8
)

// addedEach is the largest number of slots that an administrator adds without having removed any.
const addedEach = 2

// Check returns an error that says why the shape is impossible for a lock of the given kind, or nil. The error begins
// with the name of the wrong field.
func (h *Shape) Check(kind lock.Kind) error {
	clients, admins := fixed(h.Clients, 1), fixed(h.Admins, 0)
	switch {
	case clients < 1 || clients > lock.MaxClients:
		return fmt.Errorf("clients %d: expected 1 to %d, administrators included", clients, lock.MaxClients)
	case admins != 0 && kind == lock.Mutex:
		return fmt.Errorf("admins %d: a mutex has no administration; leave it out", admins)
	case admins < 0 || admins > lock.MaxClients-clients:
		return fmt.Errorf("admins %d: expected 0 to %d, of at most %d clients altogether", admins, lock.MaxClients-clients, lock.MaxClients)
	}
	switch slots, most := fixed(h.Slots, 0), mostSlots(kind, admins); {
	case slots < 0 || slots > most:
		return fmt.Errorf("slots %d: expected 0 to %d of a %s with administrators: %d", slots, most, kind, admins)
	}
	if err := h.checkStart(kind); err != nil {
		return err
	}
	return h.checkFaults()
}

// free reports whether the shape fixes nothing.
func (h *Shape) free() bool { return *h == Shape{} }

// top returns the highest slot that locks have at the beginning; 0 if the slots are drawn.
func (h *Shape) top() int {
	if h.Start != 0 {
		return int(scenario.Begin("", h.Start).Slots)
	}
	return fixed(h.Slots, 0)
}

// checkStart returns an error if locks of this kind cannot begin with the slots in Start.
func (h *Shape) checkStart(kind lock.Kind) error {
	switch most := mostSlots(kind, fixed(h.Admins, 0)); {
	case h.Start == 0:
	case kind != lock.Semaphore:
		return fmt.Errorf("start slots %s: a %s has no slots to choose from", h.Start, kind)
	case h.Slots != nil:
		return fmt.Errorf("start slots %s: and %d slots; expected one of the two", h.Start, *h.Slots)
	case h.top() > most:
		return fmt.Errorf("start slots %s: expected slots up to %d", h.Start, most)
	}
	return nil
}

func (h *Shape) checkFaults() error {
	rounds, share, restarts := fixed(h.Rounds, 1), fixed(h.CrashShare, 0), fixed(h.Restarts, 0)
	switch {
	case rounds < 1 || rounds > maxDrawnRounds:
		return fmt.Errorf("rounds %d: expected 1 to %d", rounds, maxDrawnRounds)
	case !(share >= 0 && share <= 1):
		return fmt.Errorf("crash-share %v: expected a share of operations, 0 to 1", share)
	case restarts < 0 || restarts > maxRestarts:
		return fmt.Errorf("restarts %d: expected 0 to %d", restarts, maxRestarts)
	}
	return nil
}

// String describes the fixed parts as text; "" if there are none.
func (h *Shape) String() string {
	var out []string
	for _, k := range []struct {
		n    *int
		noun string
	}{{h.Clients, "client"}, {h.Admins, "administrator"}, {h.Slots, "slot"}, {h.Rounds, "round"}, {h.Restarts, "broker restart"}} {
		switch {
		case k.n == nil:
		case *k.n == 1:
			out = append(out, "1 "+k.noun)
		default:
			out = append(out, fmt.Sprintf("%d %ss", *k.n, k.noun))
		}
	}
	if h.Start != 0 {
		out = append(out, fmt.Sprintf("slots %s at first", h.Start))
	}
	switch {
	case h.Admins != nil:
	case h.room() == 0:
		out = append(out, "no administrators (no room for more slots)")
	case fixed(h.Clients, 1) == lock.MaxClients:
		out = append(out, "no administrators (no room for more clients)")
	}
	if h.CrashShare != nil {
		out = append(out, fmt.Sprintf("a crash in %v of operations", *h.CrashShare))
	}
	return strings.Join(out, ", ")
}

// mostSlots returns the largest number of slots that a lock of this kind can have at the beginning, such that its
// administrators can add slots.
func mostSlots(kind lock.Kind, admins int) int {
	switch kind {
	case lock.Mutex:
		return 0
	case lock.PersistentMutex:
		return 1
	}
	return min(monitor.Slots-1, monitor.Slots-addedEach*admins)
}

// fixed returns the value that a pointer refers to, or open if the pointer is nil.
func fixed[T any](value *T, open T) T {
	if value == nil {
		return open
	}
	return *value
}

// clients returns the number of clients that acquire: the fixed number, or a drawn one that leaves room for the fixed
// number of administrators.
func (h *Shape) clients(drawn func() int) int {
	if h.Clients != nil {
		return *h.Clients
	}
	return min(drawn(), lock.MaxClients-fixed(h.Admins, 0))
}

// admins returns the number of administrators: the fixed number, or a drawn one for which there is room beside the
// given number of clients.
func (h *Shape) admins(clients int, drawn func() int) int {
	if h.Admins != nil {
		return *h.Admins
	}
	return min(drawn(), lock.MaxClients-clients, h.room())
}

// room returns the number of administrators that can each add slots to the initial ones.
func (h *Shape) room() int { return (monitor.Slots - h.top()) / addedEach }

// shapedFaults draws the crashes and restarts, if the shape fixes their number.
func (d draw) shapedFaults(s *scenario.Scenario, kind lock.Kind) {
	if share := fixed(d.shape.CrashShare, 0); share > 0 {
		for c := range s.Clients {
			if at := d.dying(s.Clients[c].Ops, kind, share); at > 0 {
				f := scenario.Fault{Do: faultKinds[d.below(crashKinds)], Client: uint8(c + 1), At: uint16(at)}
				f.Delay = d.delay()
				s.Faults = append(s.Faults, f)
			}
		}
	}
	for range fixed(d.shape.Restarts, 0) {
		s.Faults = append(s.Faults, scenario.Fault{Do: scenario.Restart, At: uint16(1 + d.below(d.spread(s)))})
	}
}

// dying draws the number of the command at which a client crashes; 0 means never. In each operation the client crashes
// with probability share.
func (d draw) dying(ops []scenario.Operation, kind lock.Kind, share float64) int {
	sent, holding := 0, false
	for _, o := range ops {
		if !scenario.Sensible(o.Op, holding) {
			continue
		}
		if o.Op == lock.Acquire || o.Op == lock.Release {
			holding = o.Op == lock.Acquire
		}
		commands := usualCommands(o.Op, kind)
		if d.chance(share) {
			return sent + 1 + d.below(commands)
		}
		sent += commands
	}
	return 0
}

// usualCommands returns the number of commands that an operation usually sends.
func usualCommands(op lock.Op, kind lock.Kind) int {
	switch {
	case op == lock.Verify || op == lock.Refresh || op == lock.Release || kind == lock.Mutex:
		return 1
	}
	return 6
}

// chance returns true with probability share.
func (d draw) chance(share float64) bool {
	const fine = 20 // number of bits that are drawn
	return float64(d.Bits(fine)) < share*(1<<fine)
}

// stepsEach is the average number of steps that each operation of a fixed workload may take. It is many times what
// eight contending clients of a reference lock take.
const stepsEach = 50

// steps returns the largest number of steps of an execution; 0 means the default.
func (h *Shape) steps(s *scenario.Scenario) int {
	if h.Clients == nil && h.Admins == nil && h.Slots == nil && h.Rounds == nil {
		return 0
	}
	return min(max(scenario.MaxSteps, operations(s)*stepsEach), scenario.MostSteps)
}

func operations(s *scenario.Scenario) (n int) {
	for i := range s.Clients {
		n += len(s.Clients[i].Ops)
	}
	return n
}

// spread returns the number of steps over which faults and PCT's priority changes are spread. It is also the number of
// random choices of a schedule before they repeat. It grows with the fixed number of rounds.
func (d draw) spread(s *scenario.Scenario) int {
	const most = 1000
	if d.shape.Rounds == nil {
		return stepsSpread
	}
	return min(max(stepsSpread, 4*operations(s)), most)
}

// later draws a number of steps by which a fault comes later, if many rounds make executions long.
func (d draw) later(s *scenario.Scenario) uint16 {
	if d.shape.Rounds == nil {
		return 0
	}
	return uint16(d.below(d.spread(s) / len(s.Clients)))
}
