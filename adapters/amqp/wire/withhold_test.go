package wire_test

import (
	"context"
	"fmt"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/amqp/wire"
	. "github.com/lockproof/lockproof/adapters/amqp/wire/frame"
)

// publisher is a peer whose channel 1 is in confirm mode.
func publisher(t *testing.T, server *wire.Server) *peer {
	p := dial(t, server.Addr().String()).login()
	p.send(1, &ChannelOpen{}, &ConfirmSelect{})
	p.expect(ConfirmSelectOkID)
	return p
}

// comes fails the test unless the peer receives exactly these methods next, given as lines of text.
func (p *peer) comes(lines ...string) {
	p.t.Helper()
	for _, want := range lines {
		m, err := p.next()
		if err != nil {
			p.t.Fatalf("expected %s: %v", want, err)
		}
		if got := p.text(m); got != want {
			p.t.Errorf("got %s, expected %s", got, want)
		}
	}
}

// publishes is n encoded messages to a queue that does not exist.
func publishes(channel uint16, n int) (b []byte) {
	for range n {
		b = AppendMethod(b, channel, &BasicPublish{RoutingKey: "nowhere"})
		b = AppendContent(b, channel, &Content{Body: []byte("x")}, 4096)
	}
	return b
}

func ack(tag int, multiple bool) string {
	return fmt.Sprintf("1 basic.ack {DeliveryTag:%d Multiple:%t}", tag, multiple)
}

// A withheld confirm is sent with the next one, which stands for both messages, and before other answers on its
// channel. It can be withheld only if the client has sent more messages without waiting.
func TestWithhold(t *testing.T) {
	for name, backend := range backends(t) {
		t.Run(name, func(t *testing.T) {
			gate := newHolding(append(opening, ConfirmSelectID)...)
			p := publisher(t, serve(t, wire.Config{Backend: backend, Gate: gate}))
			pass := func() *wire.Answer {
				(<-gate.commands).Pass()
				return <-gate.answers
			}
			p.write(publishes(1, 5))
			p.send(1, &BasicQos{})
			var held []*wire.Command // commands of all six methods, which must all arrive first
			for range 6 {
				held = append(held, <-gate.commands)
			}
			for i, keep := range []bool{true, true, false, false, false} {
				held[i].Pass()
				a := <-gate.answers
				if kept := keep && a.Withhold(); kept != keep {
					t.Errorf("confirm %d kept back: %t", i+1, kept)
				} else if !kept {
					a.Send()
				}
			}
			p.comes(ack(3, true), ack(4, false), ack(5, false))
			held[5].Pass()
			if qos := <-gate.answers; qos.Withhold() {
				t.Error("what is no confirm is kept back")
			} else {
				qos.Send()
			}
			p.comes("1 basic.qos-ok {}")
			p.write(publishes(1, 1))
			if a := pass(); a.Withhold() {
				t.Error("a confirm is kept back that the client may be waiting for")
			} else {
				a.Send()
			}
			p.comes(ack(6, false))
		})
	}
}

// A withheld confirm is sent before the next answer on its channel, even if that is a channel.close.
func TestWithholdNothingMore(t *testing.T) {
	b := wire.NewSimulated(wire.SimulatedOptions{})
	gate := newHolding(append(opening, ConfirmSelectID)...)
	p := publisher(t, serve(t, wire.Config{Backend: b, Gate: gate}))
	p.write(publishes(1, 2))
	first, second := <-gate.commands, <-gate.commands
	first.Pass()
	if a := <-gate.answers; !a.Withhold() {
		t.Fatal("not kept back")
	}
	b.CloseChannel(second.Conn, 1, 541)
	(<-gate.answers).Send()
	p.comes(ack(1, false))
	p.expect(ChannelCloseID)
	second.Pass()
}

// Messages that arrive together get one confirm. None stays unconfirmed, whatever the client sends between or after
// them.
func TestTogether(t *testing.T) {
	server := serve(t, wire.Config{Backend: wire.NewSimulated(wire.SimulatedOptions{}), Gate: wire.Together{}})
	p := publisher(t, server)
	p.write(publishes(1, 3))
	p.comes(ack(3, true))
	p.publish(1, &BasicPublish{RoutingKey: "$nowhere", Mandatory: true}, body("back"))
	p.expect(BasicReturnID)
	p.comes(ack(4, false))
	returned := AppendMethod(nil, 1, &BasicPublish{RoutingKey: "nowhere", Mandatory: true})
	returned = AppendContent(returned, 1, &Content{}, 4096)
	p.write(append(returned, returned...))
	p.expect(BasicReturnID)
	p.expect(BasicReturnID)
	p.comes(ack(6, true))
	p.write(AppendHeartbeat(publishes(1, 1)))
	p.comes(ack(7, false))
	p.write(AppendMethod(publishes(1, 2), 1, &BasicQos{}))
	p.comes(ack(9, true), "1 basic.qos-ok {}")
	p.write(publishes(1, 2)[:60]) // the first message and a part of the second
	p.write(publishes(1, 2)[60:])
	p.comes(ack(11, true))
}

// amqp091-go accepts a confirm that stands for several messages.
func TestTogetherLibrary(t *testing.T) {
	server := serve(t, wire.Config{Backend: wire.NewSimulated(wire.SimulatedOptions{}), Gate: wire.Together{}})
	conn, err := amqp091.Dial(server.URL())
	must(t, err)
	defer conn.Close()
	ch, err := conn.Channel()
	must(t, err)
	must(t, ch.Confirm(false))
	var sent []*amqp091.DeferredConfirmation
	for range 200 {
		c, err := ch.PublishWithDeferredConfirmWithContext(context.Background(), "", "nowhere", false, false, amqp091.Publishing{})
		must(t, err)
		sent = append(sent, c)
	}
	for i, c := range sent {
		if !c.Wait() {
			t.Errorf("message %d is not confirmed", i+1)
		}
	}
}
