package broker

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/lockproof/lockproof/model/amqp"
)

// TestPlain: two brokers for which Plain returns true are in the same state if their queues have the same declarations
// and owners.
func TestPlain(t *testing.T) {
	kept, met, others := make(map[string]string), 0, 0
	for seed := range uint64(600) {
		random := rand.New(rand.NewPCG(seed, 5))
		methods := [][]amqp.Method{storable, consumable}[seed%2]
		b := fuzzed(Options{})
		for range 60 {
			lively(random, 3, methods, b)
			if !b.Plain() {
				others++
				continue
			}
			told, state := "", []byte(nil)
			for q := range amqp.Queue(len(b.queues)) {
				if b.Exists(q) {
					flags, args := b.Declared(q)
					told += fmt.Sprintln(q, flags, args, b.Owner(q))
					state = b.appendQueue(append(state, byte(q)), &b.queues[q])
				}
			}
			if was, there := kept[told]; !there {
				kept[told] = string(state)
			} else if met++; was != string(state) {
				t.Fatalf("seed %d: queues that are told as\n%sare in two states: %x and %x", seed, told, was, state)
			}
		}
	}
	if met < 1000 || others < 100 {
		t.Errorf("%d states met again, %d that are not plain: expected more", met, others)
	}
}
