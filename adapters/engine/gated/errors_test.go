package gated_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/subprocess"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/internal/foreigntest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// complaining is the reference semaphore with a bug: clients report that an acquire failed although they hold the slot.
type complaining struct{ foreign.Starter }

func (s complaining) Start(ctx context.Context, number int) (foreign.Client, error) {
	c, err := s.Starter.Start(ctx, number)
	return &complainer{Client: c}, err
}

type complainer struct {
	foreign.Client
	said string
}

// breaking starts clients that break the protocol once broken is set.
type breaking struct {
	foreign.Starter
	broken *atomic.Bool
}

func (s breaking) Start(ctx context.Context, number int) (foreign.Client, error) {
	c, err := s.Starter.Start(ctx, number)
	return breaker{c, s.broken}, err
}

type breaker struct {
	foreign.Client
	broken *atomic.Bool
}

var errBroken = errors.New("no answer that anybody understands")

func (c breaker) Call(ctx context.Context, op lock.Op, p foreign.Params) (lock.Result, error) {
	if c.broken.Load() {
		return lock.Result{}, errBroken
	}
	return c.Client.Call(ctx, op, p)
}

// TestFoundBeforeError checks that a run which ends with an error still reports the violations found before.
func TestFoundBeforeError(t *testing.T) {
	t.Parallel()
	target := amqplock.References[0]
	c := gated.Config{
		Lock: gated.Lock{
			Starter: complaining{foreigntest.Machines{Target: target, Options: target.Settled(amqplock.DefaultOptions())}},
			Kind:    target.Kind,
		},
		Sampling: engine.Sampling{Seed: 1, Scenarios: 5},
	}
	var broken atomic.Bool
	c.Starter = breaking{c.Starter, &broken}
	c.Found = func(*histories.Counterexample) { broken.Store(true) }
	res, err := gated.Prove(t.Context(), c)
	if !errors.Is(err, errBroken) {
		t.Errorf("%v, expected %v", err, errBroken)
	}
	if res == nil || res.Report.Outcome() != report.OutcomeViolated {
		t.Errorf("%+v, expected what was found", res)
	}
}

const stderrText = "acquire: \x1b[31mno reply</script>\nin time"

func (c *complainer) Call(ctx context.Context, op lock.Op, p foreign.Params) (lock.Result, error) {
	c.said = ""
	r, err := c.Client.Call(ctx, op, p)
	if r.Held && op == lock.Acquire && strings.HasSuffix(p.Name, "jobs") {
		r, c.said = lock.Result{Outcome: lock.Failed}, stderrText
	}
	return r, err
}

func (c *complainer) Explanation() string { return c.said }

// TestErrorsAreShown checks that the error text of a failed operation appears in the report, in the diagram and in
// every file. Escape sequences and tags in the text must be harmless.
func TestErrorsAreShown(t *testing.T) {
	t.Parallel()
	target := amqplock.References[0]
	res := proveWith(t, gated.Config{
		Lock: gated.Lock{
			Starter: complaining{foreigntest.Machines{Target: target, Options: target.Settled(amqplock.DefaultOptions())}},
			Kind:    target.Kind,
		},
		Sampling: engine.Sampling{Seed: 1, Scenarios: 5},
	})
	const want = `c2 says of acquire: "acquire: \x1b[31mno reply</script>\nin time"`
	found := res.Report.Result(property.Progress).Violation
	if found == nil || len(found.Errors) != 1 || !strings.HasPrefix(found.Errors[0], want) {
		t.Fatalf("the violation tells %+v, expected %s", found, want)
	}
	var card, asJSON, junit, page bytes.Buffer
	for _, err := range []error{
		report.WriteCard(&card, res.Report, style.Style{Width: 200}), report.WriteJSON(&asJSON, res.Report),
		report.WriteJUnit(&junit, res.Report), res.WritePage(&page),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	written := ""
	for _, ce := range res.Counterexamples("") {
		data, err := ce.Encode()
		if err != nil {
			t.Fatal(err)
		}
		written += string(data)
	}
	for name, text := range map[string]string{
		"card": card.String(), "diagram": found.Diagram, "JSON": asJSON.String(), "JUnit": junit.String(), "page": page.String(), "file": written,
	} {
		if !strings.Contains(text, "[31mno") {
			t.Errorf("%s does not tell what the target said:\n%.3000s", name, text)
		}
		if strings.Contains(text, "\x1b") {
			t.Errorf("%s has the target's escape sequence", name)
		}
	}
	if strings.Contains(page.String(), "reply</script>") {
		t.Error("the page has the target's tag")
	}
}

// excusing is a lock whose clients never say that the lock is full: they report an error without effect instead.
type excusing struct{ foreign.Starter }

func (s excusing) Start(ctx context.Context, number int) (foreign.Client, error) {
	c, err := s.Starter.Start(ctx, number)
	return excuser{c}, err
}

type excuser struct{ foreign.Client }

func (c excuser) Call(ctx context.Context, op lock.Op, p foreign.Params) (lock.Result, error) {
	r, err := c.Client.Call(ctx, op, p)
	if op == lock.Acquire && r.Outcome == lock.Failed {
		r = lock.Result{Outcome: lock.Failed}
	}
	return r, err
}

// idle is a lock whose clients answer every acquire with an error without effect.
type idle struct{ foreign.Starter }

func (s idle) Start(ctx context.Context, number int) (foreign.Client, error) {
	c, err := s.Starter.Start(ctx, number)
	return idler{c}, err
}

type idler struct{ foreign.Client }

func (c idler) Call(ctx context.Context, op lock.Op, p foreign.Params) (lock.Result, error) {
	if op == lock.Acquire && strings.HasSuffix(p.Name, "jobs") {
		return lock.Result{Outcome: lock.Failed}, nil
	}
	return c.Client.Call(ctx, op, p)
}

// TestErrorIsNotFull checks acquires that fail without effect. Such a failure does not claim that the lock is full. In
// the audit, however, an acquire must be granted.
func TestErrorIsNotFull(t *testing.T) {
	t.Parallel()
	for _, target := range []*lock.Target{amqplock.References[0], amqplock.References[1]} {
		machines := foreigntest.Machines{Target: target, Options: target.Settled(amqplock.DefaultOptions())}
		c := gated.Config{Lock: gated.Lock{Starter: excusing{machines}, Kind: target.Kind}, Sampling: engine.Sampling{Seed: 1, Scenarios: 60}}
		for _, p := range proveWith(t, c).Report.Properties {
			if p.Violation != nil {
				t.Errorf("%s: %s is violated: %s\n%s", target.Name, p.Property, p.Violation.Detail, p.Violation.Diagram)
			}
		}
		c.Starter, c.Scenarios = idle{machines}, 5
		found := false
		for _, p := range proveWith(t, c).Report.Properties {
			found = found || p.Violation != nil
		}
		if !found {
			t.Errorf("%s that does nothing is accused of nothing", target.Name)
		}
	}
}

// TestSetupFails checks the error for a setup client that cannot be started. The client has no number, so the error
// must say what it is for.
func TestSetupFails(t *testing.T) {
	_, err := gated.Prove(t.Context(), gated.Config{Lock: gated.Lock{Starter: &subprocess.Starter{Command: "exit 3"}, Kind: lock.Mutex}, Sampling: engine.Sampling{Scenarios: 1}})
	if err == nil || !strings.Contains(err.Error(), "the client that sets up and audits: c0") || strings.Contains(err.Error(), "client 0") {
		t.Error(err)
	}
}
