package sim

import (
	"math"

	"github.com/lockproof/lockproof/model/codec"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// Clocks has the clocks of an execution's clients, in milliseconds. Each clock shows the servers' time until a fault
// changes it. A fault lets the clock jump, or run fast or slow from then on.
type Clocks struct {
	now    int64 // the servers' time
	back   int64 // the largest amount by which clock faults may still set a clock back
	clocks [lock.MaxClients]clock
}

// clock is the clock of one client.
type clock struct {
	ahead int64 // the clock's time minus the servers' time
	rate  int32 // deviation of the clock's speed in thousandths; positive means fast
	part  int32 // thousandths of a millisecond to add to ahead, 0 to 999
}

// Now returns the time that client c's clock shows.
func (k *Clocks) Now(c uint8) int64 { return k.now + k.clocks[c-1].ahead }

// Back returns the largest amount by which faults may still set a clock back. A state need not store moments that are
// further in the past.
func (k *Clocks) Back() int64 { return k.back }

// In returns the number of milliseconds of the servers' time until client c's clock shows the given time (at). It
// returns 0 if the clock has already reached that time, and [Never] if the clock stands still.
func (k *Clocks) In(c uint8, at int64) int64 {
	left, cl := at-k.Now(c), &k.clocks[c-1]
	if left <= 0 || cl.rate == 0 {
		return max(0, left)
	}
	speed := 1000 + int64(cl.rate)
	if speed <= 0 {
		return Never
	}
	return (left*1000 - int64(cl.part) + speed - 1) / speed
}

// Never stands for a time that is never reached.
const Never = math.MaxInt32

// pass lets ms milliseconds of the servers' time pass on the clocks of all clients.
func (k *Clocks) pass(ms int64, clients int) {
	k.now += ms
	for i := range k.clocks[:clients] {
		if cl := &k.clocks[i]; cl.rate != 0 {
			thousandths := ms*int64(cl.rate) + int64(cl.part)
			whole := thousandths / 1000
			if thousandths%1000 < 0 {
				whole--
			}
			cl.ahead += whole
			cl.part = int32(thousandths - whole*1000)
		}
	}
}

// disturb applies a clock fault.
func (k *Clocks) disturb(a scenario.Action) {
	cl, by := &k.clocks[a.Client-1], int64(a.Arg)
	switch a.Kind {
	case scenario.ClockAhead:
		cl.ahead += by
	case scenario.ClockBehind:
		cl.ahead -= by
	case scenario.ClockFast:
		cl.rate = int32(by)
	case scenario.ClockSlow:
		cl.rate = -int32(min(by, 1000))
	}
}

// code writes or reads the clock of client n. It includes the offset only if different clocks are compared: the offset
// of a drifting clock is different at every moment.
func (k *Clocks) code(c *codec.Coder, n uint8, compared bool) {
	cl := &k.clocks[n-1]
	if c.Reading() {
		*cl = clock{}
	}
	rate, part := zigzag(int64(cl.rate)), cl.part
	codec.Number(c, &rate)
	codec.Number(c, &part)
	cl.rate, cl.part = int32(unzigzag(rate)), part
	if compared {
		ahead := zigzag(cl.ahead)
		codec.Number(c, &ahead)
		cl.ahead = unzigzag(ahead)
	}
}

// zigzag encodes a small positive or negative number as a small unsigned number.
func zigzag(n int64) uint64 { return uint64(n<<1) ^ uint64(n>>63) }

func unzigzag(n uint64) int64 { return int64(n>>1) ^ -int64(n&1) }
