package atlas_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/atlas"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/internal/pinned"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim/question"
)

// TestAtlas answers every question again. It fails if a verdict, the length of a counterexample or a number of states
// has changed.
func TestAtlas(t *testing.T) {
	for _, server := range question.Servers() {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			file := "atlas-" + server + ".txt"
			if server == "amqp" {
				file = "atlas.txt"
			}
			if testing.Short() && (server == "amqp" || server == "mariadb") {
				t.Skip("skipped: -short leaves out the guidelines' questions, and of two databases one")
			}
			a, err := atlas.Answer(t.Context(), atlas.Config{Server: server})
			if err != nil {
				t.Fatal(err)
			}
			if server == "amqp" && pinned.Rewriting() {
				keep(t, a)
			}
			pinned.Text(t, filepath.Join("..", "..", "..", "testdata", file), verdicts(a))
		})
	}
}

// verdicts returns the pinned results of an atlas as text.
func verdicts(a *report.Atlas) string {
	var b strings.Builder
	for _, q := range a.Questions {
		for _, r := range q.Rows {
			if r.Space == nil {
				fmt.Fprintf(&b, "%d. %s: %s\n", q.Number, r.Setting, strings.Join(r.Figures, "\n    "))
				continue
			}
			fmt.Fprintf(&b, "%d. %s: %d states, in the end %s\n", q.Number, r.Setting, r.Space.States, strings.Join(r.Ends, " "))
			for _, v := range r.Verdicts {
				fmt.Fprintf(&b, "    %s %s", v.Verdict, v.Property)
				if v.Steps > 0 {
					fmt.Fprintf(&b, " in %s", v.AtMost())
				}
				fmt.Fprintln(&b)
			}
		}
	}
	if a.Needed == nil {
		return b.String()
	}
	fmt.Fprintf(&b, "%d of %d combinations proved\n", a.Needed.Proved, a.Needed.Tried)
	for _, c := range a.Needed.Any.Each {
		fmt.Fprintf(&b, "    %s: %s: proved %s; not %s\n", a.Needed.Any.Bounds, c.Options, c.Proved.Names(), c.Open.Names())
	}
	for _, o := range a.Needed.Smallest {
		fmt.Fprintf(&b, "    %s:", o.Option)
		for _, v := range o.Lost {
			fmt.Fprintf(&b, " %s in %s", v.Property, v.AtMost())
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}

// kept is the folder with the counterexamples of the atlas.
var kept = filepath.Join("..", "..", "..", "testdata", "counterexamples", "atlas")

func keep(t *testing.T, a *report.Atlas) {
	if err := os.RemoveAll(kept); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(kept, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, ce := range a.Counterexamples() {
		if err := ce.Save(filepath.Join(kept, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAtlasEndsEarly interrupts an atlas. The atlas must contain the results so far and say what is missing.
func TestAtlasEndsEarly(t *testing.T) {
	lost := errors.New("the broker is gone")
	for name, end := range map[string]func(c *atlas.Config, cancel func()){
		"interrupted": func(c *atlas.Config, cancel func()) {
			visits := 0
			c.Progress = func(string) {
				if visits++; visits == 3 {
					cancel()
				}
			}
		},
		"the broker is lost": func(c *atlas.Config, _ func()) {
			asked := 0
			c.Confirm = func(*scenario.Trace, *lock.Target, scenario.Violation) (string, error) {
				if asked++; asked == 2 {
					return "", lost
				}
				return "RabbitMQ agrees", nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c := atlas.Config{Questions: []int{1, 2, 3}}
			end(&c, cancel)
			a, err := atlas.Answer(ctx, c)
			if !errors.Is(err, context.Canceled) && !errors.Is(err, lost) {
				t.Fatal(err)
			}
			rows, missing := 0, 0
			for _, q := range a.Questions {
				rows, missing = rows+len(q.Rows), missing+len(q.Missing)
			}
			if len(a.Questions) != 3 || rows == 0 || missing == 0 || a.Complete() {
				t.Errorf("%d questions, %d rows, %d missing", len(a.Questions), rows, missing)
			}
			var b strings.Builder
			if err := report.WriteAtlas(&b, a, style.Style{Width: 160}); err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{fmt.Sprintf("ended early: %d of %d configurations", rows, rows+missing), a.Questions[0].Rows[0].Setting, a.Questions[2].Missing[0]} {
				if !strings.Contains(b.String(), want) {
					t.Errorf("it does not say %q:\n%s", want, b.String())
				}
			}
			if strings.Contains(b.String(), a.Questions[2].Answer) {
				t.Errorf("a question is answered of which nothing was visited:\n%s", b.String())
			}
		})
	}
}

// TestAtlasOnRabbitMQ replays the stored counterexamples of the atlas on the simulated broker and, step by step, on a
// real one. Both must show the same violation.
func TestAtlasOnRabbitMQ(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out the replay of the atlas")
	}
	files, err := filepath.Glob(filepath.Join(kept, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no counterexamples in %s: %v", kept, err)
	}
	broker := rabbitmqtest.Private(t) // a private broker, because executions may restart it
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			ce, err := histories.LoadCounterexample(file)
			if err != nil {
				t.Fatal(err)
			}
			r, err := engine.Replay(ce)
			if err != nil {
				t.Fatal(err)
			}
			if r.Violation == nil {
				t.Fatalf("%s is not violated any more", ce.Property)
			}
			real, err := rabbitmq.Replay(t.Context(), broker, r.Target, r.Trace, rabbitmq.ReplayOptions{})
			switch {
			case err != nil:
				t.Fatal(err)
			case real.Skipped != "":
				t.Skip("skipped:", real.Skipped)
			case !real.Reproduces(*r.Violation):
				t.Error(real)
			}
		})
	}
}

// TestAtlasMeasured checks that a measured row lists the server's replies, and says whether a real server gave the
// same. Executions that were skipped do not count.
func TestAtlasMeasured(t *testing.T) {
	for want, agree := range map[string]func(tries int) (bool, string){
		"the same replies in 5 executions, ": func(tries int) (bool, string) { return true, []string{"", "a restart"}[tries%2] },
		"replies differ in execution 1":      func(tries int) (bool, string) { return tries < 2, "" },
	} {
		tries := 0
		a, err := atlas.Answer(t.Context(), atlas.Config{Server: "amqp-consumption", Questions: []int{5}, Agree: func(*scenario.Trace, *lock.Target) (bool, string, error) {
			tries++
			same, skipped := agree(tries)
			return same, skipped, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		row := a.Questions[0].Rows[0]
		if !strings.HasPrefix(row.Same, want) {
			t.Errorf("%q, want %q", row.Same, want)
		}
		if strings.Join(row.Answered, ", ") != "get-empty" {
			t.Errorf("answered %q", row.Answered)
		}
	}
}
