package linear

import "github.com/lockproof/lockproof/model/history"

// client is the knowledge of one process while its history is normalised.
type client struct {
	process int32
	inv     int32     // event of its invocation that is not completed; or none
	f       history.F // operation and lock of that invocation
	lock    uint16
	call    int32 // call of that invocation, if it concerns the current lock; or none
	gone    int32 // first event since then at which its connection ended; or none
	ended   bool  // its connection had ended before that
	died    bool  // it crashed before its connection ended
	crashed int32 // the crash, if its connection ends at any moment from the crash on; or endless
	late    bool  // it appeared after a restart, which may have ended its connection
	grants  int32 // the latest call by which it may have a slot; link leads to earlier ones
	pending int32 // its latest unanswered call (index in pending); or none
	silent  bool  // its operation had no answer for so long that none is expected
	heard   int32 // the last event at which it had an answer
	asked   int32 // its latest unanswered acquire; or none
}

// clients numbers the processes of a history in the order of their appearance.
type clients struct {
	list   []client
	dense  []int32 // by process: its index in list, plus 1
	sparse map[int32]int32
	late   bool // the broker has restarted
}

// denseProcesses bounds the process numbers that are looked up by index.
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

// find is the index of a process, or none.
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

// index is the index of a process; a new process is added.
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
