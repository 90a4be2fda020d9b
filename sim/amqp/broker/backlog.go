package broker

import "math"

// never is the deadline of what does not expire.
const never = math.MaxInt64

// message is one message in a queue. Its priority and position decide where it is put when it comes back.
type message struct {
	position   uint64
	id         uint64 // its identity, given by the publisher
	deadline   int64
	mark       mark
	priority   uint8  // if its queue has priorities
	deliveries uint16 // number of times that it came back, if its queue counts this
	letter     uint32 // 0 if it has no routing data
}

type mark uint8

const (
	persistent mark = 1 << iota
	redelivered
)

// run is a message and those behind it that differ in position only: a queue that is probed by publishing consists of
// one run, however long it is (FACTS B16).
type run struct {
	message
	count uint64
}

func (r *run) end() uint64 { return r.position + r.count }

// backlog has the ready messages of a queue, ordered by priority and position.
type backlog struct {
	runs  []run
	head  int // earlier runs are empty
	depth int
}

func (l *backlog) reset() { l.runs, l.head, l.depth = l.runs[:0], 0, 0 }

// front is the first run, which must exist.
func (l *backlog) front() *run { return &l.runs[l.head] }

// push puts a message behind all others of its priority.
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

// pop takes the first message.
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

// skip removes the first run. The space before the head is reused once it is half of the whole.
func (l *backlog) skip() {
	l.head++
	if 2*l.head >= len(l.runs) {
		n := copy(l.runs, l.runs[l.head:])
		l.runs, l.head = l.runs[:n], 0
	}
}

// insert puts a message back to its position, which no run includes since the message was taken.
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

// precedes reports whether a run comes before a message that is not in it.
func (r *run) precedes(m *message) bool {
	return r.priority > m.priority || r.priority == m.priority && r.end() <= m.position
}

// dropExpired drops expired messages from the head. An expired message behind a live one stays, as in a classic
// queue.
func (l *backlog) dropExpired(now int64) {
	for l.depth > 0 && l.front().deadline <= now {
		l.depth -= int(l.front().count)
		l.skip()
	}
}

// dropTransient drops the messages that a restart of the broker loses.
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
