package rabbitmq_test

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

const (
	recordedFile = "testdata/recorded.txt"
	recordings   = 60 // number of sequences in the file
)

// The simulated broker gives the answers that a RabbitMQ gave to random sequences of commands when these were recorded.
// This is [TestRandomCommands] for machines without a broker. -rewrite records them again.
func TestRecorded(t *testing.T) {
	if *rewrite {
		record(t)
	}
	text, err := os.ReadFile(recordedFile)
	if err != nil {
		t.Fatal(err)
	}
	sequences := recorded(string(text))
	if len(sequences) != recordings {
		t.Errorf("%s has %d sequences, want %d", recordedFile, len(sequences), recordings)
	}
	for i, lines := range sequences {
		t.Run(strconv.Itoa(i), func(t *testing.T) { replayRecorded(t, lines) })
	}
}

// recorded splits the text of the file into sequences, each a list of lines.
func recorded(text string) (all [][]string) {
	for line := range strings.Lines(text) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "## "):
			all = append(all, nil)
		case line != "" && !strings.HasPrefix(line, "#"):
			all[len(all)-1] = append(all[len(all)-1], line)
		}
	}
	return all
}

// replayRecorded plays a recorded sequence on the simulated broker.
func replayRecorded(t *testing.T, lines []string) {
	names := newNames()
	w := newSimulated(names, broker.Options{}) // recorded with 3.10.8, the default version
	connectAll(w)
	for i := 0; i < len(lines); {
		var batch []amqp.Command
		var want []string
		var first step
		for n := i; i < len(lines); i++ {
			before, outcome, _ := strings.Cut(lines[i], " -> ")
			s, err := parseStep(before, names)
			if err != nil {
				t.Fatalf("%s: %v", lines[i], err)
			}
			if i > n && !s.cmd.Pipelined {
				break
			}
			if i == n {
				first = s
			}
			batch, want = append(batch, s.cmd), append(want, outcome)
		}
		got := outcome(w, first, batch, want[0])
		for len(got) < len(want) {
			got = append(got, "ignored")
		}
		for k := range want {
			if got[k] != want[k] {
				t.Fatalf("%s\n  simulated: %s", lines[i-len(want)+k], got[k])
			}
		}
		if first.event == command && first.cmd.Method == amqp.ConnectionOpen {
			openSpare(w, first.client)
		}
	}
}

// record plays sequences on a real RabbitMQ and the simulated broker, and writes the transcripts into the file.
func record(t *testing.T) {
	url := rabbitmqtest.URL(t)
	b, err := rabbitmq.Start(t.Context(), rabbitmq.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "# Random commands, and what %s answered: transcript_test.go says how to read them.\n# go test -run TestRecorded -rewrite records them anew.\n", b.Version)
	for seed := range recordings {
		w, err := newReal("recorded", url, newNames())
		if err != nil {
			t.Fatal(err)
		}
		m := newMatch(w, broker.Like(b.Version), patience)
		m.counters = make(map[amqp.Queue]string)
		err = m.play(drafts.Example(seed))
		if err := errors.Join(err, w.end()); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "\n## %d\n%s\n", seed, strings.Join(m.lines, "\n"))
	}
	if err := os.WriteFile(recordedFile, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
