package record_test

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/record"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
)

var errTaken = errors.New("taken")

// local is a mutex that works within one program only.
type local struct{ mu *sync.Mutex }

func (l local) Lock(context.Context) error {
	if !l.mu.TryLock() {
		return errTaken
	}
	return nil
}

func (l local) Unlock(context.Context) error {
	l.mu.Unlock()
	return nil
}

// TestRecorder: the recorded calls of concurrent clients are a well-formed history, and it is linearizable.
func TestRecorder(t *testing.T) {
	var out bytes.Buffer
	r, err := record.New(&out, "mail", "jobs")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			m := r.Client("a session").Wrap("jobs", local{&mu}, func(err error) bool { return errors.Is(err, errTaken) })
			for range 50 {
				if m.Lock(t.Context()) == nil {
					_ = m.Unlock(t.Context())
				}
			}
		})
	}
	all.Wait()
	end := r.Client("").Begin(record.Verify, "mail")
	end(record.Answer{Known: true, Done: true, Held: false})
	r.Client("").Begin(record.Acquire, "mail")(record.Answer{})
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	if h := read(t, out.String()); len(h.Events) < 400 || h.Events[len(h.Events)-1].Type != history.Info || linear.Check(h, linear.Options{}).Decision != linear.Legal {
		t.Errorf("%d events, %+v", len(h.Events), linear.Check(h, linear.Options{}))
	}
}

// TestPython: the recorder for Python writes the same format.
func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("skipped: there is no python3")
	}
	cmd := exec.Command(python, "-c", `import sys
from lockproof_record import Recorder
client = Recorder(sys.stdout, ["jobs"]).client("s")
with client.call("acquire", "jobs") as call: call.ok(token=7)
with client.call("verify", "jobs") as call: call.ok(held=True)
with client.call("release", "jobs") as call: call.ok()
with client.call("acquire", "jobs") as call: call.fail()
try:
    with client.call("acquire", "jobs"): raise KeyError()
except KeyError: pass
`)
	cmd.Env = append(cmd.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	h := read(t, string(out))
	if len(h.Events) != 10 || h.Events[1].Token != 7 || !h.Events[3].Held || h.Events[7].Type != history.Fail || h.Events[9].Type != history.Info {
		t.Errorf("%+v", h.Events)
	}
}

// TestNode: the recorder for Node writes the same format.
func TestNode(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("skipped: there is no node")
	}
	out, err := exec.Command(node, "-e", `
const { Recorder } = require('./lockproof_record.js');
const client = new Recorder(1, ['jobs']).client('s');
(async () => {
  await client.call('acquire', 'jobs', async (call) => call.ok({ token: 7 }));
  await client.call('verify', 'jobs', (call) => call.ok({ held: true }));
  await client.call('release', 'jobs', (call) => call.ok());
  await client.call('acquire', 'jobs', (call) => call.fail());
  await client.call('acquire', 'jobs', () => { throw new Error('no'); }).catch(() => {});
})();
`).Output()
	if err != nil {
		t.Fatal(err)
	}
	h := read(t, string(out))
	if len(h.Events) != 10 || h.Events[1].Token != 7 || !h.Events[3].Held || h.Events[7].Type != history.Fail || h.Events[9].Type != history.Info {
		t.Errorf("%+v", h.Events)
	}
}

func read(t *testing.T, text string) *history.History {
	t.Helper()
	h, notes, err := histories.ReadHistory(strings.NewReader(text), "recorded", histories.Unnamed)
	if err != nil || notes.Backwards > 0 || notes.Timeless > 0 {
		t.Fatalf("%v, %+v", err, notes)
	}
	return h
}
