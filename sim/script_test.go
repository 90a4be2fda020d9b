package sim_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/histories/draw"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/internal/pinned"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// TestScripts runs the scenarios in the files of testdata. In each file, the lines above a line of dashes describe the
// scenario, in these forms:
//
//	target NAME
//	option NAME VALUE
//	slots N
//	client OPERATION[:ARGUMENT] …
//	ACTION cN [ARGUMENT] [late] [×TIMES]
//
// Below the dashes is the expected diagram of the execution. The flag -rewrite writes the diagrams anew.
func TestScripts(t *testing.T) {
	pinned.Scripts(t, func(t *testing.T, text string) string {
		script, _, _ := strings.Cut(text, dashes)
		target, s := parse(t, script)
		var r sim.Runner
		var got strings.Builder
		got.WriteString(script + dashes)
		if err := draw.Draw(&got, r.Trace(target, s, property.Weak), style.Style{Width: 120}); err != nil {
			t.Fatal(err)
		}
		return got.String()
	})
}

const dashes = "----\n"

func parse(t *testing.T, script string) (*lock.Target, *scenario.Scenario) {
	target := amqplock.References[0]
	s := &scenario.Scenario{
		Target: target.Name, Options: amqplock.DefaultOptions(), Locks: []scenario.Lock{{Name: "jobs"}},
		Schedule: scenario.Schedule{Strategy: scenario.Replay},
	}
	for line := range strings.Lines(script) {
		field := strings.Fields(line)
		if len(field) == 0 || field[0] == "#" {
			continue
		}
		switch field[0] {
		case "target":
			for _, ref := range amqplock.References {
				if ref.Name == field[1] {
					target, s.Target = ref, ref.Name
				}
			}
		case "option":
			o, err := s.Options.With(field[1], field[2])
			if err != nil {
				t.Fatal(err)
			}
			s.Options = o
		case "slots":
			s.Locks[0].Slots = uint8(number(t, field[1]))
		case "client":
			s.Clients = append(s.Clients, scenario.Client{Ops: operations(t, field[1:])})
		default:
			s.Schedule.Actions = append(s.Schedule.Actions, actions(t, field)...)
		}
	}
	return target, s
}

func operations(t *testing.T, words []string) (ops []scenario.Operation) {
	for _, w := range words {
		name, arg, _ := strings.Cut(w, ":")
		op, ok := lock.OpNamed(name)
		if !ok {
			t.Fatalf("operation %q", name)
		}
		o := scenario.Operation{Op: op}
		if arg != "" {
			o.Arg = uint8(number(t, arg))
		}
		ops = append(ops, o)
	}
	return ops
}

func actions(t *testing.T, words []string) (actions []scenario.Action) {
	var a scenario.Action
	if err := a.Kind.UnmarshalText([]byte(words[0])); err != nil {
		t.Fatal(err)
	}
	times := 1
	for _, w := range words[1:] {
		switch {
		case w == "late":
			a.Late = true
		case strings.HasPrefix(w, "c"):
			a.Client = uint8(number(t, w[1:]))
		case strings.HasPrefix(w, "×"):
			times = number(t, strings.TrimPrefix(w, "×"))
		default:
			a.Arg = uint32(number(t, w))
		}
	}
	for range times {
		actions = append(actions, a)
	}
	return actions
}

func number(t *testing.T, word string) int {
	n, err := strconv.Atoi(word)
	if err != nil {
		t.Fatal(fmt.Errorf("number: %w", err))
	}
	return n
}
