package broker_test

import (
	"testing"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

// lockWorld returns a broker as it is in a search of a lock: ten slots, of which four clients have taken four, and each
// slot's queue was probed by publishing.
func lockWorld() (*broker.Broker, [4]broker.Conn, amqp.Queue) {
	var names amqp.Names
	for _, name := range []string{"a1", "b1", "a2", "b2", "a3", "b3", "a4", "b4", "a5", "b5", "a6", "b6", "a7", "b7", "a8", "b8", "a9", "b9", "a10", "b10", "admin"} {
		names.Intern(name)
	}
	b := broker.New(&names, broker.Options{})
	var conns [4]broker.Conn
	for i := range conns {
		conns[i] = b.Connect()
		b.Apply(conns[i], amqp.Command{Method: amqp.ChannelOpen, Channel: 1})
		b.Apply(conns[i], amqp.Command{Method: amqp.ConfirmSelect, Channel: 1})
	}
	for q := amqp.Queue(1); q < 20; q += 2 {
		b.Apply(conns[0], amqp.Command{Method: amqp.QueueDeclare, Channel: 1, Queue: q, Flags: amqp.Durable})
		for _, c := range conns {
			b.Apply(c, amqp.Command{Method: amqp.BasicPublish, Channel: 1, Queue: q, Flags: amqp.Mandatory})
		}
	}
	for i, c := range conns {
		b.Apply(c, amqp.Command{Method: amqp.QueueDeclare, Channel: 1, Queue: amqp.Queue(2 * (i + 1)), Flags: amqp.Exclusive})
	}
	return b, conns, 20
}

func benchmarkApply(b *testing.B, cmds ...amqp.Command) {
	world, conns, free := lockWorld()
	for i := range cmds {
		cmds[i].Channel = 1
		if cmds[i].Queue == 0 {
			cmds[i].Queue = free
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, cmd := range cmds {
			world.Apply(conns[0], cmd)
		}
	}
}

func BenchmarkApplyProbe(b *testing.B) {
	benchmarkApply(b, amqp.Command{Method: amqp.BasicPublish, Queue: 1, Flags: amqp.Mandatory})
}

func BenchmarkApplyProbeNoRoute(b *testing.B) {
	benchmarkApply(b, amqp.Command{Method: amqp.BasicPublish, Flags: amqp.Mandatory})
}

func BenchmarkApplyRedeclare(b *testing.B) {
	benchmarkApply(b, amqp.Command{Method: amqp.QueueDeclare, Queue: 2, Flags: amqp.Exclusive})
}

func BenchmarkApplyDeclareDelete(b *testing.B) {
	benchmarkApply(b,
		amqp.Command{Method: amqp.QueueDeclare, Flags: amqp.Exclusive},
		amqp.Command{Method: amqp.QueueDelete})
}

func BenchmarkApplyLockedReopen(b *testing.B) {
	benchmarkApply(b,
		amqp.Command{Method: amqp.QueueDeclare, Queue: 4, Flags: amqp.Exclusive},
		amqp.Command{Method: amqp.ChannelOpen},
		amqp.Command{Method: amqp.ConfirmSelect})
}

func BenchmarkApplyTransaction(b *testing.B) {
	benchmarkApply(b,
		amqp.Command{Method: amqp.ChannelClose},
		amqp.Command{Method: amqp.ChannelOpen},
		amqp.Command{Method: amqp.TxSelect},
		amqp.Command{Method: amqp.BasicPublish, Flags: amqp.Mandatory},
		amqp.Command{Method: amqp.TxCommit})
}

func BenchmarkReconnect(b *testing.B) {
	world, conns, _ := lockWorld()
	b.ReportAllocs()
	for b.Loop() {
		world.Disconnect(conns[0])
		world.Connect()
		world.Apply(conns[0], amqp.Command{Method: amqp.ChannelOpen, Channel: 1})
	}
}
