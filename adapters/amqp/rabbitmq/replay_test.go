package rabbitmq_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// Executions of the reference locks have the same results on a real RabbitMQ as on the simulated broker.
func TestReplayReferences(t *testing.T) {
	t.Parallel()
	b := sharedBroker(t)
	unconfirmed := [][2]string{{"existence", amqplock.ByPassive}, {"confirm", amqplock.NoConfirms}, {"claim", amqplock.ClaimUnseen}, {"verify", amqplock.VerifyBoth}}
	executions := 12
	if testing.Short() {
		executions = 3
	}
	for _, target := range amqplock.References {
		t.Run(target.Name, func(t *testing.T) {
			t.Parallel()
			agrees(t, b, target, executions)
		})
		t.Run(target.Name+", without confirms", func(t *testing.T) {
			t.Parallel()
			agrees(t, b, target, executions, unconfirmed...)
		})
	}
}

// agrees replays the given number of random executions of a lock on a real broker, and fails the test at a difference.
func agrees(t *testing.T, b *rabbitmq.Broker, target *lock.Target, executions int, options ...[2]string) {
	t.Helper()
	source := sim.NewSource(sim.Space{Target: target, Fixed: options}, 1)
	for i := range executions {
		tr := trace(target, withoutRestart(source.Scenario(i)))
		got, err := rabbitmq.Replay(t.Context(), b, target, tr, rabbitmq.ReplayOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !got.Agrees() {
			t.Errorf("scenario %d: %v", i, got)
		}
	}
}

// Restarting a real node has the results of a restart of the simulated broker.
func TestReplayRestart(t *testing.T) {
	b := rabbitmqtest.Private(t)
	target := amqplock.References[0]
	tr := trace(target, find(t, target, func(tr *scenario.Trace) bool { return actions(tr, scenario.Restart) == 1 }))
	got, err := rabbitmq.Replay(t.Context(), b, target, tr, rabbitmq.ReplayOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !got.Agrees() {
		t.Error(got)
	}
}

// Mutants violate their properties on a real broker as they do on the simulated one.
func TestReplayReproduces(t *testing.T) {
	t.Parallel()
	b := sharedBroker(t)
	for _, test := range []struct {
		name   string
		breaks property.Property
		target lock.Target
	}{
		{"release by closing the channel", property.EffectiveRelease, lock.Target{Fix: amqplock.Table.Fix(func(o *amqplock.Options) { o.Release = amqplock.CloseChannel })}},
		{"RESOURCE_LOCKED is success", property.MutualExclusion, lock.Target{Design: amqplock.Design{Variant: newLockedIsSuccess}}},
		{"one connection for all", property.MutualExclusion, lock.Target{Fix: amqplock.Table.Fix(func(o *amqplock.Options) { o.Connection = amqplock.SharedConnection })}},
		{"slots that expire", property.ContiguousSlots, expiring(20)},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tr := trace(&test.target, find(t, &test.target, func(tr *scenario.Trace) bool {
				return violated(tr, test.breaks) != nil && actions(tr, scenario.Restart) == 0
			}))
			got := replay(t, b, &test.target, tr)
			if !got.Agrees() || !got.Reproduces(*violated(tr, test.breaks)) {
				t.Error(got)
			}
			if want := test.breaks.String() + ": reproduced"; !strings.Contains(got.String(), want) {
				t.Errorf("%q does not say %q", got, want)
			}
		})
	}
}

func replay(t *testing.T, b *rabbitmq.Broker, target *lock.Target, tr *scenario.Trace) *rabbitmq.Replayed {
	t.Helper()
	got, err := rabbitmq.Replay(t.Context(), b, target, tr, rabbitmq.ReplayOptions{})
	if err != nil {
		t.Fatal(err)
	}
	notLate(t, got)
	return got
}

// notLate skips the test if the machine was too slow for the replay.
func notLate(t *testing.T, got *rabbitmq.Replayed) {
	t.Helper()
	if strings.Contains(got.Skipped, "late with a step") {
		t.Skip(got)
	}
}

// expiring is a semaphore whose queues expire after ms virtual milliseconds of disuse.
func expiring(ms uint32) lock.Target {
	return lock.Target{Fix: amqplock.Table.Fix(func(o *amqplock.Options) {
		o.Arguments.Has, o.Arguments.Expires = o.Arguments.Has|amqp.HasExpires, ms
	})}
}

// If the replay was late and something therefore expired too early, it is repeated with longer virtual milliseconds.
func TestReplayLate(t *testing.T) {
	t.Parallel()
	b := sharedBroker(t)
	target := expiring(20)
	tr := trace(&target, find(t, &target, func(tr *scenario.Trace) bool {
		const soon = 30 // latest virtual time of the last step, in ms; on the broker 20 to 500 times as long
		return violated(tr, property.ContiguousSlots) != nil && actions(tr, scenario.Restart) == 0 && tr.Steps[len(tr.Steps)-1].Time <= soon
	}))
	late := false
	got, err := rabbitmq.Replay(t.Context(), b, &target, tr, rabbitmq.ReplayOptions{Patience: 2 * time.Second, Progress: func(taken, _ int) {
		if taken == 1 && !late {
			late = true
			time.Sleep(time.Second) // more than 390 ms, after which the first slot expires
		}
	}})
	if err == nil {
		notLate(t, got)
	}
	if err != nil || !got.Agrees() || !late {
		t.Errorf("%v, %v", got, err)
	}
}

// A replay that is late at every scale is skipped, because it says nothing about the broker.
func TestReplayAlwaysLate(t *testing.T) {
	t.Parallel()
	b := sharedBroker(t)
	target := expiring(3)
	tr := trace(&target, find(t, &target, func(tr *scenario.Trace) bool {
		return violated(tr, property.ContiguousSlots) != nil && actions(tr, scenario.Restart) == 0
	}))
	got, err := rabbitmq.Replay(t.Context(), b, &target, tr, rabbitmq.ReplayOptions{Patience: time.Second, Progress: func(taken, _ int) {
		if taken == 1 {
			time.Sleep(2 * time.Second) // more than 1,250 ms, after which the first slot expires at scale 500
		}
	}})
	if err != nil || !strings.Contains(got.Skipped, "late with a step") || got.Reproduces(*violated(tr, property.ContiguousSlots)) {
		t.Errorf("%v, %v", got, err)
	}
}

// The broker may be late with an expiry, which no reply shows. A trace with expiries that disagrees is therefore
// repeated at the next scale.
func TestReplayDoubtful(t *testing.T) {
	t.Parallel()
	b := sharedBroker(t)
	target := expiring(20)
	returned := func(s scenario.TraceStep) bool { return amqp.SentIn(s.Payload).Reply.Returned > 0 }
	tr := trace(&target, find(t, &target, func(tr *scenario.Trace) bool {
		return actions(tr, scenario.Step) == len(tr.Steps) && slices.ContainsFunc(tr.Steps, returned)
	}))
	s := &tr.Steps[slices.IndexFunc(tr.Steps, returned)]
	sent := amqp.SentIn(s.Payload)
	sent.Reply = amqp.Reply{Kind: amqp.Ack}
	s.Payload = sent
	attempts := 0
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got, err := rabbitmq.Replay(ctx, b, &target, tr, rabbitmq.ReplayOptions{Patience: time.Minute, Progress: func(taken, _ int) {
		if taken > 0 {
			return
		}
		if attempts++; attempts == 2 { // two attempts are enough for this test
			cancel()
		}
	}})
	if attempts < 2 {
		t.Errorf("%d attempts, %v, %v", attempts, got, err)
	}
}

// A replay reports a reply or a queue that differs from the recorded one, and ends at that step.
func TestReplayDisagrees(t *testing.T) {
	t.Parallel()
	b := sharedBroker(t)
	target := amqplock.References[0]
	tr := trace(target, find(t, target, func(tr *scenario.Trace) bool {
		return len(tr.Steps) > 20 && actions(tr, scenario.Step) == len(tr.Steps)
	}))
	for _, test := range []struct {
		name   string
		tamper func(*scenario.TraceStep)
		want   string
	}{
		{"reply", func(s *scenario.TraceStep) {
			sent := amqp.SentIn(s.Payload)
			sent.Reply = amqp.Reply{Kind: amqp.GetEmpty}
			s.Payload = sent
		}, "reply: expected get-empty, got "},
		{"truth", func(s *scenario.TraceStep) { s.Truth[0].Exists = 0 }, "queue jobs-1-A: expected that it does not exist, got that it exists"},
	} {
		t.Run(test.name, func(t *testing.T) {
			bad := *tr
			bad.Steps = slices.Clone(tr.Steps)
			test.tamper(&bad.Steps[10])
			bad.Violations = []scenario.Violation{{Step: 9}, {Step: 10}}
			got, err := rabbitmq.Replay(t.Context(), b, target, &bad, rabbitmq.ReplayOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got.Agreed != 10 || got.Disagreement == nil || got.Disagreement.Step != 10 {
				t.Errorf("after %d steps: %v", got.Agreed, got)
			}
			if !got.Reproduces(bad.Violations[0]) || got.Reproduces(bad.Violations[1]) {
				t.Errorf("does not end at the disagreement: %v", got)
			}
			if !strings.Contains(got.String(), "disagrees at step 11") || !strings.Contains(got.String(), test.want) {
				t.Errorf("%q does not say %q", got, test.want)
			}
		})
	}
}

// A replay that is interrupted deletes its queues.
func TestReplayInterrupted(t *testing.T) {
	b := sharedBroker(t)
	target := amqplock.References[0]
	tr := trace(target, find(t, target, func(tr *scenario.Trace) bool {
		return len(tr.Steps) > 20 && tr.Steps[15].Truth[0].Taken != 0 && actions(tr, scenario.Restart) == 0
	}))
	ctx, cancel := context.WithCancel(t.Context())
	got, err := rabbitmq.Replay(ctx, b, target, tr, rabbitmq.ReplayOptions{
		Prefix: "interrupted.",
		Progress: func(taken, _ int) {
			if taken == 16 {
				cancel()
			}
		},
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, error %v", got, err)
	}
	names := amqp.SentIn(tr.Setup[0].Payload).Names
	for q := range names.Len() {
		if name := "interrupted." + names.Name(amqp.Queue(q+1)); exists(t, b, name) {
			t.Errorf("queue %s is left behind", name)
		}
	}
}

// A trace with a restart is skipped on a broker that lockproof has not started.
func TestReplaySkipped(t *testing.T) {
	b := sharedBroker(t)
	target := amqplock.References[0]
	tr := trace(target, find(t, target, func(tr *scenario.Trace) bool { return actions(tr, scenario.Restart) > 0 }))
	got, err := rabbitmq.Replay(t.Context(), b, target, tr, rabbitmq.ReplayOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Agrees() || !strings.Contains(got.String(), "not replayed") {
		t.Error(got)
	}
}

// sharedBroker is a broker that cannot be restarted, because lockproof has not started it.
func sharedBroker(t *testing.T) *rabbitmq.Broker {
	t.Helper()
	b, err := rabbitmq.Start(t.Context(), rabbitmq.Options{URL: rabbitmqtest.URL(t)})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func trace(target *lock.Target, s scenario.Scenario) *scenario.Trace {
	return new(sim.Runner).Trace(target, &s, property.Weak)
}

// find draws scenarios until it has a few whose traces are wanted, and returns the one with the shortest trace.
func find(t *testing.T, target *lock.Target, wanted func(*scenario.Trace) bool) (best scenario.Scenario) {
	t.Helper()
	const enough, limit = 5, 2000
	source := sim.NewSource(sim.Space{Target: target}, 1)
	found, least := 0, scenario.MaxSteps
	for i := 0; i < limit && found < enough; i++ {
		s := source.Scenario(i)
		if tr := trace(target, s); wanted(tr) {
			found++
			if len(tr.Steps) < least {
				best, least = s, len(tr.Steps)
			}
		}
	}
	if found == 0 {
		t.Fatalf("none of %d scenarios is as wanted", limit)
	}
	return best
}

func withoutRestart(s scenario.Scenario) scenario.Scenario {
	s.Faults = slices.DeleteFunc(s.Faults, func(f scenario.Fault) bool { return f.Do == scenario.Restart })
	return s
}

func actions(tr *scenario.Trace, do scenario.ActionKind) (n int) {
	for _, s := range tr.Steps {
		if s.Action.Kind == do {
			n++
		}
	}
	return n
}

func violated(tr *scenario.Trace, p property.Property) *scenario.Violation {
	for i := range tr.Violations {
		if tr.Violations[i].Property == p {
			return &tr.Violations[i]
		}
	}
	return nil
}

// lockedIsSuccess is a mutant that takes the error RESOURCE_LOCKED for success.
type lockedIsSuccess struct{ *amqplock.Protocol }

func newLockedIsSuccess(p *amqplock.Protocol) amqplock.Implementation { return lockedIsSuccess{p} }

func (v lockedIsSuccess) Apply(m *amqplock.Machine, r amqp.Reply) {
	v.Protocol.Apply(m, r)
	if m.Then == amqplock.Claiming && m.Decided {
		m.Seen = ^uint32(0)
	}
}

// exists reports whether the broker has the given queue.
func exists(t *testing.T, b *rabbitmq.Broker, queue string) bool {
	t.Helper()
	names := new(amqp.Names)
	conn, err := rabbitmq.Dial(t.Context(), b.URL, names)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	replies := conn.Do([]amqp.Command{
		{Method: amqp.ChannelOpen, Channel: 1},
		{Method: amqp.QueueDeclare, Channel: 1, Queue: names.Intern(queue), Flags: amqp.Passive},
	})
	return replies[1].Code != amqp.NotFound
}
