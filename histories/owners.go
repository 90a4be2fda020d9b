package histories

import (
	"io"

	"github.com/lockproof/lockproof/model/history"
)

// In Jepsen a thread continues as another process after an operation of unknown outcome: process p of n threads as
// p+n. If answers name the client, as in Hazelcast's tests, all processes of a client are one: each of them may
// release another's grant. Their events then have the number of the client's first process.
//
// Invocations before a process's first such answer do not name its client. Events therefore wait for that answer, but
// for at most mostWaiting other events. After that the process counts as a separate client.
const mostWaiting = 1 << 13

// mostUnknown is the largest number of remembered processes whose operation had an unknown outcome and whose successor
// is not known.
const mostUnknown = 1 << 10

// owners gives all processes of a client the same number, the number of the client's first process.
type owners struct {
	read    func() (draft, error)
	notes   *Notes
	waiting []history.Event
	next    int   // index in waiting of the next event to return
	ended   error // the error at which reading ended, such as [io.EOF]
	numbers map[int32]int32
	first   map[string]int32 // by client: the number of the client's first process
	clients map[int32]bool   // the numbers in first
	unknown []int32          // processes with an unknown outcome that no other process continues yet
	threads int32            // number of Jepsen's threads; 0 if unknown
	busy    map[int32]int32  // by number: the process whose call is under way
	told    map[int32]bool   // renumbered processes that are already counted in the notes
}

func newOwners(read func() (draft, error), notes *Notes) *owners {
	return &owners{
		read: read, notes: notes, numbers: make(map[int32]int32), first: make(map[string]int32), clients: make(map[int32]bool),
		busy: make(map[int32]int32), told: make(map[int32]bool),
	}
}

// Read reads the next event.
func (o *owners) Read(e *history.Event) error {
	for o.ended == nil && o.wait() {
		d, err := o.read()
		if err != nil {
			o.ended = err
			break
		}
		o.waiting = append(o.waiting, d.event)
		o.learn(&d)
	}
	if o.next == len(o.waiting) || o.ended != nil && o.ended != io.EOF {
		return o.ended
	}
	*e = o.waiting[o.next]
	if o.next++; o.next == len(o.waiting) {
		o.waiting, o.next = o.waiting[:0], 0
	}
	o.number(e)
	return nil
}

// wait reports whether more events must be read before the next event can be returned. Its process number may still be
// unknown.
func (o *owners) wait() bool {
	n := len(o.waiting) - o.next
	return n == 0 || n <= mostWaiting && !o.known(o.waiting[o.next].Process)
}

func (o *owners) known(process int32) bool {
	_, ok := o.numbers[process]
	return ok || process == history.Nemesis
}

// learn stores what an answer tells about its process: which client the process belongs to, or which process it
// continues.
func (o *owners) learn(d *draft) {
	e := &d.event
	switch {
	case e.Process == history.Nemesis || e.Type == history.Invoke:
		return
	case d.owner != "":
		o.named(e.Process, d.owner)
	case e.Type == history.Info && !o.known(e.Process):
		o.succeeds(e.Process)
	case e.Type == history.OK && !o.known(e.Process):
		o.numbers[e.Process] = e.Process
	}
	if e.Type == history.Info && o.clients[o.numbers[e.Process]] {
		o.unknown = append(o.unknown[max(0, len(o.unknown)-mostUnknown):], e.Process)
	}
}

// named handles an answer that names the client to which its process belongs.
func (o *owners) named(process int32, client string) {
	first, met := o.first[client]
	if !met {
		first = process
		if n, ok := o.numbers[process]; ok {
			first = n
		}
		o.first[client], o.clients[first] = first, true
	}
	if o.known(process) {
		return
	}
	o.numbers[process] = first
	for i, before := range o.unknown {
		if before < process && o.numbers[before] == first {
			o.threads = process - before
			o.unknown = append(o.unknown[:i], o.unknown[i+1:]...)
			return
		}
	}
}

// succeeds handles a process whose answers name no client. If it continues a process whose operation had an unknown
// outcome, it gets the same number.
func (o *owners) succeeds(process int32) {
	o.numbers[process] = process
	for i, before := range o.unknown {
		if before < process && (process-before == o.threads || o.threads == 0 && len(o.unknown) == 1) && o.clients[o.numbers[before]] {
			o.numbers[process], o.threads = o.numbers[before], process-before
			o.unknown = append(o.unknown[:i], o.unknown[i+1:]...)
			return
		}
	}
}

// number sets an event's process to the number of its client. If two processes with the same number call at the same
// time, they are separate clients.
func (o *owners) number(e *history.Event) {
	if e.Process == history.Nemesis {
		return
	}
	process := e.Process
	n, ok := o.numbers[process]
	if by, calling := o.busy[n]; !ok || e.Type == history.Invoke && calling && by != process {
		n = process
		o.numbers[process] = n
	}
	if e.Type == history.Invoke {
		o.busy[n] = process
		if n != process && !o.told[process] {
			o.told[process] = true
			o.notes.Renamed++
		}
	} else {
		delete(o.busy, n)
	}
	e.Process = n
}
