package scenario

import "testing"

// restless is a world in which every client can always send a command, and nothing else happens.
type restless struct {
	World
	sent [3]uint16
}

func (w *restless) Ready(uint8) bool           { return true }
func (w *restless) Ways(uint8) int             { return 0 }
func (w *restless) Links(uint8) uint8          { return 1 }
func (w *restless) SentBy(client uint8) uint16 { return w.sent[client-1] }

// TestYields: after a fault with Yields, all other clients continue before the fault's client.
func TestYields(t *testing.T) {
	for _, yields := range []bool{false, true} {
		s := &Scenario{
			Clients:  make([]Client, 3),
			Schedule: Schedule{Strategy: PCT, Priorities: []uint8{2, 3, 1}},
			Faults:   []Fault{{Do: Drop, Client: 2, At: 2, Yields: yields}},
		}
		var p Plan
		p.Reset(s)
		var w restless
		var order []uint8
		for range 4 {
			a, ok := p.Next(&w)
			if !ok {
				t.Fatal("nothing happens")
			}
			order = append(order, a.Client)
			if a.Kind == Step {
				w.sent[a.Client-1]++
			}
		}
		want := uint8(2) // client 2 continues, since it has the highest priority
		if yields {
			want = 3
		}
		if order[0] != 2 || order[1] != 2 || order[2] != want || order[3] != want {
			t.Errorf("yields %v: %v", yields, order)
		}
	}
}
