package histories

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/history"
)

// Machines has the history of locks that clients on several machines have recorded, each machine by its own clock.
type Machines struct {
	// History has the events of all machines, sorted by time. Events of two machines at the same time are in any order,
	// except that invocations come before answers.
	History *history.History
	// Of has, for each event, the machine of its client as an index in Names. It is -1 for an event of the nemesis.
	Of []int
	// Names are the machines that have clients: hosts, or files whose events name no host.
	Names []string
	// Notes are the notes on all files together.
	Notes Notes
	// Relative says that some times are too small to count from 1970. They are assumed to count from one moment, the
	// same on all machines.
	Relative bool
}

// InputFile is an open file with a history, and its name.
type InputFile struct {
	Name string
	In   io.Reader
}

// wallTime is a time in 2001, in nanoseconds since 1970. A clock that counts from 1970 shows a later time today.
const wallTime = 1e18

// ReadMachines reads the files that several machines have recorded. Every event of a client needs a time. Clients in
// different files are different clients if their hosts differ, or if the events name no host. most is the largest
// number of events of all files together.
func ReadMachines(files []InputFile, assumed Header, most int) (*Machines, error) {
	r := machinesReader{assumed: assumed, most: most, queues: make(map[[2]string]*[]placed), spans: make(map[int32][]span), locks: make(map[string]uint16)}
	for i := range files {
		if err := r.file(&files[i]); err != nil {
			return nil, err
		}
	}
	if err := r.splitClients(); err != nil {
		return nil, err
	}
	r.merge()
	return &r.out, nil
}

// machinesReader reads the histories of several machines.
type machinesReader struct {
	assumed Header
	most    int
	events  int
	out     Machines
	queues  map[[2]string]*[]placed // by machine and file: the events in order
	order   []*[]placed
	locks   map[string]uint16
	clients identities
	spans   map[int32][]span // by process, for files without hosts: when the process was active
}

// placed is an event, with its place in the file that recorded it, in words.
type placed struct {
	event history.Event
	place string
	of    int
}

// span is the time from the first to the last event of a process in a file.
type span struct {
	file        string
	first, last int64
}

func (r *machinesReader) file(f *InputFile) error {
	rec, err := NewRecording(f.In, f.Name, r.assumed)
	if err != nil {
		return err
	}
	defer rec.Close()
	if err := r.lockNames(f.Name, rec.History()); err != nil {
		return err
	}
	h, err := rec.Whole(r.most - r.events)
	switch {
	case err != nil:
		return err
	case h == nil:
		return fmt.Errorf("more than %s events: expected fewer of several files together", style.Grouped(r.most))
	case rec.notes.Timeless > 0:
		return fmt.Errorf("%s: %s no time: several files are ordered by their times", style.Printable(f.Name), have(rec.notes.Timeless))
	}
	r.events += len(h.Events)
	r.out.Notes.add(rec.notes)
	return r.place(f.Name, h, rec.clients.clients)
}

// have begins a sentence about a number of events: "1 event has", "2 events have".
func have(n int) string {
	if n == 1 {
		return "1 event has"
	}
	return style.Plural(n, "event") + " have"
}

// lockNames adds the locks of a file. Locks with the same name in several files are one lock.
func (r *machinesReader) lockNames(name string, h *history.History) error {
	if r.out.History == nil {
		r.out.History = &history.History{Kind: h.Kind, GoneLate: h.GoneLate, GoneMayFree: h.GoneMayFree}
	}
	all := r.out.History
	if h.Kind != all.Kind || h.GoneLate != all.GoneLate || h.GoneMayFree != all.GoneMayFree {
		return fmt.Errorf("%s: found a history of a %s, expected one of a %s as the file before", style.Printable(name), h.Kind, all.Kind)
	}
	for i, l := range h.Locks {
		n, known := r.locks[l]
		if !known {
			r.locks[l] = uint16(len(all.Locks))
			all.Locks, all.Slots = append(all.Locks, l), append(all.Slots, h.Slots[i])
		} else if all.Slots[n] != h.Slots[i] {
			return fmt.Errorf("%s: found %s of %s, expected %d as the file before", style.Printable(name), style.Plural(h.Slots[i], "slot"), style.Printable(l), all.Slots[n])
		}
	}
	if len(all.Locks) > maxHistoryLocks {
		return fmt.Errorf("%s: more than %s", style.Printable(name), style.Plural(maxHistoryLocks, "lock"))
	}
	return nil
}

// place gives each event of a file its machine, lock and client number, and stores it.
func (r *machinesReader) place(name string, h *history.History, hosts map[int32]identity) error {
	last := int64(0)
	for i := range h.Events {
		e := h.Events[i]
		if e.Process == history.Nemesis && e.Time == 0 { // the event has no time
			e.Time = last
		}
		last = e.Time
		if e.Time < -history.MostTime || e.Time > history.MostTime {
			return fmt.Errorf("%s: event %d: found the time %d, expected %d at most", style.Printable(name), i, e.Time, int64(history.MostTime))
		}
		machine, of := name, -1
		if e.Process == history.Nemesis {
			if e.F.Whose() {
				e.Target = r.client(name, e.Target, hosts)
			}
		} else {
			if id := hosts[e.Process]; id.host != "" {
				machine = id.host
			} else {
				r.span(name, &e)
			}
			called := ""
			if int(e.Process) < len(h.Called) {
				called = h.Called[e.Process]
			}
			e.Process = r.client(name, e.Process, hosts)
			r.out.History.Called[e.Process] = cmp.Or(called, r.out.History.Called[e.Process])
			e.Lock = r.locks[h.Locks[e.Lock]]
			r.out.Relative = r.out.Relative || e.Time < wallTime
			if of = slices.Index(r.out.Names, machine); of < 0 {
				of = len(r.out.Names)
				r.out.Names = append(r.out.Names, machine)
			}
		}
		r.put([2]string{machine, name}, placed{e, h.Moment(i) + " of " + style.Printable(name), of})
	}
	return nil
}

// put appends an event to those that one machine has recorded in one file.
func (r *machinesReader) put(at [2]string, p placed) {
	queue := r.queues[at]
	if queue == nil {
		queue = new([]placed)
		r.queues[at], r.order = queue, append(r.order, queue)
	}
	if n := len(*queue); n > 0 && p.event.Time < (*queue)[n-1].event.Time {
		r.out.Notes.Backwards++
	}
	*queue = append(*queue, p)
}

// client is the number of a client from a file, among the clients of all files.
func (r *machinesReader) client(file string, process int32, hosts map[int32]identity) int32 {
	id := hosts[process]
	switch {
	case id.host == "":
		id = identity{host: "file " + file, process: process}
	default:
		id.host = "host " + id.host
	}
	n := r.clients.number(id)
	for int(n) >= len(r.out.History.Called) {
		r.out.History.Called = append(r.out.History.Called, "")
	}
	if r.out.History.Called[n] == "" {
		_, of, _ := strings.Cut(id.host, " ")
		r.out.History.Called[n] = fmt.Sprintf("c%d of %s", id.process, style.Printable(of))
	}
	return n
}

// span extends the time in which a process of a file was active, up to an event.
func (r *machinesReader) span(file string, e *history.Event) {
	all := r.spans[e.Process]
	if n := len(all); n == 0 || all[n-1].file != file {
		r.spans[e.Process] = append(all, span{file, e.Time, e.Time})
		return
	}
	s := &all[len(all)-1]
	s.first, s.last = min(s.first, e.Time), max(s.last, e.Time)
}

// splitClients checks that processes with the same number in two files are different clients. If one ends before the
// other begins, this is an error: both may be one client whose log continues in a second file.
func (r *machinesReader) splitClients() error {
	for process, all := range r.spans {
		slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.first, b.first) })
		for i := 1; i < len(all); i++ {
			if all[i].first > all[i-1].last {
				return fmt.Errorf("%s and %s both have process %d, one after the other: it may be one client or two; expected numbers that differ, or a host in each event",
					style.Printable(all[i-1].file), style.Printable(all[i].file), process)
			}
		}
	}
	return nil
}

// merge sorts the events of all machines by time.
func (r *machinesReader) merge() {
	h := r.out.History
	for range r.events {
		var best *[]placed
		for _, queue := range r.order {
			if len(*queue) > 0 && (best == nil || (*queue)[0].before(&(*best)[0])) {
				best = queue
			}
		}
		p := (*best)[0]
		*best = (*best)[1:]
		h.Events, h.Places, r.out.Of = append(h.Events, p.event), append(h.Places, p.place), append(r.out.Of, p.of)
	}
}

// before reports whether an event comes before the event o of another machine.
func (p *placed) before(o *placed) bool {
	if p.event.Time != o.event.Time {
		return p.event.Time < o.event.Time
	}
	return p.event.Type == history.Invoke && o.event.Type != history.Invoke
}

// add adds the counts of another file's notes. Backwards is left out, since it is counted separately for each machine.
func (n *Notes) add(o Notes) {
	n.Ignored += o.Ignored
	n.Unexplained += o.Unexplained
	n.Values += o.Values
	n.Renamed += o.Renamed
	n.Fields += o.Fields
	n.Keys = max(n.Keys, o.Keys)
	n.Owned += o.Owned
	n.Fences += o.Fences
	n.Spans += o.Spans
	n.Spanned = n.Spanned || o.Spanned
}
