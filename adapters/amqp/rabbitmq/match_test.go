package rabbitmq_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

// match plays the same steps on the simulated broker and on another broker, usually a real one. It compares replies,
// deliveries and, after each step, the counters of every queue.
type match struct {
	names    *amqp.Names
	like     broker.Options
	sim      *simulated
	other    side
	clients  [clients]clientState
	patience time.Duration                   // maximum time for the other broker to reach the same state
	lines    []string                        // transcript of the steps so far
	message  uint64                          // number of the last published message
	declares map[amqp.Queue]amqp.Command     // the last queue.declare of each existing queue
	types    map[amqp.Queue]amqp.ArgumentSet // last type of each queue name: Quorum, or 0 for classic
	counters map[amqp.Queue]string           // last recorded counters of each queue; nil if they are not recorded
}

// clientState is the part of a client's state that decides which commands it can send.
type clientState struct {
	up       bool
	channels [spare + 1]channelState
}

type channelState struct {
	state     state
	confirms  bool
	transacts bool
	prefetch  uint64
	consuming amqp.Queue // queue that the channel consumes from; 0 if none
	consumers []amqp.Command
	cancelled []uint64 // numbers of consumers that were cancelled
	tags      []uint64 // delivery tags of unacknowledged messages
	holds     bool     // the channel may have unacknowledged messages, or consumers that will get some
	stale     bool     // the channel may have messages of a deleted queue
}

type state uint8

const (
	closed state = iota
	open
	broken
)

// disagreement is an error with the transcript up to the step in which the brokers differed.
type disagreement struct{ lines []string }

func (d *disagreement) Error() string {
	return fmt.Sprintf("the brokers disagree after %d steps:\n%s", len(d.lines)-1, strings.Join(d.lines, "\n"))
}

func newMatch(other side, like broker.Options, patience time.Duration) *match {
	names := newNames()
	m := &match{names: names, like: like, sim: newSimulated(names, like), other: other, patience: patience, declares: map[amqp.Queue]amqp.Command{}, types: map[amqp.Queue]amqp.ArgumentSet{}}
	for _, w := range []side{m.sim, other} {
		connectAll(w)
	}
	for c := 1; c < clients; c++ {
		m.clients[c].up = true
		m.clients[c].channels[1] = channelState{state: open, confirms: true}
	}
	return m
}

// connectAll connects all clients and opens their channels: a spare one for each client and, except for the observer,
// channel 1 for the steps.
func connectAll(w side) {
	for c := range clients {
		w.do(c, []amqp.Command{{Method: amqp.ConnectionOpen}})
	}
	openSpare(w, observer)
	for c := 1; c < clients; c++ {
		w.do(c, []amqp.Command{{Method: amqp.ChannelOpen, Channel: 1}})
		w.do(c, []amqp.Command{{Method: amqp.ConfirmSelect, Channel: 1}})
		openSpare(w, c)
	}
}

func openSpare(w side, client int) {
	w.do(client, []amqp.Command{{Method: amqp.ChannelOpen, Channel: spare}})
}

// play plays a sequence of steps, then closes channels and deletes queues. It returns the first disagreement.
func (m *match) play(drawn []draft) error {
	for i := 0; i < len(drawn); i++ {
		s, sensible := m.adapt(drawn[i])
		if !sensible {
			continue
		}
		batch := []step{s}
		for m.pipelines(s) && i+1 < len(drawn) && drawn[i+1].cmd.Pipelined && m.accepts(drawn[i+1].cmd) {
			i++
			next := drawn[i].step
			next.client, next.cmd.Channel = s.client, s.cmd.Channel
			m.identify(&next)
			batch = append(batch, next)
		}
		if err := m.step(batch...); err != nil {
			return err
		}
	}
	return m.putAway()
}

// adapt turns a draft into a step that can be sent now and whose outcome does not depend on a race. It is false if
// there is no such step.
func (m *match) adapt(d draft) (step, bool) {
	s, c := d.step, &m.clients[d.client]
	s.cmd.Pipelined = false
	if !c.up {
		return step{client: s.client, cmd: amqp.Command{Method: amqp.ConnectionOpen}}, true
	}
	if s.event == kill || s.cmd.Method == amqp.ConnectionClose || m.refusesToDelete(s.cmd) {
		return s, c.endsInOrder()
	}
	ch := &c.channels[s.cmd.Channel]
	if s.cmd.Method == amqp.ChannelOpen {
		return s, ch.state != open // amqp091-go cannot open an open channel
	}
	if ch.state == closed || ch.state == broken && d.sensible {
		return step{client: s.client, cmd: amqp.Command{Method: amqp.ChannelOpen, Channel: s.cmd.Channel}}, true
	}
	if d.sensible && ch.state == open {
		m.improve(&s.cmd, ch)
	}
	if ch.stale && settles(s.cmd.Method) {
		// RabbitMQ identifies a message by its queue's name and its position. An acknowledgement for a deleted queue
		// may therefore remove a message from a new queue of the same name.
		return step{client: s.client, cmd: amqp.Command{Method: amqp.ChannelClose, Channel: s.cmd.Channel}}, true
	}
	if s.cmd.Method == amqp.QueueDeclare && m.changesType(s.cmd) {
		return s, false
	}
	if s.cmd.Method == amqp.BasicConsume && (!ch.mayConsume(s.cmd, c) || m.crowds(s, ch)) {
		return s, false
	}
	if s.cmd.Method == amqp.BasicCancel && m.strands(s) {
		return s, false
	}
	if s.cmd.Method == amqp.BasicGet && m.declares[s.cmd.Queue].Args.Has&amqp.HasMaxLength != 0 {
		// When a channel ends, the messages that its consumers received become ready at once, but those from basic.get
		// become ready some moments later. The test waits for this by the queue's counters. With x-max-length, the
		// queue may drop such a message, and the counters do not show when. So the get needs no acknowledgement here.
		s.cmd.Flags |= amqp.NoAck
	}
	m.identify(&s)
	return s, true
}

// refusesToDelete reports whether cmd deletes a quorum queue with if-unused or if-empty, which ends the connection.
func (m *match) refusesToDelete(cmd amqp.Command) bool {
	return cmd.Method == amqp.QueueDelete && cmd.Flags&(amqp.IfUnused|amqp.IfEmpty) != 0 && m.declares[cmd.Queue].Args.Has&amqp.Quorum != 0
}

// crowds reports whether a step would give a channel a second consumer of a quorum queue: the deliveries of two such
// consumers come in groups. It also reports whether a step starts a consumer with the tag of a cancelled one, on a
// quorum queue with a single active consumer: RabbitMQ 3.10 may then close the connection of the next publisher with
// 541.
func (m *match) crowds(s step, ch *channelState) bool {
	has := m.declares[s.cmd.Queue].Args.Has
	if has&amqp.Quorum == 0 {
		return false
	}
	for c := range m.sim.Consumers(s.cmd.Queue) {
		if c.Conn == m.sim.conns[s.client] && c.Channel == s.cmd.Channel {
			return true
		}
	}
	return has&amqp.SingleActive != 0 && slices.Contains(ch.cancelled, s.cmd.Number)
}

// changesType reports whether cmd declares a queue with another type (classic or quorum) than an earlier queue of the
// same name had. If a channel has used the earlier queue and then uses the new one, RabbitMQ 3.10 closes the channel's
// connection with 541.
func (m *match) changesType(cmd amqp.Command) bool {
	was, known := m.types[cmd.Queue]
	return known && was != cmd.Args.Has&amqp.Quorum && !m.sim.Exists(cmd.Queue)
}

// strands reports whether a basic.cancel would leave messages to the next single active consumer, on a version of
// RabbitMQ that does not deliver them to it at once. The delivery may take seconds. The facts test it.
func (m *match) strands(s step) bool {
	q := m.clients[s.client].channels[s.cmd.Channel].consuming
	return !m.like.SuccessorServed && m.declares[q].Args.Has&(amqp.SingleActive|amqp.Quorum) == amqp.SingleActive && m.sim.Depth(q) > 0
}

// settles reports whether a method acknowledges, rejects or recovers messages, or commits.
func settles(m amqp.Method) bool {
	return m == amqp.BasicAck || m == amqp.BasicNack || m == amqp.TxCommit || m == amqp.BasicRecover
}

// improve makes it more likely that a command succeeds. For example, it replaces a basic.get from an empty queue by a
// publish.
func (m *match) improve(cmd *amqp.Command, ch *channelState) {
	switch cmd.Method {
	case amqp.BasicAck, amqp.BasicNack:
		if n := len(ch.tags); n > 0 {
			cmd.Number = ch.tags[cmd.Number%uint64(n)]
			return
		}
		*cmd = amqp.Command{Method: amqp.BasicGet, Channel: cmd.Channel, Queue: 1}
	case amqp.BasicCancel:
		if n := len(ch.consumers); n > 0 {
			cmd.Number = ch.consumers[cmd.Number%uint64(n)].Number
			return
		}
		*cmd = amqp.Command{Method: amqp.BasicConsume, Channel: cmd.Channel, Queue: 1, Number: cmd.Number}
	case amqp.TxCommit, amqp.TxRollback:
		if ch.transacts {
			return
		}
		cmd.Method = amqp.TxSelect
		fallthrough
	case amqp.TxSelect:
		if ch.confirms {
			cmd.Method = amqp.ChannelClose
		}
	case amqp.QueueDeclare:
		if m.names.Reserved(cmd.Queue) {
			cmd.Queue = 1
		}
		if m.sim.Exists(cmd.Queue) {
			as := m.declares[cmd.Queue]
			cmd.Flags, cmd.Args, cmd.Route = as.Flags, as.Args, as.Route
		}
		return
	}
	m.improveRoute(cmd)
	if cmd.Method == amqp.BasicGet && m.sim.Depth(cmd.Queue) == 0 {
		*cmd = amqp.Command{Method: amqp.BasicPublish, Channel: cmd.Channel, Queue: cmd.Queue}
	}
	if cmd.Queue != 0 && !m.sim.Exists(cmd.Queue) && !cmd.Flags.Has(amqp.Mandatory) {
		*cmd = amqp.Command{Method: amqp.QueueDeclare, Channel: cmd.Channel, Queue: cmd.Queue}
	}
}

// improveRoute makes it more likely that a command's exchanges exist, and that an exchange is declared again with the
// same properties.
func (m *match) improveRoute(cmd *amqp.Command) {
	r := m.names.Routing(cmd.Route)
	if cmd.Method == amqp.ExchangeDeclare {
		if x, exists := m.sim.Exchange(r.Exchange); exists {
			r.Type, r.Alternate = x.Type, x.Alternate
			cmd.Flags, cmd.Route = exchangeFlagsOf(x), m.names.InternRoute(r)
		}
		return
	}
	for _, name := range []string{r.Destination, r.Exchange} {
		if _, exists := m.sim.Exchange(name); name != "" && !exists {
			declare := slices.IndexFunc(declarings, func(d amqp.Routing) bool { return d.Exchange == name })
			*cmd = amqp.Command{Method: amqp.ExchangeDeclare, Channel: cmd.Channel, Route: m.names.InternRoute(declarings[declare+len(m.lines)%4])}
		}
	}
}

// exchangeFlagsOf are the flags with which an exchange was declared.
func exchangeFlagsOf(x broker.Exchange) (set amqp.Flags) {
	for flag, is := range map[amqp.Flags]bool{amqp.Durable: x.Durable, amqp.AutoDelete: x.AutoDelete, amqp.Internal: x.Internal} {
		if is {
			set |= flag
		}
	}
	return set
}

// identify gives a message to be published a new number.
func (m *match) identify(s *step) {
	if s.cmd.Method == amqp.BasicPublish {
		m.message++
		s.cmd.Number = m.message
	}
}

// endsInOrder reports whether the effect of ending the client's connection is certain. Its channels end in any order.
// If two of them return messages, the order of these messages is a race.
func (c *clientState) endsInOrder() bool {
	n := 0
	for _, ch := range c.channels {
		if ch.state == open && ch.holds {
			n++
		}
	}
	return n <= 1
}

// mayConsume reports whether the outcome of a new consumer is certain. With consumers of two queues on one channel, the
// queues race for the next delivery tag. A consumer number that is in use ends the connection.
func (ch *channelState) mayConsume(cmd amqp.Command, c *clientState) bool {
	taken := slices.ContainsFunc(ch.consumers, func(o amqp.Command) bool { return o.Number == cmd.Number })
	return (ch.consuming == 0 || ch.consuming == cmd.Queue) && (!taken || c.endsInOrder())
}

// pipelines reports whether further messages can be written right after the step. They cannot if a queue has dead
// letters: a dead letter and a later message race for their places in a queue.
func (m *match) pipelines(s step) bool {
	for _, q := range m.declares {
		if q.Args.Has&amqp.HasDeadLetterExchange != 0 {
			return false
		}
	}
	ch := &m.clients[s.client].channels[s.cmd.Channel]
	return s.event == command && s.cmd.Method == amqp.BasicPublish && ch.state == open && ch.confirms
}

// accepts reports whether a message's exchange exists and accepts messages. Otherwise the channel is closed, and
// RabbitMQ may or may not confirm the message written just before.
func (m *match) accepts(cmd amqp.Command) bool {
	r := m.names.Routing(cmd.Route)
	x, exists := m.sim.Exchange(r.Exchange)
	return r.Exchange == "" || exists && !x.Internal
}

// step carries out a step on both brokers and compares the results.
func (m *match) step(batch ...step) error {
	first := batch[0]
	if first.event == kill {
		m.sim.kill(first.client)
		m.other.kill(first.client)
		m.lines = append(m.lines, first.text(m.names))
		m.clients[first.client] = clientState{}
		m.noteDeleted()
		return m.settle(true)
	}
	var cmds []amqp.Command
	for _, s := range batch {
		cmds = append(cmds, s.cmd)
	}
	want, got := m.sim.do(first.client, cmds), m.other.do(first.client, cmds)
	for i, s := range batch {
		if err := m.compare(s.text(m.names), at(want, i), at(got, i)); err != nil {
			return err
		}
	}
	m.note(first, want[len(want)-1])
	m.noteDeleted()
	if err := m.fence(first, want[0]); err != nil {
		return err
	}
	return m.settle(first.cmd.Method == amqp.ConnectionClose)
}

// at is the text of the i-th reply; "ignored" if there are fewer replies.
func at(replies []amqp.Reply, i int) string {
	if i < len(replies) {
		return replyText(replies[i])
	}
	return "ignored"
}

func (m *match) compare(what, want, got string) error {
	if want == got {
		m.lines = append(m.lines, what+" -> "+want)
		return nil
	}
	m.lines = append(m.lines, what, "    simulated -> "+want, "        other -> "+got)
	return &disagreement{m.lines}
}

// note updates the client's state after a step and its reply.
func (m *match) note(s step, r amqp.Reply) {
	c := &m.clients[s.client]
	ch := &c.channels[s.cmd.Channel]
	switch {
	case r.Kind == amqp.ConnectionClosed, s.cmd.Method == amqp.ConnectionClose:
		*c = clientState{}
		return
	case r.Kind == amqp.ChannelClosed:
		*ch = channelState{state: broken}
		return
	}
	switch s.cmd.Method {
	case amqp.ConnectionOpen:
		*c = clientState{up: true}
		for _, w := range []side{m.sim, m.other} {
			openSpare(w, s.client)
		}
	case amqp.ChannelOpen:
		*ch = channelState{state: open}
	case amqp.ChannelClose:
		*ch = channelState{}
	case amqp.ConfirmSelect:
		ch.confirms = true
	case amqp.TxSelect:
		ch.transacts = true
	case amqp.BasicQos:
		ch.prefetch = s.cmd.Number
	case amqp.QueueDeclare:
		if !s.cmd.Flags.Has(amqp.Passive) {
			m.declares[s.cmd.Queue], m.types[s.cmd.Queue] = s.cmd, s.cmd.Args.Has&amqp.Quorum
		}
	case amqp.BasicGet:
		if r.Kind == amqp.GetOK && !s.cmd.Flags.Has(amqp.NoAck) {
			ch.tags, ch.holds = append(ch.tags, r.Number), true
		}
	case amqp.BasicConsume:
		ch.consuming, ch.consumers, ch.holds = s.cmd.Queue, append(ch.consumers, s.cmd), true
	case amqp.BasicCancel:
		ch.cancelled = append(ch.cancelled, s.cmd.Number)
	case amqp.BasicRecover:
		ch.tags = nil
	case amqp.BasicAck, amqp.BasicNack:
		ch.tags = slices.DeleteFunc(ch.tags, func(tag uint64) bool {
			return tag == s.cmd.Number || s.cmd.Flags.Has(amqp.Multiple) && (tag < s.cmd.Number || s.cmd.Number == 0)
		})
	}
}

// noteDeleted updates the state after queues were deleted.
func (m *match) noteDeleted() {
	for q := range m.declares {
		if m.sim.Exists(q) {
			continue
		}
		delete(m.declares, q)
		for c := range m.clients {
			for n := range m.clients[c].channels {
				ch := &m.clients[c].channels[n]
				ch.stale = ch.stale || ch.holds
			}
		}
	}
}

// noteDelivery updates the client's state after a delivery.
func (m *match) noteDelivery(client int, d amqp.Delivery) {
	ch := &m.clients[client].channels[d.Channel]
	for _, c := range ch.consumers {
		if c.Number == d.Consumer && !c.Flags.Has(amqp.NoAck) {
			ch.tags = append(ch.tags, d.Tag)
		}
	}
}

// fence follows a command without a reply by one that has a reply and no effect, so that the first has been carried
// out.
func (m *match) fence(s step, r amqp.Reply) error {
	ch := &m.clients[s.client].channels[s.cmd.Channel]
	if r.Kind != amqp.NoReply || ch.state != open {
		return nil
	}
	cmd := amqp.Command{Method: amqp.BasicQos, Channel: s.cmd.Channel, Number: ch.prefetch}
	return m.step(step{client: s.client, cmd: cmd})
}

// settle compares deliveries and counters after a step. It waits until the other broker has caught up with the
// simulated one. A queue may return counters before it has carried out earlier commands, so they are asked for until
// they are equal.
func (m *match) settle(gone bool) error {
	for c := 1; c < clients; c++ {
		want := m.sim.deliveries(c, 0)
		got := m.other.deliveries(c, len(want))
		if !slices.Equal(want, got) {
			return m.compare(fmt.Sprintf("c%d receive", c), deliveriesText(want), deliveriesText(got))
		}
		if len(want) > 0 {
			m.lines = append(m.lines, fmt.Sprintf("c%d receive -> %s", c, deliveriesText(want)))
		}
		for _, d := range want {
			m.noteDelivery(c, d)
		}
	}
	for q := amqp.Queue(1); q <= queues; q++ {
		if err := m.settleQueue(q, gone); err != nil {
			return err
		}
	}
	return nil
}

func (m *match) settleQueue(q amqp.Queue, gone bool) error {
	ask := amqp.Command{Method: amqp.QueueDeclare, Channel: spare, Queue: q, Flags: amqp.Passive}
	who := m.ownerOf(q)
	if !m.sim.Exists(q) {
		if !gone {
			return nil // a difference would show when the queue is declared again
		}
		// A mandatory publish to a missing queue is returned and does not close the channel.
		ask = amqp.Command{Method: amqp.BasicPublish, Channel: spare, Queue: q, Flags: amqp.Mandatory}
	}
	question := []amqp.Command{ask}
	if ask.Method == amqp.BasicPublish {
		question = append(question, amqp.Command{Method: amqp.BasicQos, Channel: spare})
	}
	last := func(w side) string {
		r := w.do(who, question)
		return replyText(r[len(r)-1])
	}
	want, got := last(m.sim), last(m.other)
	for deadline := time.Now().Add(m.patience); got != want && time.Now().Before(deadline); {
		got = last(m.other)
	}
	what := step{client: who, cmd: ask}.text(m.names)
	if want != got {
		return m.compare(what, want, got)
	}
	if m.counters != nil && ask.Method == amqp.QueueDeclare && m.counters[q] != want {
		m.counters[q] = want
		m.lines = append(m.lines, what+" -> "+want)
	}
	return nil
}

// ownerOf is the client that can ask for a queue's counters: its owner, if it is exclusive, else the observer.
func (m *match) ownerOf(q amqp.Queue) int {
	if owner := m.sim.Owner(q); owner != 0 {
		return slices.Index(m.sim.conns[:], owner)
	}
	return observer
}

// putAway closes channels and deletes queues and exchanges, and compares the results as well.
func (m *match) putAway() error {
	for c := 1; c < clients; c++ {
		for n := range m.clients[c].channels {
			if m.clients[c].channels[n].state != open {
				continue
			}
			if err := m.step(step{client: c, cmd: amqp.Command{Method: amqp.ChannelClose, Channel: uint16(n)}}); err != nil {
				return err
			}
		}
	}
	for q := amqp.Queue(1); q <= queues; q++ {
		s := step{client: m.ownerOf(q), cmd: amqp.Command{Method: amqp.QueueDelete, Channel: spare, Queue: q}}
		if err := m.step(s); err != nil {
			return err
		}
	}
	for _, name := range exchangeNames {
		route := m.names.InternRoute(amqp.Routing{Exchange: name, Type: "direct"})
		if err := m.step(step{client: observer, cmd: amqp.Command{Method: amqp.ExchangeDelete, Channel: spare, Route: route}}); err != nil {
			return err
		}
	}
	for c := range clients {
		if c == observer || m.clients[c].up {
			m.other.do(c, []amqp.Command{{Method: amqp.ChannelClose, Channel: spare}})
		}
	}
	return nil
}
