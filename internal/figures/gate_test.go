//go:build unix

package figures

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/lockproof/lockproof/adapters/amqp/plugin"
	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/subprocess"
	"github.com/lockproof/lockproof/internal/enginetest"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	amqplocks "github.com/lockproof/lockproof/testdata/targets/golang"
)

// calls are the operations that each of three clients calls in an execution.
var calls = []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Verify}, {Op: lock.Release}, {Op: lock.Acquire}, {Op: lock.Release}}

// gateFigures are the figures of clients behind the gate. They compare the time per call, since the clients of the
// cases have different kinds of locks.
var gateFigures = []figure{{
	title: "Clients behind the gate",
	about: "A call of a client, where 3 clients call 5 operations each in an execution on the simulated broker: the example in Go " +
		"without the gate, one client after another, by loopback; the same behind the gate, in this process; what " +
		"`init go` writes, a program of its own; the example in Python.",
	how: "`go test -bench Controlled ./adapters/engine`", cores: "one execution at a time on two cores, by the clock", ratio: "times as long",
	round: func(t *testing.T, s scale) []measured {
		golang, python := &enginetest.Examples[0], &enginetest.Examples[1]
		all := []measured{
			ungated(t, s.of(500, 1)),
			gated(t, "Go, in this process", golang.Starter(t, ""), lock.Semaphore, s.of(500, 1)),
			gated(t, "Go, a program of its own", written(t), lock.Mutex, s.of(200, 1)),
		}
		if python.Missing() != "" {
			return append(all, measured{name: "Python", none: "not measured: pika is missing"})
		}
		return append(all, gated(t, "Python", python.Starter(t, ""), lock.Semaphore, s.of(100, 1)))
	},
}}

// ungated measures the time per call of the example in Go without a gate.
func ungated(t *testing.T, executions int) measured {
	server, err := wire.Listen("127.0.0.1:0", wire.Config{Backend: wire.NewSimulated(wire.SimulatedOptions{})})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	var clients []*amqplocks.Client
	for range 3 {
		c, err := amqplocks.New(t.Context(), server.URL())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		clients = append(clients, c)
	}
	if err := clients[0].Create(t.Context(), "jobs", 2); err != nil {
		t.Fatal(err)
	}
	took := clock(func() {
		for range executions {
			for _, c := range clients {
				callAll(t, c)
			}
		}
	})
	return measured{name: "Go, without the gate", cost: took / float64(executions*len(clients)*len(calls))}
}

func callAll(t *testing.T, c *amqplocks.Client) {
	slot := 0
	for _, o := range calls {
		var err error
		switch o.Op {
		case lock.Acquire:
			slot, err = c.Acquire(t.Context(), "jobs")
		case lock.Verify:
			_, err = c.Verify(t.Context(), "jobs", slot)
		case lock.Release:
			err = c.Release(t.Context(), "jobs", slot)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// gated measures the time per call behind the gate. It runs one execution after another.
func gated(t *testing.T, name string, starter foreign.Starter, kind lock.Kind, executions int) measured {
	_, done := subprocess.LeaveProcessors()
	defer done()
	runner, err := foreign.NewRunner(t.Context(), foreign.Config{Open: plugin.Simulated, Starter: starter, Kind: kind})
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	sc := runner.Playable(scenario.Scenario{
		Locks:    []scenario.Lock{{Name: "jobs", Slots: 2}},
		Clients:  []scenario.Client{{Ops: calls}, {Ops: calls}, {Ops: calls}},
		Schedule: scenario.Schedule{Choices: []uint8{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5}},
	})
	run := func() {
		if _, err := runner.Run(t.Context(), &sc); err != nil {
			t.Fatal(err)
		}
	}
	run() // this starts the clients
	took := clock(func() {
		for range executions {
			run()
		}
	})
	return measured{name: name, cost: took / float64(executions*len(sc.Clients)*len(calls))}
}

// written builds the program that `init go` generates, and returns its starter.
func written(t *testing.T) foreign.Starter {
	dir := t.TempDir()
	text, err := os.ReadFile("../../cmd/lockproof/cli/start/go/adapter.go.txt")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "adapter.go"), text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "adapter")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, filepath.Join(dir, "adapter.go")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return &subprocess.Starter{Command: "exec " + program, Dir: dir, Stderr: t.Output()}
}
