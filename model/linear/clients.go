package linear

import "github.com/lockproof/lockproof/model/history"

// client has what the normaliser knows about one process at the current event.
type client struct {
	process int32
	inv     int32     // event of the invocation under way; or none
	f       history.F // operation and lock of the call under way
	lock    uint16
	call    int32 // number of the call under way, if it is on this lock; or none
	gone    int32 // first event during the call at which the client's connection ended; or none
	ended   bool  // the client's connection had ended before the call
	died    bool  // the client crashed before its connection ended
	crashed int32 // event of the crash, if the client may lose its slots at any moment since; or endless
	late    bool  // the client first appeared after a restart, so it may have had an earlier connection
	grants  int32 // latest call by which the client may hold a slot; link leads to earlier ones; or none
	pending int32 // latest unanswered call that may take effect (index in normaliser.pending); or none
	silent  bool  // the client's call was not answered within the window of events
	heard   int32 // event of the client's last answer
	asked   int32 // number of the client's latest unanswered acquire; or none
}

// clients gives the processes of a history indices, in the order of their first appearance.
type clients struct {
	list   []client
	dense  []int32 // by process number: its index in list, plus 1; 0 if none
	sparse map[int32]int32
	late   bool // the broker has restarted
}

// denseProcesses is the number of the first process that is looked up in a map, not in a slice.
const denseProcesses = 1 << 20

func (t *clients) reset() {
	for i := range t.list {
		if p := t.list[i].process; int(p) < len(t.dense) {
			t.dense[p] = 0
		}
	}
	clear(t.sparse)
	t.late = false
	t.list = t.list[:0]
}

// find is the index of a process in list; none if it is not known.
func (t *clients) find(process int32) int32 {
	if process >= denseProcesses {
		if i, ok := t.sparse[process]; ok {
			return i
		}
		return none
	}
	if process < 0 || int(process) >= len(t.dense) {
		return none
	}
	return t.dense[process] - 1
}

// index is the index of a process in list. A new process is added.
func (t *clients) index(process int32) int32 {
	if i := t.find(process); i != none {
		return i
	}
	i := int32(len(t.list))
	t.list = append(t.list, client{
		process: process, inv: none, call: none, gone: none, grants: none, pending: none, asked: none, crashed: endless, late: t.late,
	})
	if process >= denseProcesses {
		if t.sparse == nil {
			t.sparse = make(map[int32]int32)
		}
		t.sparse[process] = i
		return i
	}
	if int(process) >= len(t.dense) {
		t.dense = append(t.dense, make([]int32, max(16, int(process)+1-len(t.dense)))...)
	}
	t.dense[process] = i + 1
	return i
}
