package broker

import (
	"encoding/binary"
	"slices"

	"github.com/lockproof/lockproof/model/amqp"
)

// Reason says why a message became a dead letter.
type Reason uint8

// The reasons why a message becomes a dead letter.
const (
	Expired       Reason = iota // the message expired, by its own expiration or its queue's
	MaxLen                      // the queue was at its maximum length
	Rejected                    // a client rejected the message without requeueing it
	DeliveryLimit               // the message returned to its queue too often
)

// String returns the reason as in the header x-death.
func (r Reason) String() string {
	return [...]string{"expired", "maxlen", "rejected", "delivery_limit"}[r]
}

// Letter has the routing data of a message that is a dead letter, or may become one.
type Letter struct {
	Exchange, Key string // with which the message was last published
	Deaths        []Death
}

// Death records that a message became a dead letter in a queue. The latest death comes first. A later death in the same
// queue for the same reason only increases the count.
type Death struct {
	Queue, Exchange, Key string // the queue, and the exchange and key with which the message was published to it
	Reason               Reason
	First                bool // whether this is the message's first death
	Count                uint64
	At                   int64 // time of the first of the counted deaths, in milliseconds
}

// letter is a [Letter] as it is stored.
type letter struct {
	exchange, key string
	headers       amqp.Headers // as set by the publisher
	priority      uint8        // as set by the publisher
	deaths        string
}

// mail has the routing data of messages that are dead letters or may become one. It is nil until a queue with dead
// letters is declared.
type mail struct {
	letters []letter // indexed by number; entry 0 is unused
	numbers map[letter]uint32
	free    []uint32 // unused numbers
	limit   int      // number of letters at which unused ones are removed
	dying   []casualty
}

// casualty is a message that has become a dead letter, and is not forwarded yet.
type casualty struct {
	message
	queue  amqp.Queue
	to     *deadLetters
	reason Reason
}

// deadLetters says where a queue's dead letters are forwarded.
type deadLetters struct {
	exchange, key string
	keyed         bool // dead letters get this key instead of their own
}

// deadLettersOf returns the destination of dead letters that the declaration of a queue asks for.
func (b *Broker) deadLettersOf(cmd *amqp.Command) *deadLetters {
	r := b.names.Routing(cmd.Route)
	d := &deadLetters{exchange: r.Exchange, keyed: cmd.Args.Has&amqp.HasDeadLetterKey != 0}
	if d.keyed {
		d.key = r.Key
	}
	return d
}

// same reports whether two destinations are equal; both may be nil.
func (d *deadLetters) same(o *deadLetters) bool {
	return d == o || d != nil && o != nil && *d == *o
}

// post returns the broker's mail, and creates it if it is nil.
func (b *Broker) post() *mail {
	if b.mail == nil {
		b.mail = &mail{letters: make([]letter, 1), numbers: make(map[letter]uint32), limit: 1024}
	}
	return b.mail
}

// address attaches routing data to a message if it needs any. A message without routing data was published to the
// default exchange with the name of its queue as the key.
func (b *Broker) address(p *publication, cmd *amqp.Command) {
	if cmd.Route == 0 && cmd.Priority == 0 {
		return
	}
	r := b.names.Routing(cmd.Route)
	if cmd.Route == 0 {
		r.Key = b.names.Name(cmd.Queue)
	}
	p.letter = b.enter(letter{exchange: r.Exchange, key: r.Key, headers: r.Headers, priority: uint8(cmd.Priority)})
}

// enter stores routing data and returns its number. Equal data have the same number.
func (b *Broker) enter(l letter) uint32 {
	m := b.post()
	n, known := m.numbers[l]
	if known {
		return n
	}
	if len(m.free) == 0 && len(m.letters) >= m.limit {
		b.sweepLetters()
	}
	if last := len(m.free) - 1; last >= 0 {
		n, m.free = m.free[last], m.free[:last]
		m.letters[n] = l
	} else {
		n = uint32(len(m.letters))
		m.letters = append(m.letters, l)
	}
	m.numbers[l] = n
	return n
}

// sweepLetters removes the routing data that no message uses any more.
func (b *Broker) sweepLetters() {
	m := b.mail
	used := make([]bool, len(m.letters))
	for i := range b.queues {
		l := &b.queues[i].ready
		for _, r := range l.runs[l.head:] {
			used[r.letter] = true
		}
	}
	for i := range b.conns {
		for n := range b.conns[i].channels {
			b.conns[i].channels[n].markLetters(used)
		}
		for _, d := range b.conns[i].outbox {
			used[d.Letter] = true
		}
	}
	for _, c := range m.dying {
		used[c.letter] = true
	}
	m.free = m.free[:0]
	for n := len(used) - 1; n > 0; n-- {
		if !used[n] {
			delete(m.numbers, m.letters[n])
			m.free = append(m.free, uint32(n))
		}
	}
	m.limit = max(1024, 2*(len(used)-len(m.free)))
}

func (ch *channel) markLetters(used []bool) {
	for i := range ch.unacked {
		used[ch.unacked[i].letter] = true
	}
	for i := range ch.tx.settled {
		used[ch.tx.settled[i].letter] = true
	}
	for _, p := range ch.tx.publishes {
		used[p.letter] = true
	}
}

// Letter returns the routing data with the given number, which came with a message. ok is false for number 0: a client
// published this message and knows its data.
func (b *Broker) Letter(number uint32) (l Letter, ok bool) {
	if number == 0 {
		return l, false
	}
	of := &b.mail.letters[number]
	return Letter{of.exchange, of.key, parseDeaths(of.deaths)}, true
}

// die makes message m a dead letter, unless its queue has no destination for dead letters.
func (b *Broker) die(q *queue, id amqp.Queue, m message, reason Reason) {
	if q.dead != nil {
		b.mail.dying = append(b.mail.dying, casualty{m, id, q.dead, reason})
	}
}

// forwardDead forwards all dead letters, and the dead letters that result from this. It runs after a command's other
// effects: in RabbitMQ, queues receive dead letters in the same way as messages of clients. The broker must have mail.
func (b *Broker) forwardDead() {
	for i := 0; i < len(b.mail.dying); i++ {
		c := b.mail.dying[i]
		b.forward(&c)
	}
	b.mail.dying = b.mail.dying[:0]
}

// forward forwards one dead letter. If its exchange is missing, the letter is lost. It does not return to a queue in
// which it has died before, unless a client has rejected it since.
func (b *Broker) forward(c *casualty) {
	if _, exists := b.Exchange(c.to.exchange); !exists && c.to.exchange != "" {
		return
	}
	l := letter{key: b.names.Name(c.queue)}
	if c.letter != 0 {
		l = b.mail.letters[c.letter]
	}
	deaths := addDeath(parseDeaths(l.deaths), Death{
		Queue: b.names.Name(c.queue), Exchange: l.exchange, Key: l.key, Reason: c.reason, Count: 1, At: b.now,
	})
	l.exchange, l.deaths = c.to.exchange, formatDeaths(deaths)
	if c.to.keyed {
		l.key = c.to.key
	}
	p := publication{id: c.id, letter: b.enter(l), priority: l.priority}
	if c.mark&persistent != 0 {
		p.flags = amqp.Persistent
	}
	for _, p.queue = range b.reachOf(&amqp.Routing{Exchange: l.exchange, Key: l.key, Headers: l.headers}) {
		if c.reason == Rejected || !cycle(b.names.Name(p.queue), deaths) {
			b.deposit(&b.queues[p.queue], &p)
		}
	}
}

// cycle reports whether a message has died in the queue before, without a client having rejected it since.
func cycle(queue string, deaths []Death) bool {
	for _, d := range deaths {
		if d.Reason == Rejected {
			return false
		}
		if d.Queue == queue {
			return true
		}
	}
	return false
}

// addDeath adds death d as the first. If there already is a death in the same queue for the same reason, it does not
// add d. It then moves that death to the front and increases its count.
func addDeath(deaths []Death, d Death) []Death {
	d.First = len(deaths) == 0
	if i := slices.IndexFunc(deaths, func(o Death) bool { return o.Queue == d.Queue && o.Reason == d.Reason }); i >= 0 {
		d = deaths[i]
		d.Count++
		deaths = slices.Delete(deaths, i, i+1)
	}
	return slices.Insert(deaths, 0, d)
}

// formatDeaths writes deaths as text, such that equal deaths have equal texts.
func formatDeaths(deaths []Death) string {
	var b []byte
	for _, d := range deaths {
		first := byte(0)
		if d.First {
			first = 1
		}
		b = append(b, byte(d.Reason), first)
		b = binary.AppendUvarint(binary.AppendUvarint(b, d.Count), uint64(d.At))
		for _, s := range [...]string{d.Queue, d.Exchange, d.Key} {
			b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
		}
	}
	return string(b)
}

func parseDeaths(s string) (deaths []Death) {
	b := []byte(s)
	number := func() uint64 {
		v, n := binary.Uvarint(b)
		b = b[n:]
		return v
	}
	text := func() string {
		n := number()
		s := string(b[:n])
		b = b[n:]
		return s
	}
	for len(b) > 0 {
		d := Death{Reason: Reason(b[0]), First: b[1] == 1}
		b = b[2:]
		d.Count, d.At = number(), int64(number())
		d.Queue, d.Exchange, d.Key = text(), text(), text()
		deaths = append(deaths, d)
	}
	return deaths
}
