package histories

import "github.com/lockproof/lockproof/model/history"

// A recorder adds to each event the host that recorded it, and the program there (pid). Programs number their clients
// on their own, so a client is known by all three. Its events get one number: that of its process, unless another
// client has it.

// identity is what tells clients apart.
type identity struct {
	host    string // or the file, if events name no host
	pid     int64
	process int32
}

// identities number clients. The zero value is ready to use.
type identities struct {
	numbers  map[identity]int32
	clients  map[int32]identity
	next     int32 // all numbers from here on are free
	timeless int   // events of clients that have no time
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

// number is the number of a client.
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
