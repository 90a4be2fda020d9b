package broker

import "math"

// never is the deadline of messages that do not expire.
const never = math.MaxInt64

// message is one message in a queue. If it returns to the queue, its priority and position decide its place.
type message struct {
	position   uint64
	id         uint64 // chosen by the publisher
	deadline   int64
	mark       mark
	priority   uint8  // 0 unless the queue has priorities
	deliveries uint16 // number of times that the message returned, if its queue counts this
	letter     uint32 // number of the message's routing data, see mail; 0 if it has none
}

type mark uint8

const (
	persistent mark = 1 << iota
	redelivered
)

// run is a sequence of messages that differ only in their positions, stored as the first message and a count. Clients
// may probe a queue by publishing equal messages to it; such a queue is one run, however long it is (FACTS B16).
type run struct {
	message
	count uint64
}

func (r *run) end() uint64 { return r.position + r.count }

// backlog has the ready messages of a queue, ordered by priority and position.
type backlog struct {
	runs  []run
	head  int // index of the first run; entries before it are unused
	depth int
}

func (l *backlog) reset() { l.runs, l.head, l.depth = l.runs[:0], 0, 0 }

// front returns the first run; there must be one.
func (l *backlog) front() *run { return &l.runs[l.head] }

// push adds a message behind all messages of the same priority.
func (l *backlog) push(m message) {
	if n := len(l.runs); n > l.head {
		last := &l.runs[n-1]
		if last.priority < m.priority {
			l.insert(m)
			return
		}
		next := last.message
		next.position = last.end()
		if next == m {
			last.count++
			l.depth++
			return
		}
	}
	l.runs = append(l.runs, run{m, 1})
	l.depth++
}

// pop removes and returns the first message.
func (l *backlog) pop() message {
	first := l.front()
	m := first.message
	first.position++
	first.count--
	l.depth--
	if first.count == 0 {
		l.skip()
	}
	return m
}

// skip removes the first run. It moves the remaining runs to the front once at least half of the slice is unused.
func (l *backlog) skip() {
	l.head++
	if 2*l.head >= len(l.runs) {
		n := copy(l.runs, l.runs[l.head:])
		l.runs, l.head = l.runs[:n], 0
	}
}

// insert puts a message at its position, which no run may include: a message that comes back was taken from there
// before.
func (l *backlog) insert(m message) {
	i := l.head
	for i < len(l.runs) && l.runs[i].precedes(&m) {
		i++
	}
	l.depth++
	l.runs = append(l.runs, run{})
	copy(l.runs[i+1:], l.runs[i:])
	l.runs[i] = run{m, 1}
}

// precedes reports whether a run comes before message m, which is not part of the run.
func (r *run) precedes(m *message) bool {
	return r.priority > m.priority || r.priority == m.priority && r.end() <= m.position
}

// dropExpired drops expired messages at the head of the queue. As in a classic queue, an expired message behind one
// that has not expired stays.
func (l *backlog) dropExpired(now int64) {
	for l.depth > 0 && l.front().deadline <= now {
		l.depth -= int(l.front().count)
		l.skip()
	}
}

// dropTransient drops the messages that are not persistent, as a restart of the broker does.
func (l *backlog) dropTransient() {
	kept := l.runs[:0]
	l.depth = 0
	for _, r := range l.runs[l.head:] {
		if r.mark&persistent != 0 {
			kept = append(kept, r)
			l.depth += int(r.count)
		}
	}
	l.runs, l.head = kept, 0
}
