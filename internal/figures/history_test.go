//go:build unix

package figures

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
)

// slots is the number of slots of the semaphore in the histories that are measured.
const slots = 8

var historyFigures = []figure{
	besidePorcupine(5, 0), besidePorcupine(5, 0.01), besidePorcupine(30, 0), besidePorcupine(30, 0.01),
	{
		title: "The price of unanswered operations",
		about: "Linearizability of a history of 1,000,000 operations by 30 clients of 8 slots, of which so many are not answered. " +
			"Their clients die, which the history records some 200 events later. A history that records no end of a connection " +
			"takes longer than one that records a few.",
		how: "`go test -bench Crowd ./model/linear`", cores: "one core", ratio: "times as long",
		round: func(t *testing.T, s scale) (all []measured) {
			for _, percent := range []float64{0, 0.01, 0.1, 1, 2, 5, 10, 20} {
				h := drawn.Crowd{Operations: s.of(1_000_000, 500), Clients: 30, Slots: slots, Unanswered: percent / 100, Evidence: true}.Whole(1)
				var f linear.Finding
				took := processor(func() { f = linear.Check(h, linear.Options{}) })
				all = append(all, measured{name: fmt.Sprintf("%v %% unanswered", percent), cost: took, none: unlessLegal(t, f)})
			}
			return all
		},
	},
	{
		title: "A long history from a pipe",
		about: "`lockproof check -` judges a history of 30 clients of 8 slots, 1 % unanswered, while another program writes it. " +
			"The memory is the most that it had at once. What grows is what is known of clients that died: a million of them in " +
			"100,000,000 operations.",
		how: "`… | /usr/bin/time lockproof check -`", cores: "two cores, which both programs share", ratio: "times the memory", once: true,
		round: piped,
	},
}

// unlessLegal returns "not decided" for an undecided history and "" for a legal one. The test fails if the history is
// found illegal, since all of them are legal.
func unlessLegal(t *testing.T, f linear.Finding) string {
	t.Helper()
	if f.Decision == linear.Illegal {
		t.Fatalf("a legal history is illegal: %+v", f)
	}
	if f.Decision == linear.Undecided {
		return "not decided"
	}
	return ""
}

// patience is the maximum processor time for porcupine to check one history.
const patience = 5 * time.Second

// besidePorcupine is a figure that compares lockproof and porcupine, which check the linearizability of the same
// histories.
func besidePorcupine(clients int, unanswered float64) figure {
	title := fmt.Sprintf("Histories of %d clients, %v %% unanswered, against porcupine", clients, 100*unanswered)
	if unanswered == 0 {
		title = fmt.Sprintf("Histories of %d clients, against porcupine", clients)
	}
	return figure{
		title: title,
		about: fmt.Sprintf("Linearizability of one history of a semaphore with %d slots, by porcupine and by lockproof. Porcupine is given "+
			"lockproof's specification as its model, divided as far as it allows that, and %d seconds of the processor a history. Longer histories than one without an answer are not tried.", slots, int(patience.Seconds())),
		how: "`go test -bench Crowd ./model/linear`", cores: "one core", ratio: "times as long", once: true,
		round: func(t *testing.T, s scale) (all []measured) {
			limit := patience
			if s.tiny {
				limit /= 50
			}
			silent := ""
			for _, operations := range []int{100, 1000, 10_000, 100_000}[:s.of(4, 1)] {
				h := drawn.Crowd{Operations: operations, Clients: clients, Slots: slots, Unanswered: unanswered, Evidence: true}.Whole(1)
				theirs := measured{name: "porcupine, " + style.Grouped(operations) + " operations", none: silent}
				if silent == "" {
					theirs.cost, theirs.none = byPorcupine(t, h, limit)
				}
				if theirs.none != "" {
					silent = "not tried"
				}
				all = append(all, byUs(t, h, operations), theirs)
			}
			return all
		},
	}
}

// byPorcupine returns the processor time that porcupine takes to check a history, or "no answer" if it exceeds the
// limit. After the limit the model allows no more steps, so that porcupine returns soon.
func byPorcupine(t *testing.T, h *history.History, limit time.Duration) (cost float64, none string) {
	var legal bool
	var steps atomic.Int64
	var over atomic.Bool
	cost = processor(func() {
		p, err := linear.Specify(h, 0, linear.Options{})
		if err != nil {
			t.Fatal(err)
		}
		model, end := p.Model(), used()+limit
		step := model.Step
		model.Step = func(state, input, output any) (bool, any) {
			if steps.Add(1)%1024 == 0 && used() > end {
				over.Store(true)
			}
			if over.Load() {
				return false, state
			}
			return step(state, input, output)
		}
		legal = porcupine.CheckOperations(model, p.Operations())
	})
	switch {
	case legal:
		return cost, ""
	case over.Load():
		return cost, "no answer"
	}
	t.Fatal("porcupine: a legal history is illegal")
	return 0, ""
}

// byUs measures the time that lockproof takes to check a history. It checks short histories repeatedly.
func byUs(t *testing.T, h *history.History, operations int) measured {
	m := measured{name: "lockproof, " + style.Grouped(operations) + " operations"}
	times := max(1, 100_000/operations)
	m.cost = processor(func() {
		for range times {
			m.none = unlessLegal(t, linear.Check(h, linear.Options{}))
		}
	}) / float64(times)
	return m
}

// crowdVariable names an environment variable with a [drawn.Crowd] as JSON. With it, the test binary writes that
// history to standard output.
const crowdVariable = "LOCKPROOF_FIGURES_CROWD"

func writeCrowd(text string) {
	if program := os.Getenv(programVariable); program != "" {
		writeTo(program)
		return
	}
	var d drawn.Crowd
	err := json.Unmarshal([]byte(text), &d)
	var out *histories.Writer
	if err == nil {
		out, err = histories.NewWriter(os.Stdout, histories.HeaderOf(d.History()))
	}
	if err == nil {
		err = d.Each(1, func(e history.Event) error { return out.Write(&e) })
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		panic(err)
	}
}

// piped measures how lockproof checks longer and longer histories that it reads from a pipe.
func piped(t *testing.T, s scale) (all []measured) {
	program := filepath.Join(t.TempDir(), "lockproof")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/lockproof").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	sizes := []int{1_000_000, 10_000_000}
	if s.long {
		sizes = append(sizes, 100_000_000)
	}
	if s.tiny {
		sizes = []int{100}
	}
	first := time.Duration(0)
	for _, operations := range sizes {
		took, memory := pipe(t, program, operations)
		if first == 0 {
			first = took
		}
		note := digits(took.Seconds()/first.Seconds()) + " times the processor's time"
		all = append(all, measured{name: style.Grouped(operations) + " operations", cost: float64(memory), note: note})
	}
	return all
}

// pipe lets the program check a history with the given number of operations. It returns the program's processor time
// and its maximum memory.
func pipe(t *testing.T, program string, operations int) (took time.Duration, memory int64) {
	t.Helper()
	crowd, err := json.Marshal(drawn.Crowd{Operations: operations, Clients: 30, Slots: slots, Unanswered: 0.01, Evidence: true})
	if err != nil {
		t.Fatal(err)
	}
	// A process begins as a copy of its parent, so its maximum memory is at least the parent's. Therefore a small
	// process starts the program.
	small := exec.CommandContext(t.Context(), os.Args[0])
	small.Env = append(os.Environ(), crowdVariable+"="+string(crowd), programVariable+"="+program)
	out, err := small.CombinedOutput()
	if err == nil {
		_, err = fmt.Sscan(string(out), &took, &memory)
	}
	if err != nil {
		t.Fatalf("%d operations: %v\n%s", operations, err, out)
	}
	return took, memory
}

// programVariable names an environment variable with the path of a program. With it and crowdVariable, the test
// binary lets that program check the history.
const programVariable = "LOCKPROOF_FIGURES_PROGRAM"

// writeTo starts the program, pipes the history to it, and prints the program's processor time and maximum memory.
func writeTo(program string) {
	writer, check := exec.Command(os.Args[0]), exec.Command(program, "check", "-")
	writer.Env = append(os.Environ(), programVariable+"=")
	from, err := writer.StdoutPipe()
	if err == nil {
		err = writer.Start()
	}
	if err == nil {
		check.Stdin = from
		var out []byte
		if out, err = check.CombinedOutput(); err != nil {
			err = fmt.Errorf("%w\n%s", err, out)
		}
	}
	if err = errors.Join(err, writer.Wait()); err != nil {
		panic(err)
	}
	used := check.ProcessState
	fmt.Println(int64(used.UserTime()+used.SystemTime()), used.SysUsage().(*syscall.Rusage).Maxrss)
}
