package rabbitmq_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockproof/lockproof/model/amqp"
)

// A transcript lists the clients' commands to a broker and their results, one step a line:
//
//	c1 queue.declare q exclusive x-expires=300 -> ok
//	c2.3 basic.publish q mandatory persistent message=4 -> ack returned=1 (312 NO_ROUTE)
//	c2.3 & basic.publish q mandatory -> ack
//	c1 kill
//	advance 300
//	c2 receive -> consumer=1 tag=1 message=4
//
// c2.3 is the third channel of the second client; c2 is its first. & says that the command is
// written without waiting for the reply to the one before.
type step struct {
	client int
	event  event
	cmd    amqp.Command
	ms     int64
}

type event uint8

const (
	command event = iota
	kill          // the client's socket is cut, and the broker notices that
	receive       // the client reads what its consumers have received
	advance       // time passes
	restart       // the broker restarts
)

var eventNames = [...]string{kill: "kill", receive: "receive", advance: "advance", restart: "restart"}

var flagNames = []struct {
	flag amqp.Flags
	name string
}{
	{amqp.Passive, "passive"}, {amqp.Durable, "durable"}, {amqp.Exclusive, "exclusive"},
	{amqp.AutoDelete, "auto-delete"}, {amqp.Mandatory, "mandatory"}, {amqp.Persistent, "persistent"},
	{amqp.NoAck, "no-ack"}, {amqp.IfUnused, "if-unused"}, {amqp.IfEmpty, "if-empty"},
	{amqp.Multiple, "multiple"}, {amqp.Requeue, "requeue"}, {amqp.Internal, "internal"},
}

// numberNames is the name, in transcripts, of the parameter for [amqp.Command.Number]. It depends on the method: the
// number of a basic.publish is "message".
var numberNames = map[amqp.Method]string{
	amqp.BasicPublish: "message", amqp.BasicAck: "tag", amqp.BasicNack: "tag",
	amqp.BasicConsume: "consumer", amqp.BasicCancel: "consumer", amqp.BasicQos: "prefetch",
}

var overflows = []string{amqp.DropHead: "drop-head", amqp.RejectPublish: "reject-publish", amqp.RejectPublishDLX: "reject-publish-dlx"}

var priorityNames = map[amqp.Method]string{amqp.BasicPublish: "priority", amqp.BasicConsume: "x-priority"}

// text is the line of a step in a transcript, without its outcome.
func (s step) text(names *amqp.Names) string {
	var w strings.Builder
	switch s.event {
	case advance:
		return fmt.Sprint("advance ", s.ms)
	case restart:
		return "restart"
	}
	fmt.Fprintf(&w, "c%d", s.client)
	if s.event != command {
		return w.String() + " " + eventNames[s.event]
	}
	if s.cmd.Channel > 1 {
		fmt.Fprintf(&w, ".%d", s.cmd.Channel)
	}
	if s.cmd.Pipelined {
		w.WriteString(" &")
	}
	w.WriteString(" " + s.cmd.Method.String())
	if name := names.Name(s.cmd.Queue); name != "" {
		w.WriteString(" " + name)
	}
	for _, f := range flagNames {
		if s.cmd.Flags.Has(f.flag) {
			w.WriteString(" " + f.name)
		}
	}
	for _, p := range parameters(&s.cmd, names) {
		if p.given {
			fmt.Fprintf(&w, " %s=%s", p.name, p.get())
		}
	}
	return w.String()
}

// parameter is a command's argument in a transcript, in the form name=value.
type parameter struct {
	name  string
	given bool
	get   func() string
	set   func(string) error
}

func parameters(cmd *amqp.Command, names *amqp.Names) []parameter {
	number := func(name string, given bool, at *uint32, set func()) parameter {
		return parameter{name, given, func() string { return strconv.FormatUint(uint64(*at), 10) }, func(s string) error {
			n, err := strconv.ParseUint(s, 10, 32)
			*at = uint32(n)
			set()
			return err
		}}
	}
	argument := func(name string, has amqp.ArgumentSet, at *uint32) parameter {
		return number(name, cmd.Args.Has&has != 0, at, func() { cmd.Args.Has |= has })
	}
	routed := routeParameters(cmd, names)
	if cmd.Method == amqp.QueueDeclare {
		routed = deadLetterParameters(cmd, names)
	}
	return append(routed, []parameter{
		argument("x-max-length", amqp.HasMaxLength, &cmd.Args.MaxLength),
		{"x-overflow", cmd.Args.Has&amqp.HasOverflow != 0,
			func() string { return overflows[cmd.Args.Overflow] },
			func(s string) error {
				cmd.Args.Has |= amqp.HasOverflow
				cmd.Args.Overflow = amqp.Overflow(slices.Index(overflows, s))
				return nil
			}},
		{"x-max-priority", cmd.Args.Has&amqp.HasMaxPriority != 0, func() string { return strconv.Itoa(int(cmd.Args.MaxPriority)) }, func(s string) error {
			n, err := strconv.ParseUint(s, 10, 8)
			cmd.Args.Has, cmd.Args.MaxPriority = cmd.Args.Has|amqp.HasMaxPriority, uint8(n)
			return err
		}},
		{"x-queue-type", cmd.Args.Has&amqp.Quorum != 0, func() string { return "quorum" }, func(string) error {
			cmd.Args.Has |= amqp.Quorum
			return nil
		}},
		argument("x-delivery-limit", amqp.HasDeliveryLimit, &cmd.Args.DeliveryLimit),
		{"x-single-active-consumer", cmd.Args.Has&amqp.SingleActive != 0, func() string { return "true" }, func(string) error {
			cmd.Args.Has |= amqp.SingleActive
			return nil
		}},
		{priorityNames[cmd.Method], cmd.Priority != 0, func() string { return strconv.Itoa(int(cmd.Priority)) }, func(s string) error {
			n, err := strconv.ParseInt(s, 10, 16)
			cmd.Priority = int16(n)
			return err
		}},
		argument("x-expires", amqp.HasExpires, &cmd.Args.Expires),
		argument("x-message-ttl", amqp.HasMessageTTL, &cmd.Args.MessageTTL),
		number("expiration", cmd.Flags.Has(amqp.Expiring), &cmd.Expiration, func() { cmd.Flags |= amqp.Expiring }),
		{numberNames[cmd.Method], numberNames[cmd.Method] != "" && (cmd.Number != 0 || cmd.Method != amqp.BasicPublish),
			func() string { return strconv.FormatUint(cmd.Number, 10) },
			func(s string) (err error) {
				cmd.Number, err = strconv.ParseUint(s, 10, 64)
				return err
			}},
	}...)
}

// deadLetterParameters are the parameters for the target of a queue's dead letters.
func deadLetterParameters(cmd *amqp.Command, names *amqp.Names) []parameter {
	text := func(name string, has amqp.ArgumentSet, at func(*amqp.Routing) *string) parameter {
		r := names.Routing(cmd.Route)
		return parameter{name, cmd.Args.Has&has != 0, func() string { return *at(&r) }, func(s string) error {
			*at(&r) = s
			cmd.Args.Has |= has
			cmd.Route = names.InternRoute(r)
			return nil
		}}
	}
	return []parameter{
		text("x-dead-letter-exchange", amqp.HasDeadLetterExchange, func(r *amqp.Routing) *string { return &r.Exchange }),
		text("x-dead-letter-routing-key", amqp.HasDeadLetterKey, func(r *amqp.Routing) *string { return &r.Key }),
	}
}

// routeParameters are the parameters for exchanges, routing keys and headers.
func routeParameters(cmd *amqp.Command, names *amqp.Names) []parameter {
	text := func(name string, at func(*amqp.Routing) *string) parameter {
		r := names.Routing(cmd.Route)
		return parameter{name, *at(&r) != "", func() string { return *at(&r) }, func(s string) error {
			*at(&r) = s
			cmd.Route = names.InternRoute(r)
			return nil
		}}
	}
	return []parameter{
		text("exchange", func(r *amqp.Routing) *string { return &r.Exchange }),
		text("type", func(r *amqp.Routing) *string { return &r.Type }),
		text("alternate", func(r *amqp.Routing) *string { return &r.Alternate }),
		text("to", func(r *amqp.Routing) *string { return &r.Destination }),
		text("key", func(r *amqp.Routing) *string { return &r.Key }),
		{"headers", names.Routing(cmd.Route).Headers != "", func() string { return headersText(names.Routing(cmd.Route).Headers) },
			func(s string) error {
				r := names.Routing(cmd.Route)
				r.Headers = parseHeaders(s)
				cmd.Route = names.InternRoute(r)
				return nil
			}},
	}
}

// headersText writes headers as a:1,b:2. A * stands for any value.

func headersText(h amqp.Headers) string {
	var words []string
	for name, value := range h.All() {
		if value == amqp.Present {
			value = "*"
		}
		words = append(words, name+":"+value)
	}
	return strings.Join(words, ",")
}

func parseHeaders(s string) amqp.Headers {
	values := make(map[string]string)
	for _, word := range strings.Split(s, ",") {
		name, value, _ := strings.Cut(word, ":")
		if values[name] = value; value == "*" {
			values[name] = amqp.Present
		}
	}
	return amqp.NewHeaders(values)
}

// parseStep parses a line without its outcome. It interns the names of queues in names.
func parseStep(line string, names *amqp.Names) (step, error) {
	words := strings.Fields(line)
	switch words[0] {
	case "advance":
		ms, err := strconv.ParseInt(words[1], 10, 64)
		return step{event: advance, ms: ms}, err
	case "restart":
		return step{event: restart}, nil
	}
	s := step{cmd: amqp.Command{Channel: 1}}
	if n, err := fmt.Sscanf(words[0], "c%d.%d", &s.client, &s.cmd.Channel); n == 0 {
		return s, fmt.Errorf("client %q: %w", words[0], err)
	}
	words = words[1:]
	if words[0] == "&" {
		s.cmd.Pipelined = true
		words = words[1:]
	}
	for e, name := range eventNames {
		if words[0] == name {
			return step{client: s.client, event: event(e)}, nil
		}
	}
	method, found := amqp.MethodNamed(words[0])
	if !found {
		return s, fmt.Errorf("no method %q", words[0])
	}
	s.cmd.Method = method
	for _, word := range words[1:] {
		if err := parseWord(&s.cmd, word, names); err != nil {
			return s, err
		}
	}
	return s, nil
}

// parseWord parses a flag or a parameter; any other word is the name of the queue.
func parseWord(cmd *amqp.Command, word string, names *amqp.Names) error {
	for _, f := range flagNames {
		if word == f.name {
			cmd.Flags |= f.flag
			return nil
		}
	}
	name, value, is := strings.Cut(word, "=")
	if !is {
		cmd.Queue = names.Intern(word)
		return nil
	}
	for _, p := range parameters(cmd, names) {
		if p.name == name {
			return p.set(value)
		}
	}
	return fmt.Errorf("no parameter %q", name)
}

// replyText is the text of a reply in a transcript.
func replyText(r amqp.Reply) string {
	w := []string{r.Kind.String()}
	if r.Kind == amqp.GetOK {
		w = append(w, fmt.Sprintf("tag=%d message=%d", r.Number, r.Message))
	}
	for _, f := range []struct {
		name  string
		value uint32
	}{{"messages", r.Messages}, {"consumers", r.Consumers}, {"returned", uint32(r.Returned)}} {
		if f.value != 0 {
			w = append(w, fmt.Sprintf("%s=%d", f.name, f.value))
		}
	}
	if r.Redelivered {
		w = append(w, "redelivered")
	}
	if r.Deliveries > 0 {
		w = append(w, fmt.Sprintf("deliveries=%d", r.Deliveries))
	}
	if r.Code != 0 {
		w = append(w, fmt.Sprintf("(%s)", r.Code))
	}
	return strings.Join(w, " ")
}

// nothing is the text for no deliveries.
const nothing = "nothing"

// deliveriesText is the text of what consumers have received.
func deliveriesText(deliveries []amqp.Delivery) string {
	if len(deliveries) == 0 {
		return nothing
	}
	w := make([]string, len(deliveries))
	for i, d := range deliveries {
		if d.Channel != 1 {
			w[i] = fmt.Sprintf("channel=%d ", d.Channel)
		}
		if d.Cancelled {
			w[i] += fmt.Sprintf("consumer=%d cancelled", d.Consumer)
			continue
		}
		w[i] += fmt.Sprintf("consumer=%d tag=%d message=%d", d.Consumer, d.Tag, d.Message)
		if d.Redelivered {
			w[i] += " redelivered"
		}
		if d.Deliveries > 0 {
			w[i] += fmt.Sprintf(" deliveries=%d", d.Deliveries)
		}
	}
	return strings.Join(w, "; ")
}
