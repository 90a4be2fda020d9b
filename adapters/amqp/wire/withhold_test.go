package wire_test

import (
	"context"
	"fmt"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/amqp/wire"
	. "github.com/lockproof/lockproof/adapters/amqp/wire/frame"
)

// publisher is a peer whose channel 1 has confirms.
func publisher(t *testing.T, server *wire.Server) *peer {
	p := dial(t, server.Addr().String()).login()
	p.send(1, &ChannelOpen{}, &ConfirmSelect{})
	p.expect(ConfirmSelectOkID)
	return p
}

// comes expects messages of the broker, as lines.
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

// publishes is messages to nowhere, written in one piece.
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

// TestWithhold: a confirm that the gate keeps back is sent with the next one, which stands for both, and before
// anything else of its channel. It is kept back only if the client has written on without waiting.
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
			var held []*wire.Command // until all have come
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

// TestWithholdNothingMore: a confirm that was kept back is sent before whatever else comes on its channel, also
// where that ends it.
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

// TestTogether: messages that come together are confirmed by one confirm, and none is left unconfirmed, whatever
// comes between or behind them.
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
	p.write(publishes(1, 2)[:60]) // all of one and some of another
	p.write(publishes(1, 2)[60:])
	p.comes(ack(11, true))
}

// TestTogetherLibrary: amqp091-go takes confirms of several messages for what they are.
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
