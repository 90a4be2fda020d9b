package histories

import "github.com/lockproof/lockproof/model/history"

// A recorder adds two facts to each event: the host, and the number of the program on that host (pid). Programs number
// their clients independently. A client is therefore identified by host, program and process number. All events of a
// client get the same number: the process number, unless another client has it already.

// identity identifies a client in the files of several programs.
type identity struct {
	host    string // the host, or the file if its events name no host
	pid     int64
	process int32
}

// identities gives each client a number. The zero value is ready to use.
type identities struct {
	numbers  map[identity]int32
	clients  map[int32]identity
	next     int32 // the lowest number above all numbers that are in use
	timeless int   // number of clients' events without a time
}

// identify gives an event the number of its client.
func (t *identities) identify(d *draft) {
	if d.event.Process == history.Nemesis {
		return
	}
	if d.has&hasTime == 0 {
		t.timeless++
	}
	if d.host != "" || d.pid != 0 {
		d.event.Process = t.number(identity{d.host, d.pid, d.event.Process})
	}
}

// number is the number of a client; a new client gets a new one.
func (t *identities) number(id identity) int32 {
	if n, ok := t.numbers[id]; ok {
		return n
	}
	if t.numbers == nil {
		t.numbers, t.clients = make(map[identity]int32), make(map[int32]identity)
	}
	n := id.process
	if _, taken := t.clients[n]; taken {
		n = t.next
	}
	t.numbers[id], t.clients[n] = n, id
	t.next = max(t.next, n+1)
	return n
}
