package broker

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/codec"
)

// These are sets of methods from which random commands are drawn. storable has none that consume messages; unsettled
// has those that do.
var (
	storable = []amqp.Method{
		amqp.ChannelOpen, amqp.ChannelClose, amqp.ConfirmSelect, amqp.TxSelect, amqp.TxSelect, amqp.TxCommit, amqp.TxRollback,
		amqp.QueueDeclare, amqp.QueueDeclare, amqp.QueueDelete, amqp.QueuePurge,
		amqp.BasicPublish, amqp.BasicPublish, amqp.BasicPublish, amqp.BasicPublish, amqp.BasicPublish, amqp.BasicPublish, amqp.BasicQos,
	}
	unsettled = []amqp.Method{amqp.BasicGet, amqp.BasicConsume, amqp.BasicAck, amqp.BasicNack, amqp.BasicCancel}
	everyday  = slices.Concat(storable, unsettled, unsettled)
	// consumable are all methods after which a broker can still be encoded.
	consumable = slices.Concat(storable, unsettled)
	// givenBack are methods with which messages return to their former positions.
	givenBack = []amqp.Method{amqp.BasicPublish, amqp.BasicGet, amqp.BasicGet, amqp.BasicNack, amqp.BasicAck, amqp.TxSelect, amqp.TxRollback, amqp.ChannelClose, amqp.QueueDeclare}
)

// lively executes the same random command on all brokers, and returns their replies. Most commands are sensible.
// Published messages have one of ids different ids.
func lively(random *rand.Rand, ids int, methods []amqp.Method, brokers ...*Broker) (cmd amqp.Command, replies []amqp.Reply) {
	conn := Conn(1 + random.IntN(2))
	cmd = decode([opSize]byte(randomOps(random, 1)))
	cmd.Method, cmd.Route, cmd.Queue, cmd.Channel = methods[random.IntN(len(methods))], 0, amqp.Queue(1+random.IntN(2)), uint16(1+random.IntN(2))
	if random.IntN(4) > 0 {
		cmd.Args, cmd.Flags = amqp.Arguments{}, cmd.Flags&(amqp.NoAck|amqp.Persistent|amqp.Mandatory)
	}
	if cmd.Method == amqp.BasicPublish {
		cmd.Number = uint64(random.IntN(ids))
	}
	if ch := brokers[0].channel(at{conn, cmd.Channel}); ch == nil || ch.state != open {
		cmd.Method = amqp.ChannelOpen
	}
	if slices.Equal(methods, storable) || slices.Equal(methods, consumable) {
		cmd = storableCommand(cmd)
	}
	for _, b := range brokers {
		for !b.Alive(conn) {
			b.Connect()
		}
		r := b.Apply(conn, cmd)
		r.Letter = 0 // brokers may number equal routing data differently
		replies = append(replies, r)
	}
	return cmd, replies
}

// storableCommand returns the command without arguments that an encoded state cannot have.
func storableCommand(cmd amqp.Command) amqp.Command {
	cmd.Priority = 0
	cmd.Args.Has &^= amqp.HasMaxPriority | amqp.HasDeadLetterExchange | amqp.HasDeadLetterKey
	return cmd
}

// stored encodes a broker, and decodes the parts into a new one. It returns the new broker and the encoded parts.
func stored(b *Broker) (read *Broker, parts string) {
	read = New(b.names, b.opts)
	read.now = b.now
	w := codec.Write(nil)
	b.CodeCommon(&w)
	parts = string(w.Bytes())
	r := codec.Read(w.Bytes())
	read.CodeCommon(&r)
	for i := range b.conns {
		if conn := Conn(i + 1); b.Alive(conn) {
			w := codec.Write(nil)
			b.CodeConnection(&w, conn)
			parts += "|" + string(w.Bytes())
			r := codec.Read(w.Bytes())
			read.CodeConnection(&r, conn)
		}
	}
	return read, parts
}

// TestParts: a broker that is decoded from its encoded parts is equal to the original, and behaves in the same way.
// Equal states have equal parts, whatever happened before.
func TestParts(t *testing.T) {
	kept, met := make(map[string]string), 0
	for seed := range uint64(600) {
		random := rand.New(rand.NewPCG(seed, 3))
		methods := [][]amqp.Method{storable, consumable}[seed%2]
		b := fuzzed(Options{ConsumerTimeout: []int64{0, 0, 0, 20}[seed%4]})
		for range 60 {
			for conn := range Conn(2) { // keep at most one delivery: the order of several may make no difference
				if sent := b.Deliveries(conn+1, nil); len(sent) == 1 && b.channel(at{conn + 1, sent[0].Channel}) != nil {
					b.conns[conn].outbox = sent
				}
			}
			read, parts := stored(b)
			state := fmt.Sprint(b.opts, string(b.AppendState(nil)))
			if was, there := kept[state]; !there {
				kept[state] = parts
			} else if met++; was != parts {
				t.Fatalf("seed %d: brokers of one state are stored as %q and %q", seed, was, parts)
			}
			if !bytes.Equal(read.AppendState(nil), b.AppendState(nil)) {
				t.Fatalf("seed %d: stored and read, the broker is another", seed)
			}
			read.expectConsistent(t)
			if ms := int64(random.IntN(60)); ms < 8 {
				b.Advance(ms)
				read.Advance(ms)
				continue
			}
			cmd, r := lively(random, 3, methods, b, read)
			if r[0] != r[1] {
				t.Fatalf("seed %d: %+v is answered with %+v after the broker was stored, else with %+v", seed, cmd, r[1], r[0])
			}
			if !b.Equal(read) {
				t.Fatalf("seed %d: after %+v, a broker that was stored is another", seed, cmd)
			}
		}
	}
	if met < 1000 {
		t.Errorf("only %d states were met twice: that says little", met)
	}
}

// TestNeighbours: equal messages are encoded as one run if no message can return between them. It makes no difference
// which messages were between them before, or what else channels hold.
func TestNeighbours(t *testing.T) {
	const gone, alike = 8, 1 // ids of messages
	for name, c := range map[string]struct {
		through []uint64 // ids of the messages that are published and taken; those equal to alike return
		same    []uint64 // the same ids, without gone
	}{
		"nothing else":      {[]uint64{alike, gone, alike}, []uint64{alike, alike}},
		"held before them":  {[]uint64{2, alike, gone, alike}, []uint64{2, alike, alike}},
		"held behind them":  {[]uint64{alike, gone, alike, 2}, []uint64{alike, alike, 2}},
		"held between them": {[]uint64{alike, gone, 2, alike}, []uint64{alike, 2, alike}},
		"around them":       {[]uint64{2, alike, gone, alike, gone, alike, 3}, []uint64{2, alike, alike, alike, 3}},
	} {
		for _, transacted := range []bool{false, true} {
			was, is := through(c.through, gone, alike, transacted), through(c.same, gone, alike, transacted)
			for range len(c.through) - len(c.same) { // use up as many delivery tags as the other broker
				is.conns[0].channels[1].tag++
			}
			renumber(&is.conns[0].channels[1], &was.conns[0].channels[1])
			if !was.Equal(is) {
				t.Fatalf("%s: the two are no neighbours' states: %x and %x", name, was.AppendState(nil), is.AppendState(nil))
			}
			_, one := stored(was)
			if _, other := stored(is); one != other {
				t.Errorf("%s, transacted %v: stored as %q and %q", name, transacted, one, other)
			}
		}
	}
}

// through returns a broker with a queue to which the messages were published and from which all were taken. Messages
// with the id alike were returned, and those with the id gone were acknowledged.
func through(messages []uint64, gone, alike uint64, transacted bool) *Broker {
	b := fuzzed(Options{})
	on := func(m amqp.Method, number uint64, flags amqp.Flags) {
		b.Apply(1, amqp.Command{Method: m, Channel: 1, Queue: 1, Number: number, Flags: flags})
	}
	on(amqp.QueueDeclare, 0, 0)
	for _, id := range messages {
		on(amqp.BasicPublish, id, 0)
	}
	for range messages {
		on(amqp.BasicGet, 0, 0)
	}
	for i, id := range messages {
		switch id {
		case gone:
			on(amqp.BasicAck, uint64(i+1), 0)
		case alike:
			on(amqp.BasicNack, uint64(i+1), amqp.Requeue)
		}
	}
	if transacted { // acknowledgements in a transaction take effect only at the commit
		on(amqp.TxSelect, 0, 0)
		for i, id := range messages {
			if id != gone && id != alike {
				on(amqp.BasicAck, uint64(i+1), 0)
			}
		}
	}
	return b
}

// renumber gives the messages that one channel (ch) holds the delivery tags of those that another channel (as) holds.
func renumber(ch, as *channel) {
	for i := range ch.unacked {
		ch.unacked[i].tag = as.unacked[i].tag
	}
	for i := range ch.tx.settled {
		ch.tx.settled[i].tag = as.tx.settled[i].tag
	}
}

// unnumbered returns the deliveries without the numbers of their routing data, which brokers may assign differently.
func unnumbered(d []amqp.Delivery) []amqp.Delivery {
	for i := range d {
		d[i].Letter = 0
	}
	return d
}

// TestCopies: a copy of a broker behaves like the original, also if it overwrites another broker. So does any broker
// with the same encoded state. The broker's data stay consistent.
func TestCopies(t *testing.T) {
	seen := make(map[string]*Broker)
	copied, met := new(Broker), 0
	for seed := range uint64(600) {
		random := rand.New(rand.NewPCG(seed, 5))
		opts := Options{RoutedAtPublish: seed%4 > 1}
		b := fuzzed(opts)
		for range 40 {
			copied.CopyFrom(b)
			state := fmt.Sprint(opts, string(b.AppendState(nil)))
			other := new(Broker)
			if o := seen[state]; o != nil {
				met++
				other.CopyFrom(o)
			} else {
				other.CopyFrom(b)
				seen[state] = new(Broker)
				seen[state].CopyFrom(b)
			}
			cmd, r := lively(random, 3, [][]amqp.Method{everyday, givenBack}[seed%2], b, copied, other)
			if ms := int64(random.IntN(30)); ms < 4 {
				for _, x := range []*Broker{b, copied, other} {
					x.Advance(ms)
				}
			}
			if r[0] != r[1] || r[0] != r[2] {
				t.Fatalf("seed %d: %+v is answered with %+v, by a copy with %+v, by one of the same state with %+v", seed, cmd, r[0], r[1], r[2])
			}
			conn := Conn(1 + random.IntN(2))
			sent := unnumbered(b.Deliveries(conn, nil))
			if !slices.Equal(sent, unnumbered(copied.Deliveries(conn, nil))) || !slices.Equal(sent, unnumbered(other.Deliveries(conn, nil))) {
				t.Fatalf("seed %d: after %+v, others deliver otherwise than %+v", seed, cmd, sent)
			}
			if !b.Equal(copied) || !b.Equal(other) {
				t.Fatalf("seed %d: after %+v, equal brokers are not", seed, cmd)
			}
			b.expectConsistent(t)
		}
	}
	if met < 1000 {
		t.Errorf("only %d states were met twice: that says little", met)
	}
}

// TestAppendMessages: AppendMessages returns every message that the broker can still deliver: in queues, in
// transactions, on their way to consumers, and unacknowledged.
func TestAppendMessages(t *testing.T) {
	given := 0
	for seed := range uint64(1000) {
		random := rand.New(rand.NewPCG(seed, 4))
		b := fuzzed(Options{})
		for range 80 {
			lively(random, 1000, everyday, b)
		}
		has := b.AppendMessages(nil)
		for _, id := range drain(b) {
			given++
			if !slices.Contains(has, id) {
				t.Fatalf("seed %d: message %d is there, and AppendMessages knows only %d", seed, id, has)
			}
		}
	}
	if given < 1000 {
		t.Errorf("only %d messages were there: that says little", given)
	}
}

// drain takes all messages out of a broker, and returns their ids.
func drain(b *Broker) (ids []uint64) {
	for i := range b.conns {
		conn := Conn(i + 1)
		for _, d := range b.Deliveries(conn, nil) {
			ids = append(ids, d.Message)
		}
		for n := range b.conns[i].channels {
			b.Apply(conn, amqp.Command{Method: amqp.TxCommit, Channel: uint16(n)})
		}
		for n := range b.conns[i].channels {
			b.CloseChannel(conn, uint16(n), amqp.InternalError) // returns its unacknowledged messages to their queues
		}
	}
	for q := range b.queues {
		conn := max(1, b.Owner(amqp.Queue(q)))
		for b.Alive(conn) && b.Exists(amqp.Queue(q)) {
			b.Apply(conn, amqp.Command{Method: amqp.ChannelOpen, Channel: 1})
			r := b.Apply(conn, amqp.Command{Method: amqp.BasicGet, Channel: 1, Queue: amqp.Queue(q), Flags: amqp.NoAck})
			if r.Kind != amqp.GetOK {
				break
			}
			ids = append(ids, r.Message)
		}
	}
	return ids
}

// TestSettled: Settled returns false while a transaction has published messages, until it is committed or rolled back,
// or its channel closes.
func TestSettled(t *testing.T) {
	publish := amqp.Command{Method: amqp.BasicPublish, Channel: 1, Queue: 1}
	for _, end := range []amqp.Method{amqp.TxCommit, amqp.TxRollback, amqp.ChannelClose} {
		b := fuzzed(Options{})
		b.Apply(1, amqp.Command{Method: amqp.QueueDeclare, Channel: 1, Queue: 1})
		b.Apply(1, amqp.Command{Method: amqp.TxSelect, Channel: 1})
		if !b.Settled() {
			t.Error("nothing was published yet, and it is not settled")
		}
		b.Apply(1, publish)
		if b.Settled() {
			t.Errorf("before %s: settled", end)
		}
		b.Apply(1, amqp.Command{Method: end, Channel: 1})
		if !b.Settled() {
			t.Errorf("after %s: not settled", end)
		}
	}
}

// TestUsePutsExpiryOff: a queue with x-expires is deleted a certain time after its last use. Some commands count as use
// (FACTS B17); publishing does not.
func TestUsePutsExpiryOff(t *testing.T) {
	on := func(m amqp.Method) amqp.Command { return amqp.Command{Method: m, Channel: 1, Queue: 1, Number: 1} }
	expiring := on(amqp.QueueDeclare)
	expiring.Args = amqp.Arguments{Has: amqp.HasExpires, Expires: 10}
	passive := on(amqp.QueueDeclare)
	passive.Flags = amqp.Passive
	for name, c := range map[string]struct {
		before, use []amqp.Command
		gone        int64 // time at which the queue expires, if it was used at time 8
	}{
		"nothing":               {nil, nil, 10},
		"publish":               {nil, []amqp.Command{on(amqp.BasicPublish)}, 10},
		"declare":               {nil, []amqp.Command{expiring}, 18},
		"declare passively":     {nil, []amqp.Command{passive}, 18},
		"get":                   {nil, []amqp.Command{on(amqp.BasicGet)}, 18},
		"cancel":                {[]amqp.Command{on(amqp.BasicConsume)}, []amqp.Command{on(amqp.BasicCancel)}, 18},
		"give back by closing":  {[]amqp.Command{on(amqp.BasicPublish), on(amqp.BasicGet)}, []amqp.Command{on(amqp.ChannelClose)}, 18},
		"close with nothing":    {nil, []amqp.Command{on(amqp.ChannelClose)}, 10},
		"give back by refusing": {[]amqp.Command{on(amqp.BasicPublish), on(amqp.BasicGet)}, []amqp.Command{{Method: amqp.BasicNack, Channel: 1, Number: 1, Flags: amqp.Requeue}}, 10},
	} {
		b := fuzzed(Options{})
		b.Apply(1, expiring)
		for _, cmd := range c.before {
			b.Apply(1, cmd)
		}
		b.Advance(8)
		for _, cmd := range c.use {
			b.Apply(1, cmd)
		}
		b.Advance(c.gone - 8 - 1)
		if !b.Exists(1) {
			t.Errorf("%s: it is gone before %d", name, c.gone)
		}
		if b.Advance(1); b.Exists(1) {
			t.Errorf("%s: it is there at %d", name, c.gone)
		}
	}
}

// TestResetForgets: after a reset, the encoded shared part of a broker equals that of a new one, even if queues were
// deleted before.
func TestResetForgets(t *testing.T) {
	common := func(b *Broker) string {
		c := codec.Write(nil)
		b.CodeCommon(&c)
		return string(c.Bytes())
	}
	opts := Options{RoutedAtPublish: true}
	b := fuzzed(opts)
	for _, method := range []amqp.Method{amqp.QueueDeclare, amqp.QueueDelete} {
		if r := b.Apply(1, amqp.Command{Method: method, Channel: 1, Queue: 2}); r.Kind != amqp.OK {
			t.Fatalf("%+v", r)
		}
	}
	fresh := common(fuzzed(opts))
	if common(b) == fresh {
		t.Error("a deletion is not written")
	}
	if b.Reset(); common(b) != fresh {
		t.Errorf("after a reset %x, new %x", common(b), fresh)
	}
}
