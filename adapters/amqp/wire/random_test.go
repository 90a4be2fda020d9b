package wire_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockproof/lockproof/adapters/amqp/wire"
	. "github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
)

// randomNames are the names of queues and exchanges in random scripts. Frequent ones are listed several times.
var randomNames = []string{"$x", "$x", "$x", "$y", "$y", "", "amq.direct", "amq.fanout", "amq.z"}

// randomArguments are queue arguments with valid and invalid values.
var randomArguments = []struct {
	name   string
	values []any
}{
	{"x-max-length", []any{int32(1), int64(1), int32(0), int32(-1), "many"}},
	{"x-overflow", []any{"drop-head", "reject-publish", "sideways", int32(1)}},
	{"x-expires", []any{int32(600_000), int32(0)}},
	{"x-message-ttl", []any{int32(600_000), int32(-1)}},
	{"x-queue-mode", []any{"lazy", "default", "strange"}},
	{"x-queue-type", []any{"classic"}},
	{"x-unheard-of", []any{true}},
}

// randomStep draws one method, and the client and channel that send it. For a publish, it puts a confirm.select in
// front, so that the broker answers every method.
func randomStep(t *rapid.T) []step {
	who := rapid.SampledFrom([]string{"a1", "a1", "a2", "b1"}).Draw(t, "who")
	name := rapid.SampledFrom(randomNames).Draw(t, "name")
	other := rapid.SampledFrom(randomNames).Draw(t, "other")
	key := rapid.SampledFrom([]string{"", "a", "a.b", "#", "$x"}).Draw(t, "key")
	if strings.HasPrefix(name, "amq.") && strings.HasPrefix(other, "amq.") {
		other = "$x" // a binding between the broker's own exchanges would remain and disturb other tests
	}
	flag := func(name string) bool { return rapid.IntRange(0, 4).Draw(t, name) == 0 }
	var m Method
	switch rapid.IntRange(0, 13).Draw(t, "method") {
	case 0, 1, 2:
		m = &QueueDeclare{Queue: name, Durable: flag("durable"), Exclusive: name == "" || flag("exclusive"), AutoDelete: flag("auto-delete"),
			Passive: flag("passive"), Arguments: randomTable(t)}
	case 3:
		m = &QueueDelete{Queue: name, IfUnused: flag("if-unused"), IfEmpty: flag("if-empty")}
	case 4:
		m = &QueuePurge{Queue: name}
	case 5, 6:
		m = &QueueBind{Queue: name, Exchange: other, RoutingKey: key, Arguments: randomMatch(t)}
	case 7:
		m = &QueueUnbind{Queue: name, Exchange: other, RoutingKey: key, Arguments: randomMatch(t)}
	case 8:
		m = &BasicGet{Queue: name, NoAck: true}
	case 9:
		kind := rapid.SampledFrom([]string{"direct", "fanout", "topic", "headers", "sideways"}).Draw(t, "type")
		m = &ExchangeDeclare{Exchange: name, Type: kind, Durable: flag("durable"), AutoDelete: flag("auto-delete"), Internal: flag("internal"), Passive: flag("passive")}
	case 10:
		m = &ExchangeDelete{Exchange: name, IfUnused: flag("if-unused")}
	case 11:
		m = &ExchangeBind{Source: name, Destination: other, RoutingKey: key, Arguments: randomMatch(t)}
	case 12:
		m = &ExchangeUnbind{Source: name, Destination: other, RoutingKey: key, Arguments: randomMatch(t)}
	default:
		publish := &BasicPublish{Exchange: other, RoutingKey: rapid.SampledFrom([]string{key, name}).Draw(t, "routing key"), Mandatory: flag("mandatory")}
		return []step{{who: who, method: &ConfirmSelect{}}, {who: who, method: publish, content: headed(with("h", int32(1))), wait: acked}}
	}
	return []step{{who: who, method: m}}
}

// randomTable draws arguments of a queue. Most often there are none, so that some declarations succeed.
func randomTable(t *rapid.T) (arguments Table) {
	for range max(0, rapid.IntRange(-2, 2).Draw(t, "arguments")) {
		a := rapid.SampledFrom(randomArguments).Draw(t, "argument")
		if _, given := arguments.Lookup(a.name); !given {
			arguments = arguments.With(a.name, rapid.SampledFrom(a.values).Draw(t, "value"))
		}
	}
	return arguments
}

// randomMatch draws arguments of a binding to a headers exchange.
func randomMatch(t *rapid.T) Table {
	return rapid.SampledFrom([]Table{nil, nil, nil, with("x-match", "any").With("h", int64(1)), with("h", int32(2)), with("x-match", "strange")}).Draw(t, "match")
}

// The simulated broker answers random sequences of methods as a real broker does. -rapid.checks sets the number of
// sequences.
func TestRandomScripts(t *testing.T) {
	simulated := serve(t, wire.Config{Backend: wire.NewSimulated(wire.SimulatedOptions{})}).Addr().String()
	real := hostOf(t, rabbitmqtest.URL(t))
	run, played := time.Now().UnixNano(), 0
	rapid.Check(t, func(rt *rapid.T) {
		var s script
		for _, steps := range rapid.SliceOfN(rapid.Custom(randomStep), 1, 20).Draw(rt, "steps") {
			s.steps = append(s.steps, steps...)
		}
		played++
		prefix := fmt.Sprintf("wire-random-%d-%d-", run, played)
		want, got := perform(t, real, prefix, s), perform(t, simulated, prefix, s)
		for i := range max(len(want), len(got)) {
			if w, g := withoutMade(line(want, i)), withoutMade(line(got, i)); w != g {
				rt.Fatalf("after\n%s\n got %s\nwant %s", strings.Join(want[:min(i, len(want))], "\n"), g, w)
			}
		}
	})
}

// withoutMade replaces names that a broker has generated by "amq.gen", so that lines can be compared.
func withoutMade(line string) string { return made.ReplaceAllString(line, "amq.gen") }

var made = regexp.MustCompile(`amq\.gen-[^ '}]*`)
