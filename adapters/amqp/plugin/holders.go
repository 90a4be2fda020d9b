package plugin

import (
	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/model/holding"
	"github.com/lockproof/lockproof/model/monitor"
)

// Holders are the clients that hold a lock with the given number of slots in broker state v. d declares what holding
// means, for example owning queue NAME-1. client maps a connection to its client. It maps connections of others to 0.
func Holders(v wire.State, d holding.Declared, lock string, slots int, client func(*wire.Conn) uint8) (all []holding.Hold) {
	if !d.Numbered() {
		return holders(v, d.Thing(), d.Named(lock, 0), holding.Hold{}, slots, client)
	}
	for slot := 1; slot <= monitor.Slots; slot++ {
		all = append(all, holders(v, d.Thing(), d.Named(lock, slot), holding.Hold{Slot: uint8(slot)}, 1, client)...)
	}
	return all
}

// holders are the clients that hold thing in the given queue, for example as the queue's owner. Each result is a copy
// of of with the client filled in. slots is the number of slots that the queue stands for: 1, or all slots of the lock.
func holders(v wire.State, thing holding.Thing, queue string, of holding.Hold, slots int, client func(*wire.Conn) uint8) (all []holding.Hold) {
	held := func(c uint8) {
		of.Client = c
		all = append(all, of)
	}
	if !v.Exists(queue) {
		return nil
	}
	switch thing {
	case holding.Queue:
		if owner := v.Owner(queue); owner != nil {
			held(client(owner))
		}
	case holding.Message, holding.Absent:
		ready := 0
		for m := range v.Messages(queue) {
			if m.Conn == nil {
				ready++
			} else {
				held(client(m.Conn))
			}
		}
		for thing == holding.Absent && len(all)+ready < slots {
			held(holding.Anybody)
		}
	case holding.Consumer:
		for c := range v.Consumers(queue) {
			if !c.Waits {
				held(client(c.Conn))
			}
		}
	}
	return all
}
