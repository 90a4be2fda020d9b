package rabbitmq_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

var rewrite = flag.Bool("rewrite", false, "write into testdata/facts.txt what the real broker answers")

const factsFile = "testdata/facts.txt"

// fact is one transcript in the file of facts: what clients send to a broker, and what they receive.
type fact struct {
	title   string
	like    string // version for which the fact holds, such as "RabbitMQ 4.0"; "" for all
	names   amqp.Names
	timeout int64 // the broker's consumer_timeout in ms; 0 means its default
	steps   []expectation
}

// expectation is a step and its expected outcome.
type expectation struct {
	step
	outcome string
	line    int
}

// Every fact holds for the simulated broker and, if there is one, for a real RabbitMQ.
func TestFacts(t *testing.T) {
	t.Parallel()
	facts := readFacts(t)
	t.Run("simulated", func(t *testing.T) {
		for _, f := range facts {
			t.Run(f.title, func(t *testing.T) {
				for _, version := range versions {
					if f.about(version) {
						opts := broker.Like(version)
						opts.ConsumerTimeout = f.timeout
						f.compare(t, f.play(newSimulated(&f.names, opts)))
					}
				}
			})
		}
	})
	t.Run("real", func(t *testing.T) {
		b := rabbitmqtest.Shared(t)
		facts := slices.DeleteFunc(readFacts(t), func(f *fact) bool { return f.restarts() || f.timeout > 0 || !f.about(b.Version) })
		expectFacts(t, facts, playAll(t, facts, &rabbitmq.Broker{URL: b.URL}))
	})
	t.Run("restarted", func(t *testing.T) {
		facts := slices.DeleteFunc(readFacts(t), func(f *fact) bool { return !f.restarts() })
		b := rabbitmqtest.Private(t)
		for _, f := range facts {
			expectFacts(t, []*fact{f}, playAll(t, []*fact{f}, b))
		}
	})
	t.Run("late", func(t *testing.T) {
		facts := slices.DeleteFunc(readFacts(t), func(f *fact) bool { return f.timeout == 0 })
		b := rabbitmqtest.Configured(t, "[{rabbit, [{consumer_timeout, 3000}, {channel_tick_interval, 1000}]}].\n")
		expectFacts(t, facts, playAll(t, facts, b))
	})
}

// consumerTimeout ends the titles of facts that need a broker with a consumer_timeout of 3 s.
const consumerTimeout = "(consumer_timeout 3000)"

// versions are the versions of RabbitMQ for which facts were measured and that the simulated broker can imitate.
var versions = []string{"RabbitMQ 3.10", "RabbitMQ 4.0"}

// about reports whether a fact holds for the given version.
func (f *fact) about(version string) bool {
	return f.like == "" || broker.Like(f.like) == broker.Like(version)
}

// expectFacts compares the outcomes with the file or, with -rewrite, writes them into the file.
func expectFacts(t *testing.T, facts []*fact, got [][]string) {
	if *rewrite {
		writeFacts(t, facts, got)
		return
	}
	for i, f := range facts {
		t.Run(f.title, func(t *testing.T) { f.compare(t, got[i]) })
	}
}

// restarts reports whether the fact has a step that restarts the broker.
func (f *fact) restarts() bool {
	return slices.ContainsFunc(f.steps, func(s expectation) bool { return s.event == restart })
}

// atOnce is the maximum number of facts that are played in parallel, each with several connections. A broker that may
// open 1,024 files stops accepting connections at 832, and its queues need files as well.
const atOnce = 32

// playAll plays facts on a real broker, many in parallel, because they mostly wait.
func playAll(t *testing.T, facts []*fact, b *rabbitmq.Broker) [][]string {
	got, errs := make([][]string, len(facts)), make([]error, len(facts))
	var all sync.WaitGroup
	room := make(chan struct{}, atOnce)
	for i, f := range facts {
		all.Go(func() {
			room <- struct{}{}
			got[i], errs[i] = f.playReal(b)
			<-room
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return got
}

// An attempt does not count if a pause lasts more than maxLate longer than requested.
const (
	maxLate  = 250 * time.Millisecond
	attempts = 10
)

// playReal plays a fact on a real broker. It repeats the fact if the machine was too slow, or if an outcome that
// depends on time is not the expected one. A slow broker can only be late, for example with an expiry or with a return
// to a quorum queue (FACTS Q15).
func (f *fact) playReal(b *rabbitmq.Broker) (got []string, err error) {
	for range attempts {
		w, err := newReal("facts", b.URL, &f.names)
		if err != nil {
			return nil, err
		}
		w.again = b.Restart
		played := f.play(w)
		if err := w.end(); err != nil {
			return nil, err
		}
		if w.late > maxLate {
			continue
		}
		if got = played; *rewrite || !f.takesTime() && !f.quorum() || f.right(got) {
			return got, nil
		}
	}
	if got != nil {
		return got, nil
	}
	return nil, fmt.Errorf("%s: played %d times, and each time the machine stood still for more than %v", f.title, attempts, maxLate)
}

// takesTime reports whether the fact has a step that lets time pass.
func (f *fact) takesTime() bool {
	return slices.ContainsFunc(f.steps, func(s expectation) bool { return s.event == advance })
}

// quorum reports whether the fact declares a quorum queue.
func (f *fact) quorum() bool {
	return slices.ContainsFunc(f.steps, func(s expectation) bool { return s.cmd.Args.Has&amqp.Quorum != 0 })
}

// right reports whether every step had the expected outcome.
func (f *fact) right(got []string) bool {
	return slices.EqualFunc(f.steps, got, func(s expectation, got string) bool { return s.outcome == got })
}

func (f *fact) compare(t *testing.T, got []string) {
	for i, s := range f.steps {
		if got[i] != s.outcome {
			t.Errorf("%s:%d: %s\n got %s\nwant %s", factsFile, s.line, s.text(&f.names), got[i], s.outcome)
		}
	}
}

// play connects all clients, plays the steps and returns their outcomes.
func (f *fact) play(w side) []string {
	var got []string
	for c := range clients {
		w.do(c, []amqp.Command{{Method: amqp.ConnectionOpen}})
		w.do(c, []amqp.Command{{Method: amqp.ChannelOpen, Channel: 1}})
	}
	for rest := f.steps; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].cmd.Pipelined {
			n++
		}
		got = append(got, run(w, rest[:n])...)
		rest = rest[n:]
	}
	return got
}

// run plays steps whose commands are written together, and returns their outcomes.
func run(w side, steps []expectation) []string {
	first := steps[0]
	if *rewrite && (first.event == receive || first.counts()) {
		w.advance(200) // gives earlier commands time: with -rewrite, no outcome is known to wait for
	}
	var batch []amqp.Command
	for _, s := range steps {
		batch = append(batch, s.cmd)
	}
	got := outcome(w, first.step, batch, first.outcome)
	for deadline := time.Now().Add(patience); first.counts() && !*rewrite && got[0] != first.outcome && time.Now().Before(deadline); {
		got = outcome(w, first.step, batch, first.outcome)
	}
	for len(got) < len(steps) {
		got = append(got, "ignored")
	}
	return got
}

// counts reports whether a step is a passive declare, which returns counters. RabbitMQ may answer it before it has
// carried out earlier commands, even of the same channel. So it is repeated until it has the expected outcome.
func (s step) counts() bool {
	return s.cmd.Method == amqp.QueueDeclare && s.cmd.Flags.Has(amqp.Passive)
}

// countDeliveries is the number of deliveries that an outcome lists.
func countDeliveries(outcome string) int {
	if outcome == "" || outcome == nothing {
		return 0
	}
	return strings.Count(outcome, ";") + 1
}

// readFacts reads the file of facts.
func readFacts(t *testing.T) []*fact {
	text, err := os.ReadFile(factsFile)
	if err != nil {
		t.Fatal(err)
	}
	var facts []*fact
	for i, line := range strings.Split(string(text), "\n") {
		title, is := strings.CutPrefix(line, "## ")
		switch {
		case is:
			f := &fact{title: title}
			if i := strings.LastIndex(title, "(RabbitMQ "); i >= 0 {
				f.like = strings.Trim(title[i:], "()")
			}
			if strings.HasSuffix(title, consumerTimeout) {
				f.timeout = 3000
			}
			facts = append(facts, f)
		case line == "", strings.HasPrefix(line, "#"):
		default:
			f := facts[len(facts)-1]
			before, outcome, _ := strings.Cut(line, " -> ")
			s, err := parseStep(before, &f.names)
			if err != nil {
				t.Fatalf("%s:%d: %v", factsFile, i+1, err)
			}
			f.steps = append(f.steps, expectation{s, outcome, i + 1})
		}
	}
	return facts
}

// writeFacts writes outcomes into the file of facts, and leaves its other lines unchanged.
func writeFacts(t *testing.T, facts []*fact, got [][]string) {
	text, err := os.ReadFile(factsFile)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for i, f := range facts {
		for k, s := range f.steps {
			lines[s.line-1] = s.text(&f.names)
			if got[i][k] != "" {
				lines[s.line-1] += " -> " + got[i][k]
			}
		}
	}
	if err := os.WriteFile(factsFile, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}
