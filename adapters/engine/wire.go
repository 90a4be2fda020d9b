package engine

import (
	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/histories/report"
)

// Received is how many methods clients have sent.
func Received(counts *wire.Counts) (n int) {
	for _, m := range counts.Used() {
		n += m.Received
	}
	return n
}

// ofLogin are the methods by which a connection comes and goes, which are told of as connections.
var ofLogin = map[frame.ID]bool{
	frame.ConnectionStartOkID: true, frame.ConnectionTuneOkID: true, frame.ConnectionOpenID: true,
	frame.ConnectionCloseID: true, frame.ConnectionCloseOkID: true,
}

// OverWire is what clients have sent, method by method.
func OverWire(counts *wire.Counts) []report.Count {
	out := []report.Count{{Name: "connections", Number: counts.Opened}, {Name: "round trips", Number: counts.RoundTrips}}
	for id, m := range counts.Used() {
		if !ofLogin[id] {
			out = append(out, report.Count{Name: id.String(), Number: m.Received})
		}
	}
	if counts.HeartbeatsIn > 0 { // they pass whoever is held at the gate
		out = append(out, report.Count{Name: "heartbeats", Number: counts.HeartbeatsIn})
	}
	return out
}
