package queue_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
	"github.com/lockproof/lockproof/cmd/lockproof/campaign/queue"
	"github.com/lockproof/lockproof/internal/enginetest"
	"github.com/lockproof/lockproof/internal/natstest"
)

// refusal runs a campaign that must fail, and returns the text of the error.
func refusal(t *testing.T, server campaign.Server, p *campaign.Plan) string {
	t.Helper()
	_, err := queue.Run(t.Context(), campaign.RunConfig{Plan: p, Server: server, Workers: 2})
	if err == nil {
		t.Fatal("expected it to be refused")
	}
	return err.Error()
}

func expect(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) || strings.Contains(got, "\n") {
			t.Errorf("%q: expected one line that says %q", got, w)
		}
	}
}

// TestNoServer checks the errors for a server that does not answer, has no JetStream, or refuses the credentials.
func TestNoServer(t *testing.T) {
	p := plan(t, sampling, "semaphore", 200, 20)
	expect(t, refusal(t, campaign.Server{URL: "nats://user:secret@127.0.0.1:1"}, p), "127.0.0.1:1: no server answers")
	if said := refusal(t, campaign.Server{URL: "nats://user:secret@127.0.0.1:1"}, p); strings.Contains(said, "secret") {
		t.Errorf("%q tells the password", said)
	}
	expect(t, refusal(t, campaign.Server{URL: natstest.Start(t, "debug: false").URL}, p), "has no JetStream")
	guarded := natstest.Start(t, `authorization: {user: alice, password: secret}`)
	expect(t, refusal(t, campaign.Server{URL: guarded.URL}, p), "refuses the credentials")
	expect(t, refusal(t, campaign.Server{URL: strings.Replace(guarded.URL, "//", "//alice:wrong@", 1)}, p), "refuses the credentials")
	expect(t, refusal(t, campaign.Server{URL: guarded.URL, Creds: filepath.Join(t.TempDir(), "none")}, p), "credentials: ", "no such file")
}

// TestFullServer checks that a full server is reported in one line. When there is more room, the campaign must continue
// and give the report of a single machine.
func TestFullServer(t *testing.T) {
	store := t.TempDir()
	with := func(room string) *natstest.Server {
		return natstest.Start(t, fmt.Sprintf("jetstream: {store_dir: %q, max_file_store: %s}", store, room))
	}
	p := plan(t, sampling, "semaphore", 1000, 20)
	little := with("40K")
	expect(t, refusal(t, campaign.Server{URL: little.URL}, p), "the server has no room")
	little.Kill()
	out, err := queue.Run(t.Context(), campaign.RunConfig{Plan: p, Server: campaign.Server{URL: with("64M").URL}, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := enginetest.Card(t, out.Result), single(t, "semaphore", 1000); got != want {
		t.Errorf("the campaign comes to\n%s\none machine to\n%s", got, want)
	}
}

// TestAnotherCampaign checks that a campaign with another plan, and data of other programs, is not touched.
func TestAnotherCampaign(t *testing.T) {
	server := campaign.Server{URL: natstest.Start(t, "").URL}
	p := plan(t, sampling, "semaphore", 200, 20)
	if _, err := queue.Run(t.Context(), campaign.RunConfig{Plan: p, Server: server, Workers: 1}); err != nil {
		t.Fatal(err)
	}
	expect(t, refusal(t, server, plan(t, sampling, "semaphore", 300, 20)), "another campaign night: it has another plan")
	err := queue.Work(t.Context(), campaign.WorkConfig{Server: server, Name: "day", Workers: 1})
	expect(t, err.Error(), "there is no campaign day")

	nc, err := nats.Connect(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "lockproof_stops", Subjects: []string{"somebody"}}); err != nil {
		t.Fatal(err)
	}
	stops := plan(t, `{"lockproof": "campaign", "version": 1, "name": "stops", "sample": {}}`)
	expect(t, refusal(t, server, stops), "the stream lockproof_stops is not lockproof's")
}

// TestAnotherBuild checks that another build or version of lockproof is refused, both as a runner and as a worker.
func TestAnotherBuild(t *testing.T) {
	server := campaign.Server{URL: natstest.Start(t, "").URL}
	p := plan(t, sampling, "semaphore", 200, 20)
	if _, err := queue.Run(t.Context(), campaign.RunConfig{Plan: p, Server: server, Workers: 1}); err != nil {
		t.Fatal(err)
	}
	nc, err := nats.Connect(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.KeyValue(t.Context(), "lockproof_night")
	if err != nil {
		t.Fatal(err)
	}
	for old, says := range map[string]string{`"build":"`: "another build of lockproof", `"tool":"`: "lockproof x0.1.0 has begun it"} {
		entry, err := kv.Get(t.Context(), "manifest")
		if err != nil {
			t.Fatal(err)
		}
		other := strings.Replace(string(entry.Value()), old, old+"x", 1)
		if _, err := kv.PutString(t.Context(), "manifest", other); err != nil {
			t.Fatal(err)
		}
		expect(t, refusal(t, server, p), says)
		expect(t, queue.Work(context.Background(), campaign.WorkConfig{Server: server, Workers: 1}).Error(), says)
		if _, err := kv.Put(t.Context(), "manifest", entry.Value()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDelete checks that deleting a campaign deletes all its data on a server.
func TestDelete(t *testing.T) {
	server := campaign.Server{URL: natstest.Start(t, "").URL}
	for _, scenarios := range []int{200, 300} { // after deletion, another campaign may use the name
		if _, err := queue.Run(t.Context(), campaign.RunConfig{Plan: plan(t, sampling, "semaphore", scenarios, 50), Server: server, Workers: 1}); err != nil {
			t.Fatal(err)
		}
		if err := queue.Delete(t.Context(), server, "night"); err != nil {
			t.Fatal(err)
		}
	}
	expect(t, queue.Delete(t.Context(), server, "night").Error(), "there is no campaign night")
	expect(t, queue.Delete(t.Context(), server, "*").Error(), `name "*"`)
}

// TestTwice checks that two processes cannot run a campaign in the same folder at once.
func TestTwice(t *testing.T) {
	server := campaign.Server{Dir: filepath.Join(t.TempDir(), "queue")}
	p := plan(t, sampling, "semaphore", 2000, 20)
	said := ""
	_, err := queue.Run(t.Context(), campaign.RunConfig{Plan: p, Server: server, Workers: 1, Watch: func(*campaign.Status) {
		said = refusal(t, server, p)
	}})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, said, "is in use: the campaign is running already")
}
