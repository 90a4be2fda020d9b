package lockproof_test

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockproof/lockproof"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
	amqplocks "github.com/lockproof/lockproof/testdata/targets/golang"
	"github.com/lockproof/lockproof/testdata/targets/golang/mutexes"
)

// example is a semaphore written in Go, with the given bug.
func example(bug amqplocks.Bug) lockproof.Target {
	return lockproof.Go("example", func(ctx context.Context, url string) (lockproof.Lock, error) {
		return amqplocks.NewWith(ctx, url, bug)
	})
}

// TestStress: the reference and a lock written in Go run on a real server. The history is judged, and written in a form
// that Check reads.
func TestStress(t *testing.T) {
	url := rabbitmqtest.URL(t)
	for name, target := range map[string]lockproof.Target{"reference": {}, "Go": example(amqplocks.NoBug)} {
		t.Run(name, func(t *testing.T) {
			var history bytes.Buffer
			last := 0
			res, err := lockproof.Stress(t.Context(), target, lockproof.Load{Options: lockproof.Options{Server: url, Progress: func(done, of int) { last = of }}, Rounds: 3, CrashShare: lockproof.None, History: &history})
			if err != nil || res.Err() != nil {
				t.Fatalf("%v, %+v", err, res)
			}
			if res.Executions != 3 || last != 3 {
				t.Errorf("%d rounds of %d", res.Executions, last)
			}
			j := res.Judgement(lockproof.Linearizable)
			// A call of the Go client that returns an error has no known outcome, so that the property may be skipped.
			if open := name == "Go" && j.Verdict == lockproof.Skipped; j.Verdict != lockproof.Passed && !open {
				t.Errorf("linearizable is %s: %s", j.Verdict, j.Reason)
			}
			again, err := lockproof.Check(&history, lockproof.Options{})
			if err != nil || again.Err() != nil || again.Operations != res.Operations {
				t.Errorf("the history that was written: %v, %d operations of %d", err, again.Operations, res.Operations)
			}
		})
	}
}

// TestServer: a violation is found on the simulated broker or on a real one. Its counterexample replays on a real one.
func TestServer(t *testing.T) {
	url := rabbitmqtest.URL(t)
	wanted := []lockproof.Property{lockproof.MutualExclusion}
	for name, c := range map[string]struct {
		target lockproof.Target
		server string
	}{
		"mutant": {lockproof.Mutant("locked-is-success"), ""}, "Go": {example(amqplocks.LockedIsSuccess), url},
	} {
		t.Run(name, func(t *testing.T) {
			res, err := lockproof.Prove(t.Context(), c.target, lockproof.Sample{Options: lockproof.Options{Server: c.server, Properties: wanted, First: true}, Executions: 400})
			if err != nil {
				t.Fatal(err)
			}
			found := res.Judgement(lockproof.MutualExclusion).Counterexample
			if found == nil {
				t.Fatalf("not violated in %d executions", res.Executions)
			}
			again, err := lockproof.Replay(t.Context(), found, lockproof.Options{Server: url})
			if err != nil {
				t.Fatal(err)
			}
			if v := again.Judgement(lockproof.MutualExclusion); v.Verdict != lockproof.Violated || !strings.Contains(again.Server, "RabbitMQ") {
				t.Errorf("%s on %s", v.Verdict, again.Server)
			}
		})
	}
}

// TestExternal: Explore finds a bug of an external lock. Its counterexample is saved to a file and loaded again, and
// replays only after its Target is set.
func TestExternal(t *testing.T) {
	target := example(amqplocks.LockedIsSuccess)
	o := lockproof.Options{Properties: []lockproof.Property{lockproof.MutualExclusion}, First: true}
	res, err := lockproof.Explore(t.Context(), target, lockproof.Bounds{Options: o, Calls: "acquire"})
	if err != nil {
		t.Fatal(err)
	}
	found := res.Judgement(lockproof.MutualExclusion).Counterexample
	if found == nil || found.Diagram == "" || found.Steps == 0 {
		t.Fatalf("got %+v", found)
	}
	c := savedAndLoaded(t, found)
	if _, err := lockproof.Replay(t.Context(), c, lockproof.Options{}); err == nil {
		t.Error("it is replayed though nobody has said by what")
	}
	c.Target = target
	again, err := lockproof.Replay(t.Context(), c, lockproof.Options{})
	if err != nil || again.Judgement(lockproof.MutualExclusion).Verdict != lockproof.Violated {
		t.Errorf("replayed: %+v, %v", again, err)
	}
	var page bytes.Buffer
	if err := again.Write(&page, "html"); err != nil || !strings.Contains(page.String(), "<svg") {
		t.Errorf("the page of the replay: %v, %d bytes", err, page.Len())
	}
}

// TestMutexInGo: a lock written in Go whose clients have no Create, Destroy and Count is judged as a mutex.
func TestMutexInGo(t *testing.T) {
	target := lockproof.Go("plain", func(ctx context.Context, url string) (lockproof.Lock, error) {
		c, err := amqplocks.New(ctx, url)
		return plain{c}, err
	})
	_, err := lockproof.Prove(t.Context(), target.As(lockproof.Semaphore), lockproof.Sample{Executions: 1})
	if err == nil || !strings.Contains(err.Error(), "Administrator") {
		t.Errorf("as a semaphore: %v", err)
	}
	var said strings.Builder
	res, err := lockproof.Prove(t.Context(), target, lockproof.Sample{Options: lockproof.Options{Log: &said}, Executions: 1})
	if err != nil || res.Judgement(lockproof.ExactCount).Reason != "not asked for" || !strings.Contains(said.String(), "plain is taken for a mutex") {
		t.Errorf("got %+v, %v; said %q", res, err, said.String())
	}
}

// uncounted has the method Count removed, so that it is no Administrator.
type uncounted struct {
	plain
	slots map[string]int
}

func (u uncounted) Create(_ context.Context, name string, slots int) error {
	u.slots[name] = slots
	return nil
}

func (u uncounted) Destroy(_ context.Context, name string) error {
	delete(u.slots, name)
	return nil
}

// TestHalfAdministrator: a lock with Create and Destroy, but without Count, is refused. It is judged as a mutex only
// after As(Mutex).
func TestHalfAdministrator(t *testing.T) {
	target := lockproof.Go("half", func(ctx context.Context, url string) (lockproof.Lock, error) {
		c, err := amqplocks.New(ctx, url)
		return uncounted{plain{c}, make(map[string]int)}, err
	})
	for _, target := range []lockproof.Target{target, target.As(lockproof.Semaphore)} {
		if _, err := lockproof.Prove(t.Context(), target, lockproof.Sample{Executions: 1}); err == nil || !strings.Contains(err.Error(), "has Create, Destroy, and is no Administrator: expected Create, Destroy and Count") {
			t.Errorf("got %v", err)
		}
	}
	if _, err := lockproof.Prove(t.Context(), target.As(lockproof.Mutex), lockproof.Sample{Executions: 1}); err != nil {
		t.Error(err)
	}
}

// TestMutexInGoReplays: a lock without a stated type is judged as a mutex. Its counterexample's file records this type,
// and replays.
func TestMutexInGoReplays(t *testing.T) {
	target := lockproof.Go("mutex", func(ctx context.Context, url string) (lockproof.Lock, error) {
		return mutexes.New(ctx, url, mutexes.Queue{LockedIsSuccess: true})
	})
	res, err := lockproof.Prove(t.Context(), target, lockproof.Sample{Options: lockproof.Options{Properties: []lockproof.Property{lockproof.MutualExclusion}, First: true}})
	if err != nil {
		t.Fatal(err)
	}
	c := savedAndLoaded(t, res.Judgement(lockproof.MutualExclusion).Counterexample)
	c.Target = target
	again, err := lockproof.Replay(t.Context(), c, lockproof.Options{})
	if err != nil || again.Judgement(lockproof.MutualExclusion).Verdict != lockproof.Violated {
		t.Errorf("replayed: %+v, %v", again, err)
	}
}

// savedAndLoaded saves a counterexample to a file, and returns what LoadCounterexample reads from it.
func savedAndLoaded(t *testing.T, found *lockproof.Counterexample) *lockproof.Counterexample {
	t.Helper()
	file := filepath.Join(t.TempDir(), "found.json")
	if found == nil {
		t.Fatal("nothing was found")
	}
	if err := found.Save(file); err != nil {
		t.Fatal(err)
	}
	c, err := lockproof.LoadCounterexample(file)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// plain is a lock without the methods of an Administrator.
type plain struct{ lockproof.Lock }
