package queue_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockproof/lockproof/internal/enginetest"

	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
	"github.com/lockproof/lockproof/cmd/lockproof/campaign/queue"
	"github.com/lockproof/lockproof/internal/natstest"
)

// TestCommandsAreAllowed checks when a worker runs a command from a queue. Its user must have named the campaign, and
// must have allowed the command by its text or hash.
func TestCommandsAreAllowed(t *testing.T) {
	server := campaign.Server{URL: natstest.Start(t, "").URL}
	ran := filepath.Join(t.TempDir(), "ran")
	command := "touch " + ran
	p := plan(t, `{"lockproof": "campaign", "version": 1, "name": "external", "target": {"exec": %q}, "sample": {}, "budget": {"executions": 1}, "lease": "1s"}`, command)
	refusal(t, server, p) // creates the campaign; running it fails because its command is no adapter
	hash := campaign.ExecHash(command)
	for _, c := range []struct {
		name, allow, says string
		runs              bool
	}{
		{"", "", "a worker runs one only of a campaign that is named to it", false},
		{"", command, "a worker runs one only of a campaign that is named to it", false},
		{"external", "", "none is allowed here: if you trust it, add --allow-exec " + hash, false},
		{"external", command + " x", "another command than --allow-exec has", false},
		{"external", command, "shard 0", true},
		{"external", hash, "shard 0", true},
	} {
		os.Remove(ran)
		err := queue.Work(t.Context(), campaign.WorkConfig{Server: server, Name: c.name, AllowExec: c.allow, Workers: 1})
		_, there := os.Stat(ran)
		if err == nil || (there == nil) != c.runs {
			t.Errorf("%+v: %v, the command ran: %v", c, err, there == nil)
			continue
		}
		expect(t, err.Error(), c.says)
	}
}

// TestDevicesHaveNoHash checks that a plan is refused if a file of its target is a device without an end.
func TestDevicesHaveNoHash(t *testing.T) {
	p := plan(t, `{"lockproof": "campaign", "version": 1, "name": "external", "target": {"exec": "cat", "files": ["/dev/zero"]}, "sample": {}}`)
	_, err := campaign.NewManifest(p)
	if err == nil {
		t.Fatal("it has a hash")
	}
	expect(t, err.Error(), `"/dev/zero" is a device; expected a regular file`)
}

// TestPlansOfQueuesAreChecked puts forged plans with impossible numbers into a queue. A worker must end with an error,
// and must not use up its memory.
func TestPlansOfQueuesAreChecked(t *testing.T) {
	server := campaign.Server{URL: natstest.Start(t, "").URL}
	if _, err := queue.Run(t.Context(), campaign.RunConfig{Plan: plan(t, sampling, "semaphore", 100, 50), Server: server, Workers: 1}); err != nil {
		t.Fatal(err)
	}
	kv := bucket(t, jetStream(t, server), "lockproof_night")
	for text, says := range map[string]string{
		`{"plan":{"lockproof":"campaign","version":1,"name":"night","configurations":[{"clients":1,"admins":2147483648}]}}`: "admins 2147483648",
		`{"plan":{"lockproof":"campaign","version":1,"name":"day","sample":{}}}`:                                            `says that it is called "day"`,
		`{}`:  "is of another version of lockproof",
		`[[[`: "is of another version of lockproof",
	} {
		forge(t, kv, "manifest", []byte(text))
		err := queue.Work(t.Context(), campaign.WorkConfig{Server: server, Name: "night", Workers: 1})
		if err == nil {
			t.Errorf("%s is taken", text)
			continue
		}
		expect(t, err.Error(), says)
	}
}

// bucket opens a campaign's bucket as a program that has write access to the queue.
func bucket(t *testing.T, js jetstream.JetStream, name string) jetstream.KeyValue {
	t.Helper()
	kv, err := js.KeyValue(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return kv
}

// forge stores a result under a key.
func forge(t *testing.T, kv jetstream.KeyValue, key string, data []byte) {
	t.Helper()
	if _, err := kv.Put(t.Context(), key, data); err != nil {
		t.Fatal(err)
	}
}

// result returns the stored result of a key, with some fields replaced.
func result(t *testing.T, kv jetstream.KeyValue, key string, changed map[string]any) []byte {
	t.Helper()
	entry, err := kv.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	answer := make(map[string]any)
	if err := json.Unmarshal(entry.Value(), &answer); err != nil {
		t.Fatal(err)
	}
	for name, value := range changed {
		answer[name] = value
	}
	data, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// resumed runs a campaign again. It checks that the report is want, and that the runner prints every text in says.
func resumed(t *testing.T, server campaign.Server, p *campaign.Plan, want string, says ...string) {
	t.Helper()
	var said []string
	refused := 0
	out, err := queue.Run(t.Context(), campaign.RunConfig{Plan: p, Server: server, Workers: 2, Options: campaign.Options{Said: func(s string) { said = append(said, s) }},
		Watch: func(s *campaign.Status) { refused = s.Refused }})
	if err != nil {
		t.Fatal(err)
	}
	if got := enginetest.Card(t, out.Result); got != want {
		t.Errorf("the campaign comes to\n%s\none machine to\n%s", got, want)
	}
	for _, s := range says {
		if !strings.Contains(strings.Join(said, "\n"), s) {
			t.Errorf("it is not said that %s:\n%s", s, strings.Join(said, "\n"))
		}
	}
	if refused < len(says) {
		t.Errorf("%d are refused, expected %d", refused, len(says))
	}
}

// TestForgedResults forges stored results: empty, garbled or short ones, results of another shard or plan, and
// impossible numbers. Each must be refused and reported, and its shard must be carried out again.
func TestForgedResults(t *testing.T) {
	many(t)
	server := campaign.Server{URL: natstest.Start(t, "").URL}
	p := plan(t, sampling, "locked-is-success", 800, 50)
	if _, err := queue.Run(t.Context(), campaign.RunConfig{Plan: p, Server: server, Workers: 2}); err != nil {
		t.Fatal(err)
	}
	kv := bucket(t, jetStream(t, server), "lockproof_night_results")
	part := func(n int, changed map[string]any) []byte {
		var answer struct{ Result map[string]any }
		key := fmt.Sprintf("%09d", n)
		if err := json.Unmarshal(result(t, kv, key, nil), &answer); err != nil {
			t.Fatal(err)
		}
		for name, value := range changed {
			answer.Result[name] = value
		}
		return result(t, kv, key, map[string]any{"result": answer.Result})
	}
	other := result(t, kv, "000000009", nil)
	forge(t, kv, "000000000", []byte("{}"))
	forge(t, kv, "000000001", []byte("garbage \x1b[31m"))
	forge(t, kv, "000000002", other)
	forge(t, kv, "000000003", result(t, kv, "000000003", map[string]any{"result": map[string]any{}}))
	forge(t, kv, "000000004", result(t, kv, "000000004", map[string]any{"of": "x"}))
	forge(t, kv, "000000005", part(5, map[string]any{"scenarios": 49}))
	forge(t, kv, "000000006", part(6, map[string]any{"checks": []int{1}}))
	forge(t, kv, "000000007", part(7, map[string]any{"steps": -1}))
	forge(t, kv, "000000008", result(t, kv, "000000008", map[string]any{"object": "none"}))
	forge(t, kv, "somebody", []byte("{}"))
	forge(t, kv, "999999999", []byte("{}"))
	resumed(t, server, p, single(t, "locked-is-success", 800),
		"result of shard 0 is refused", "result of shard 1 is refused", "result of shard 2 is refused, and the shard given out again: it says that it is of shard 9",
		"it is of 0 scenarios, expected 50", "it is of another plan, build or shard", "it is of 49 scenarios, expected 50", "result of shard 6 is refused",
		"steps: found -1", "result of shard 8 is refused", `the result "somebody" is no shard's`)
}

// TestForgedAgain forges the same result again and again. The campaign must still end.
func TestForgedAgain(t *testing.T) {
	many(t)
	server := campaign.Server{URL: natstest.Start(t, "").URL}
	p := plan(t, sampling, "semaphore", 200, 50)
	if _, err := queue.Run(t.Context(), campaign.RunConfig{Plan: p, Server: server, Workers: 1}); err != nil {
		t.Fatal(err)
	}
	kv := bucket(t, jetStream(t, server), "lockproof_night_results")
	forge(t, kv, "000000000", []byte("{}"))
	ctx, stop := context.WithCancel(t.Context())
	forged := make(chan struct{})
	go func() {
		defer close(forged)
		for ctx.Err() == nil {
			_, _ = kv.Put(ctx, "000000000", []byte("{}")) // fails if the server is busy
			time.Sleep(time.Millisecond)
		}
	}()
	resumed(t, server, p, single(t, "semaphore", 200), "result of shard 0 is refused again, and the shard carried out here")
	stop()
	<-forged
}

// TestFalseResults replaces results by valid ones of another target. The runner must notice this when it repeats a
// shard. Counts of the reference lock must not hide a mutant's bug, and violations of a mutant must not appear for the
// reference lock.
func TestFalseResults(t *testing.T) {
	many(t)
	for target, forged := range map[string]string{"locked-is-success": "semaphore", "semaphore": "locked-is-success"} {
		server, others := campaign.Server{URL: natstest.Start(t, "").URL}, campaign.Server{URL: natstest.Start(t, "").URL}
		p := plan(t, sampling, target, 400, 100)
		for _, c := range []campaign.RunConfig{{Plan: p, Server: server, Workers: 2}, {Plan: plan(t, sampling, forged, 400, 100), Server: others, Workers: 2}} {
			if _, err := queue.Run(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
		kv, from := bucket(t, jetStream(t, server), "lockproof_night_results"), bucket(t, jetStream(t, others), "lockproof_night_results")
		for n := range 4 {
			var answer struct{ Result any }
			key := fmt.Sprintf("%09d", n)
			if err := json.Unmarshal(result(t, from, key, nil), &answer); err != nil {
				t.Fatal(err)
			}
			forge(t, kv, key, result(t, kv, key, map[string]any{"result": answer.Result}))
		}
		says := "carried out again, it comes to something else"
		if target == "locked-is-success" { // false results remain in shards before the repeated one, which is random
			mutantIsRed(t, server, p, says)
			continue
		}
		resumed(t, server, p, single(t, target, 400), says)
	}
}

// mutantIsRed runs a mutant's campaign with forged results again. It checks that mutual exclusion is violated, and that
// the runner prints the text in says.
func mutantIsRed(t *testing.T, server campaign.Server, p *campaign.Plan, says string) {
	t.Helper()
	var said []string
	out, err := queue.Run(t.Context(), campaign.RunConfig{Plan: p, Server: server, Workers: 2, Options: campaign.Options{Said: func(s string) { said = append(said, s) }}})
	if err != nil {
		t.Fatal(err)
	}
	if card := enginetest.Card(t, out.Result); !strings.Contains(card, "✗ violated  mutual-exclusion") {
		t.Errorf("the mutant comes to\n%s", card)
	}
	if !strings.Contains(strings.Join(said, "\n"), says) {
		t.Errorf("it is not said that %s:\n%s", says, strings.Join(said, "\n"))
	}
}

// TestPoisonedWork puts invalid messages among the shards. Workers must drop them, and the campaign must continue.
func TestPoisonedWork(t *testing.T) {
	server := campaign.Server{URL: natstest.Start(t, "").URL}
	js := jetStream(t, server)
	poison := []string{
		"garbage \x1b]0;title\a", `{}`, `{"number":-1,"from":-20,"to":0}`, `{"number":5,"from":100,"to":9223372036854775807}`,
		`{"number":9223372036854775807,"from":0,"to":20}`, `{"number":5,"from":100,"to":120,"of":7}`, `[[[[[[`,
	}
	var said []string
	worked := make(chan error, 1)
	go func() {
		await(t, server, 0)
		take(t, js, 10) // takes all shards: they are delivered again after the invalid messages
		for _, text := range poison {
			if _, err := js.Publish(t.Context(), "lockproof.night.shards", []byte(text)); err != nil {
				t.Error(err)
			}
		}
		worked <- queue.Work(t.Context(), campaign.WorkConfig{Server: server, Workers: 1, Options: campaign.Options{Said: func(s string) { said = append(said, s) }}})
	}()
	out, err := queue.Run(t.Context(), campaign.RunConfig{Plan: plan(t, sampling, "semaphore", 200, 20), Server: server})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-worked; err != nil {
		t.Error(err)
	}
	if got, want := enginetest.Card(t, out.Result), single(t, "semaphore", 200); got != want {
		t.Errorf("the campaign comes to\n%s\none machine to\n%s", got, want)
	}
	all := strings.Join(said, "\n")
	if strings.Count(all, "a message among the shards is refused") != len(poison) || !strings.Contains(all, "shard -1 is of -20 to 0: there is none such") || strings.Contains(all, "\x1b") {
		t.Errorf("it is said\n%s", all)
	}
}

// take receives n shards and never acknowledges them.
func take(t *testing.T, js jetstream.JetStream, n int) {
	t.Helper()
	c, err := js.Consumer(t.Context(), "lockproof_night", "workers")
	if err != nil {
		t.Error(err)
		return
	}
	for range n {
		if _, err := c.Next(jetstream.FetchMaxWait(10 * time.Second)); err != nil {
			t.Error(err)
		}
	}
}

// TestLargePages checks that a page is refused if it is too large after decompression.
func TestLargePages(t *testing.T) {
	many(t)
	server := campaign.Server{URL: natstest.Start(t, "").URL}
	if _, err := queue.Run(t.Context(), campaign.RunConfig{Plan: plan(t, sampling, "semaphore", 100, 50), Server: server, Workers: 1}); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	to := gzip.NewWriter(&packed)
	for range 65 {
		if _, err := to.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	objects, err := jetStream(t, server).ObjectStore(t.Context(), "lockproof_night")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := objects.PutBytes(t.Context(), "page", packed.Bytes()); err != nil {
		t.Fatal(err)
	}
	w, err := queue.Watch(t.Context(), server, "night")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if page, err := w.Page(t.Context()); err == nil {
		t.Errorf("a page of %d bytes is taken", len(page))
	} else {
		expect(t, err.Error(), "larger than 64 MB")
	}
}
