package engine

import (
	"maps"
	"slices"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/histories/report"
)

// Received is the number of commands that clients have sent.
func Received(counts *gate.Counts) (n int) {
	for _, sent := range counts.Commands {
		n += sent
	}
	return n
}

// OverWire counts the connections, round trips and commands of clients. AMQP's methods come in the order of their
// definition; other commands are sorted by name.
func OverWire(counts *gate.Counts) []report.Count {
	out := []report.Count{{Name: "connections", Number: counts.Opened}, {Name: "round trips", Number: counts.RoundTrips}}
	rest := maps.Clone(counts.Commands)
	add := func(name string) {
		if n := rest[name]; n > 0 {
			out = append(out, report.Count{Name: name, Number: n})
		}
		delete(rest, name)
	}
	for _, id := range frame.IDs {
		add(id.String())
	}
	for _, name := range slices.Sorted(maps.Keys(rest)) {
		add(name)
	}
	if counts.Heartbeats > 0 { // heartbeats pass the gate even while a client's commands wait there
		out = append(out, report.Count{Name: "heartbeats", Number: counts.Heartbeats})
	}
	return out
}
