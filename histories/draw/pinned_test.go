package draw_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/histories/draw"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/internal/pinned"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	_ "github.com/lockproof/lockproof/sim/amqp"
	_ "github.com/lockproof/lockproof/sim/amqp/consumption"
	_ "github.com/lockproof/lockproof/sim/consul"
	_ "github.com/lockproof/lockproof/sim/redis"
	_ "github.com/lockproof/lockproof/sim/sql"
)

// TestPinned compares the pictures and texts of random executions of every target with a file. Executions are drawn as
// text of several widths, as pictures, and as sentences. For each backend's first target, the file also has the
// sentences for invented violations. The files drawn.txt and causes.txt in testdata/histories have whole pictures, and
// causes of real violations.
func TestPinned(t *testing.T) {
	for _, b := range lock.Backends() {
		f := pinned.New(t)
		for n, target := range b.Targets() {
			inputs := 3
			if target.Breaks == "" {
				inputs = 30
			}
			f.Block(target.Name, inputs, func(i int, s *pinned.Seen) { drawn(s, target, i, n == 0 && i == 0) })
		}
		f.Compare(fmt.Sprintf("testdata/pinned/%s.txt", cmp.Or(b.Name, "amqp")))
	}
}

// drawn writes the pictures and texts of a target's i-th execution. For a mutant, it prefers an execution that shows
// the mutant's bug. If shown is set, the sentences are written to the file in full.
func drawn(s *pinned.Seen, target *lock.Target, i int, shown bool) {
	failedAcquire := property.FailedAcquire(i % 2)
	trace := execution(target, i, failedAcquire)
	if i%3 == 1 {
		trace.Errors = make(map[int]string)
		for k := range trace.History.Events {
			if k%5 == 3 {
				trace.Errors[k] = "it said \x1b[31mno\n" + string(rune('a'+k%26))
			}
		}
	}
	if len(trace.Violations) > 0 {
		s.Count("with violations")
	}
	var b bytes.Buffer
	err := draw.Draw(&b, trace, style.Style{Width: []int{100, 60, 130, 0, 80}[i%5], Color: i%4 == 0})
	s.Write(b.Bytes())
	transcript := draw.Transcript(trace)
	if shown {
		s.Rowf("%s", strings.Join(transcript, "\n"))
	}
	s.Add("lines of pictures", strings.Count(b.String(), "\n"))
	s.Add("lines of transcripts", len(transcript))
	s.Printf("%v\n%s\n%q\n%q\n%q", err, draw.SVG(trace, ""), draw.Settings(trace), transcript, draw.Errors(trace))
	s.Printf("%s %v", draw.Strips(trace), draw.Glossary(strings.Join(transcript, "\n"), target.Kind))
	if i%5 == 0 {
		for l := range trace.Scenario.Locks {
			if prefix := linear.LongestPrefix(&trace.History, l, linear.Options{FailedAcquire: failedAcquire}, time.Hour); prefix != nil {
				s.Count("histories")
				s.Printf("%s %d %s", draw.History(&trace.History, l, prefix), prefix.Events, prefix.Why)
			}
		}
	}
	for _, v := range trace.Violations {
		s.Printf("%d %s %s", draw.Decision(trace, v), draw.Cause(trace, v), draw.Expected(trace, v))
	}
	r := rand.New(rand.NewPCG(77, uint64(i)))
	tell := s.Printf
	if shown {
		tell = s.Rowf
	}
	if i%3 == 0 {
		supposed(tell, trace, r)
	}
	for range 3 { // a future lock may behave in ways that no lock shows today
		distort(trace, r)
		supposed(s.Printf, trace, r)
	}
	s.Printf("%s %v", draw.Strips(trace), draw.Errors(trace))
}

// supposed prints the cause and the expected behaviour for an invented violation of each property at a random step.
func supposed(tell func(format string, args ...any), trace *scenario.Trace, r *rand.Rand) {
	for p := range property.Count + 1 {
		v := scenario.Violation{Step: r.IntN(len(trace.Steps) + 2)}
		v.Property, v.Kind, v.Lock = p, trace.History.Kind, uint8(r.IntN(len(trace.Scenario.Locks)+r.IntN(2)))
		v.Client, v.Other, v.Slot = uint8(1+r.IntN(len(trace.Scenario.Clients))), uint8(1+r.IntN(len(trace.Scenario.Clients))), uint8(r.IntN(4))
		if r.IntN(8) == 0 {
			v.Slot = monitor.Slots + 1
		}
		v.Detail = []string{"", "it is so", "it is so.", "2 messages are left", "it reconnected", "it broke a channel", "it opened 2 channels"}[r.IntN(7)]
		tell("%s: decided at %d; %s; expected: %s", p, draw.Decision(trace, v), draw.Cause(trace, v), draw.Expected(trace, v))
	}
}

// distort changes some replies and server states of an execution at random.
func distort(trace *scenario.Trace, r *rand.Rand) {
	clients, locks := len(trace.Scenario.Clients), len(trace.Scenario.Locks)
	for range 1 + len(trace.Steps)/4 {
		step := &trace.Steps[r.IntN(len(trace.Steps))]
		x, truth, slot := &step.Exchange, &step.Truth[r.IntN(locks)], 1+r.IntN(3)
		switch r.IntN(12) {
		case 0, 1:
			truth.Exists ^= 1 << slot
		case 2, 3:
			truth.Taken ^= 1 << slot
		case 4:
			truth.Owner[slot] = uint8(r.IntN(clients + 1))
		case 5:
			truth.Admin = uint8(r.IntN(clients + 1))
		case 6:
			x.Access = backend.Access(r.IntN(int(backend.Create) + 3))
		case 7:
			x.Result = []backend.Result{backend.Done, backend.Refused, backend.Denied, backend.Ended}[r.IntN(4)]
		case 8:
			x.Role, x.Known, x.Lock = backend.AdminMutex, true, uint8(r.IntN(locks))
		case 9:
			x.Aborted = !x.Aborted
		case 10:
			step.Reply = []string{"", "ack", "ok"}[r.IntN(3)]
		case 11:
			x.Key = 1 + x.Key%3
		}
	}
}

// execution is the i-th random execution of a target. For a mutant, it is the first execution from the i-th on that
// shows its bug, or else number i+40.
func execution(target *lock.Target, i int, failedAcquire property.FailedAcquire) *scenario.Trace {
	source := sim.NewSource(sim.Space{Target: target}, 51)
	for at := i; ; at++ {
		var r sim.Runner
		drawn := source.Scenario(at)
		if i%5 == 4 { // with situations that only external clients meet
			drawn = source.External(at, 0)
		}
		trace := r.Trace(target, &drawn, failedAcquire)
		breaks := func(v scenario.Violation) bool { return v.Property.String() == target.Breaks }
		if target.Breaks == "" || at == i+40 || slices.ContainsFunc(trace.Violations, breaks) {
			return trace
		}
	}
}
