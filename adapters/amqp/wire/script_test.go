package wire_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/wire"
	. "github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

// step is one method that a client sends, or a wait for methods.
type step struct {
	who     string // "a1": client a, on channel 1
	method  Method // nil if the step only waits
	content *Content
	wait    []ID // methods to wait for; nil means the usual reply of method
}

// script is a list of steps whose answers are compared between brokers. A channel is opened when it is first used.
type script struct {
	name  string
	steps []step
}

// perform runs a script on a broker and returns all methods, sent and received, one per line.
func perform(t *testing.T, address, prefix string, s script) []string {
	peers := make(map[byte]*peer)
	opened := make(map[string]bool)
	var lines []string
	for _, st := range s.steps {
		p := peers[st.who[0]]
		if p == nil || p.gone {
			for who := range opened {
				opened[who] = opened[who] && who[0] != st.who[0]
			}
			p = dial(t, address)
			p.prefix = prefix
			p.login()
			peers[st.who[0]] = p
		}
		channel := uint16(st.who[1] - '0')
		if st.method == nil {
			lines = append(lines, p.until(channel, st.wait...)...)
			continue
		}
		if channel > 0 && !opened[st.who] && st.method.ID() != ChannelOpenID && !strings.HasSuffix(st.who, "!") {
			opened[st.who] = true
			p.send(channel, &ChannelOpen{})
			p.expect(ChannelOpenOkID)
		}
		if st.method.ID().HasContent() {
			c := st.content
			if c == nil {
				c = &Content{}
			}
			p.publish(channel, st.method, c)
		} else {
			p.send(channel, st.method)
		}
		lines = append(lines, fmt.Sprintf("%s %s %s", st.who, st.method.ID(), strings.ReplaceAll(fmt.Sprintf("%+v", st.method), prefix, "$")))
		wait := st.wait
		if wait == nil && st.method.ID().IsSync() && !NoWait(st.method) {
			wait = answers(st.method.ID())
		}
		if wait == nil {
			continue
		}
		for _, l := range p.until(channel, wait...) {
			lines = append(lines, "    "+l)
			if strings.Contains(l, " channel.close") {
				opened[st.who] = false
			}
		}
	}
	for _, p := range peers {
		p.logout()
	}
	tidy(t, address, prefix)
	return lines
}

// tidy deletes the queues and exchanges that a script may have left.
func tidy(t *testing.T, address, prefix string) {
	p := dial(t, address)
	p.prefix = prefix
	p.login().send(1, &ChannelOpen{}, &QueueDelete{Queue: "$x"}, &QueueDelete{Queue: "$y"}, &ExchangeDelete{Exchange: "$x"}, &ExchangeDelete{Exchange: "$y"})
	for range 2 {
		p.expect(ExchangeDeleteOkID)
	}
	p.logout()
}

// answers are the methods that can answer the given method.
func answers(id ID) []ID {
	if id == BasicGetID {
		return []ID{BasicGetOkID, BasicGetEmptyID}
	}
	for _, o := range IDs {
		if o.String() == id.String()+"-ok" {
			return []ID{o}
		}
	}
	return nil
}

// The simulated broker answers every script as a real one does, with the same codes and texts. The proxy changes
// nothing.
func TestScripts(t *testing.T) {
	b := rabbitmqtest.Shared(t)
	simulated := serve(t, wire.Config{Backend: wire.NewSimulated(wire.SimulatedOptions{Broker: broker.Like(b.Version)})})
	real := hostOf(t, b.URL)
	proxy := serve(t, wire.Config{Backend: &wire.Proxy{Address: real}})
	run := time.Now().UnixNano()
	for i, s := range scripts {
		t.Run(s.name, func(t *testing.T) {
			want := perform(t, real, fmt.Sprintf("wire-%d-%d-", run, i), s)
			differ(t, "simulated", perform(t, simulated.Addr().String(), fmt.Sprintf("simulated-%d-", i), s), want)
			differ(t, "proxy", perform(t, proxy.Addr().String(), fmt.Sprintf("wire-%d-%d-p-", run, i), s), want)
		})
	}
}

// Two simulated brokers that receive the same commands give the same answers, including generated names.
func TestDeterminism(t *testing.T) {
	var runs [2][]string
	for i := range runs {
		server := serve(t, wire.Config{Backend: wire.NewSimulated(wire.SimulatedOptions{})})
		for _, s := range append(scripts, unsupported...) {
			runs[i] = append(runs[i], perform(t, server.Addr().String(), "q-", s)...)
		}
	}
	differ(t, "the second", runs[1], runs[0])
}

// The simulated broker refuses unsupported features with a text that says so.
func TestUnsupported(t *testing.T) {
	server := serve(t, wire.Config{Backend: wire.NewSimulated(wire.SimulatedOptions{})})
	for _, s := range unsupported {
		lines := perform(t, server.Addr().String(), "q-", s)
		if last := lines[len(lines)-1]; !strings.Contains(last, "NOT_IMPLEMENTED - lockproof's simulated broker does not have") {
			t.Errorf("%s: %s", s.name, last)
		}
	}
}

// differ reports the first line in which two transcripts differ.
func differ(t *testing.T, name string, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		g, w := line(got, i), line(want, i)
		if g != w {
			t.Errorf("%s, after\n%s\n  got %s\n want %s", name, strings.Join(want[max(0, min(i, len(want))-4):min(i, len(want))], "\n"), g, w)
			return
		}
	}
}

func line(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "nothing"
}

// serve starts a server that is closed at the end of the test.
func serve(t testing.TB, config wire.Config) *wire.Server {
	t.Helper()
	s, err := wire.Listen("127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// hostOf is the host and port in a broker's URL.
func hostOf(t testing.TB, uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}
