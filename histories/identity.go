package histories

import "github.com/lockproof/lockproof/model/history"

// A recorder adds to each event the host that recorded it, and the program on that host (pid). Programs number their
// clients independently, so a client is identified by all three. The events of a client get one number: its process
// number, unless another client has that.

// identity identifies a client.
type identity struct {
	host    string // or the file, if events name no host
	pid     int64
	process int32
}

// identities numbers clients. The zero value is ready to use.
type identities struct {
	numbers  map[identity]int32
	clients  map[int32]identity
	next     int32 // this number and all larger ones are free
	timeless int   // clients' events without a time
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
