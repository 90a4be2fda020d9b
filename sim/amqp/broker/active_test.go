package broker

import (
	"reflect"
	"testing"

	"github.com/lockproof/lockproof/model/amqp"
)

// TestSuccessor: when an active consumer's channel ends, the next consumer becomes active. It gets first its
// predecessor's unacknowledged messages, and then the ready ones. After a cancel, the next consumer gets nothing until
// the queue serves its consumers again, except in newer versions. The end of a consumer serves only its own queue.
func TestSuccessor(t *testing.T) {
	for name, end := range map[string]func(*Broker, Conn){
		"its channel is closed":    func(b *Broker, c Conn) { b.Apply(c, cmd(amqp.ChannelClose, 0)) },
		"its channel fails":        func(b *Broker, c Conn) { b.CloseChannel(c, 1, amqp.InternalError) },
		"its connection is closed": func(b *Broker, c Conn) { b.Apply(c, cmd(amqp.ConnectionClose, 0)) },
		"its connection is lost":   func(b *Broker, c Conn) { b.Disconnect(c) },
	} {
		for _, served := range []bool{false, true} {
			b := fuzzed(Options{SuccessorServed: served})
			expect := func(when string, c Conn, want ...bool) {
				t.Helper()
				var got []bool // for each delivery: whether it is marked as redelivered
				for _, d := range b.Deliveries(c, nil) {
					got = append(got, d.Redelivered)
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s, successors served %v: %s connection %d is sent %v, want %v", name, served, when, c, got, want)
				}
			}
			for c := Conn(1); c <= 4; c++ {
				if !b.Alive(c) {
					b.Apply(b.Connect(), amqp.Command{Method: amqp.ChannelOpen, Channel: 1})
				}
				queue := amqp.Queue(1 + (c-1)/2)
				for _, x := range []amqp.Command{
					{Method: amqp.QueueDeclare, Channel: 1, Queue: queue, Args: amqp.Arguments{Has: amqp.SingleActive}},
					{Method: amqp.BasicQos, Channel: 1, Number: uint64(2 - c%2)},
					{Method: amqp.BasicConsume, Channel: 1, Queue: queue},
				} {
					b.Apply(c, x)
				}
			}
			for _, queue := range []amqp.Queue{1, 1, 2, 2} {
				b.Apply(1, amqp.Command{Method: amqp.BasicPublish, Channel: 1, Queue: queue})
			}
			expect("first", 1, false)
			expect("first", 2)
			b.Apply(1, amqp.Command{Method: amqp.BasicCancel, Channel: 1})
			if served {
				expect("after the cancel", 2, false)
			}
			end(b, 3)
			expect("after the end of another queue's", 2)
			expect("as the successor", 4, true, false)
			end(b, 1)
			if served {
				expect("after the end of the channel that had cancelled", 2, true)
			} else {
				expect("after the end of the channel that had cancelled", 2, true, false)
			}
			b.expectConsistent(t)
		}
	}
}
