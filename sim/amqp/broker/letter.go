package broker

import (
	"encoding/binary"
	"slices"

	"github.com/lockproof/lockproof/model/amqp"
)

// Reason is the reason why a message became a dead letter.
type Reason uint8

// The reasons.
const (
	Expired       Reason = iota // its time to live, or that of its queue, was over
	MaxLen                      // its queue was too long
	Rejected                    // a client rejected it without requeueing
	DeliveryLimit               // it returned to its queue too often
)

// String is the reason's name in the header x-death.
func (r Reason) String() string {
	return [...]string{"expired", "maxlen", "rejected", "delivery_limit"}[r]
}

// Letter is the routing data of a message that is a dead letter, or may become one.
type Letter struct {
	Exchange, Key string // with which it was last published
	Deaths        []Death
}

// Death is the death of a message in a queue; the latest comes first. A later death in the same queue for the same
// reason only increases the count.
type Death struct {
	Queue, Exchange, Key string // where it died, and how it had been published
	Reason               Reason
	First                bool // the first of all deaths
	Count                uint64
	At                   int64 // time of the first of the counted deaths
}

// letter is a [Letter] in stored form.
type letter struct {
	exchange, key string
	headers       amqp.Headers // set by the publisher
	priority      uint8        // set by the publisher
	deaths        string
}

// mail has the broker's dead letters. There is none until the first declaration of a queue with dead letters.
type mail struct {
	letters []letter // by number; the first is unused
	numbers map[letter]uint32
	free    []uint32 // free numbers
	limit   int      // number of letters at which unused ones are removed
	dying   []casualty
}

// casualty is a message that became a dead letter, and is not forwarded yet.
type casualty struct {
	message
	queue  amqp.Queue
	to     *deadLetters
	reason Reason
}

// deadLetters is the destination of a queue's dead letters.
type deadLetters struct {
	exchange, key string
	keyed         bool // they get that key, instead of their own
}

// deadLettersOf is the destination of dead letters in a queue's declaration.
func (b *Broker) deadLettersOf(cmd *amqp.Command) *deadLetters {
	r := b.names.Routing(cmd.Route)
	d := &deadLetters{exchange: r.Exchange, keyed: cmd.Args.Has&amqp.HasDeadLetterKey != 0}
	if d.keyed {
		d.key = r.Key
	}
	return d
}

// same reports whether two destinations are equal.
func (d *deadLetters) same(o *deadLetters) bool {
	return d == o || d != nil && o != nil && *d == *o
}

// post is the mail, which it creates if necessary.
func (b *Broker) post() *mail {
	if b.mail == nil {
		b.mail = &mail{letters: make([]letter, 1), numbers: make(map[letter]uint32), limit: 1024}
	}
	return b.mail
}

// address attaches routing data to a message if it needs any. A message without routing data was published to the
// default exchange, with the name of its queue as its key. The broker must have mail.
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

// enter stores a letter and returns its number.
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

// sweepLetters removes the letters that no message uses.
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

// Letter returns the routing data of a message by the number that came with the message. ok is false for 0: a client
// published the message, and knows its data.
func (b *Broker) Letter(number uint32) (l Letter, ok bool) {
	if number == 0 {
		return l, false
	}
	of := &b.mail.letters[number]
	return Letter{of.exchange, of.key, parseDeaths(of.deaths)}, true
}

// die makes a message a dead letter, if its queue has dead letters.
func (b *Broker) die(q *queue, id amqp.Queue, m message, reason Reason) {
	if q.dead != nil {
		b.mail.dying = append(b.mail.dying, casualty{m, id, q.dead, reason})
	}
}

// forwardDead forwards dead letters, and the dead letters that result. It runs last: in RabbitMQ, queues receive dead
// letters in the same way as messages of clients. The broker must have mail.
func (b *Broker) forwardDead() {
	for i := 0; i < len(b.mail.dying); i++ {
		c := b.mail.dying[i]
		b.forward(&c)
	}
	b.mail.dying = b.mail.dying[:0]
}

// forward forwards one dead letter. If its exchange is missing, the letter is lost. It does not return to a queue
// that it has been in, unless a client has rejected it since.
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

// cycle reports whether a message has died in a queue before, without being rejected by a client since.
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

// addDeath puts a death first, and adds the count of an earlier one in the same queue for the same reason.
func addDeath(deaths []Death, d Death) []Death {
	d.First = len(deaths) == 0
	if i := slices.IndexFunc(deaths, func(o Death) bool { return o.Queue == d.Queue && o.Reason == d.Reason }); i >= 0 {
		d = deaths[i]
		d.Count++
		deaths = slices.Delete(deaths, i, i+1)
	}
	return slices.Insert(deaths, 0, d)
}

// formatDeaths writes deaths in a normal form: equal deaths give equal texts.
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
