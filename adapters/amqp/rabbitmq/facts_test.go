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

// fact is one transcript of the file.
type fact struct {
	title   string
	like    string // the version for which it holds, in parentheses at the end of the title; "" is all
	names   amqp.Names
	timeout int64 // consumer_timeout, in milliseconds; 0 is what the broker has
	steps   []expectation
}

// expectation is a step and what it comes to.
type expectation struct {
	step
	outcome string
	line    int
}

// Each fact holds for the simulated broker and, where there is one, for a real RabbitMQ.
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

// consumerTimeout marks the facts of a broker whose consumer_timeout is three seconds.
const consumerTimeout = "(consumer_timeout 3000)"

// versions are those that the simulated broker can be like, as far as facts were measured.
var versions = []string{"RabbitMQ 3.10", "RabbitMQ 4.0"}

// about reports whether a fact holds for a version.
func (f *fact) about(version string) bool {
	return f.like == "" || broker.Like(f.like) == broker.Like(version)
}

// expectFacts compares what facts came to, or writes it down.
func expectFacts(t *testing.T, facts []*fact, got [][]string) {
	if *rewrite {
		writeFacts(t, facts, got)
		return
	}
	for i, f := range facts {
		t.Run(f.title, func(t *testing.T) { f.compare(t, got[i]) })
	}
}

// restarts reports whether the broker is restarted.
func (f *fact) restarts() bool {
	return slices.ContainsFunc(f.steps, func(s expectation) bool { return s.event == restart })
}

// atOnce is the number of facts that run in parallel, with a connection for each client. A broker with a limit of
// 1,024 files stops accepting connections at 832, and its queues have files too.
const atOnce = 32

// playAll plays facts on a real broker, many at once: most of it is waiting.
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

// A transcript says nothing if so much more time than asked for passes between its moments.
const (
	maxLate  = 250 * time.Millisecond
	attempts = 10
)

// playReal runs a fact on a real broker, again if the machine was too slow for its times. A slow broker shows only
// late effects: a message has not expired yet, or has not returned to a quorum queue yet (FACTS Q15).
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

// takesTime reports whether time has to pass in the fact.
func (f *fact) takesTime() bool {
	return slices.ContainsFunc(f.steps, func(s expectation) bool { return s.event == advance })
}

// quorum reports whether a quorum queue is declared in the fact.
func (f *fact) quorum() bool {
	return slices.ContainsFunc(f.steps, func(s expectation) bool { return s.cmd.Args.Has&amqp.Quorum != 0 })
}

// right reports whether everything came to what is expected.
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

// play runs all steps, each client being connected beforehand.
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

// run runs steps that are written together.
func run(w side, steps []expectation) []string {
	first := steps[0]
	if *rewrite && (first.event == receive || first.counts()) {
		w.advance(200) // until all commands have taken effect: their results are not known yet
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

// counts reports whether a step asks for counters. RabbitMQ's queues answer that before they do what
// they were told earlier, by the same channel too, so it is asked until it is right.
func (s step) counts() bool {
	return s.cmd.Method == amqp.QueueDeclare && s.cmd.Flags.Has(amqp.Passive)
}

// countDeliveries is how many deliveries an outcome speaks of.
func countDeliveries(outcome string) int {
	if outcome == "" || outcome == nothing {
		return 0
	}
	return strings.Count(outcome, ";") + 1
}

// readFacts reads the file of transcripts.
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

// writeFacts writes outcomes into the file and leaves all else in it as it is.
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
