package queue_test

import (
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
	"github.com/lockproof/lockproof/cmd/lockproof/campaign/queue"
	"github.com/lockproof/lockproof/internal/natstest"
)

// jetStream connects to a server as a program that has write access to the queue.
func jetStream(t *testing.T, server campaign.Server) jetstream.JetStream {
	t.Helper()
	nc, err := nats.Connect(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// stored returns all data on a server as one text.
func stored(t *testing.T, js jetstream.JetStream) string {
	t.Helper()
	var b strings.Builder
	list := js.ListStreams(t.Context())
	for info := range list.Info() {
		s, err := js.Stream(t.Context(), info.Config.Name)
		if err != nil {
			t.Fatal(err)
		}
		for n := info.State.FirstSeq; n <= info.State.LastSeq; n++ {
			if m, err := s.GetMsg(t.Context(), n); err == nil {
				b.WriteString(m.Subject + " " + string(m.Data) + "\n")
			}
		}
	}
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestNoPasswordsInTheQueue checks that the queue has a campaign's command without its passwords. A worker runs the
// command that its user gave, with that password. A plan is refused if workers would have to read a password from the
// queue.
func TestNoPasswordsInTheQueue(t *testing.T) {
	server := campaign.Server{URL: natstest.Start(t, "").URL}
	const text = `{"lockproof": "campaign", "version": 1, "name": "external", "target": {"exec": %q}, "sample": {}, "budget": {"executions": 1}, "lease": "1s"}`
	command := func(password string) string {
		return "cat none amqp://user:" + password + "@host --password " + password
	}
	p := plan(t, text, command("marked"))
	refusal(t, server, p) // creates the campaign; running it fails because its command is no adapter
	if all := stored(t, jetStream(t, server)); strings.Contains(all, "marked") || !strings.Contains(all, "amqp://user:***@host") {
		t.Errorf("the queue has\n%s", all)
	}
	work := func(allow string) string {
		return queue.Work(t.Context(), campaign.WorkConfig{Server: server, Name: "external", AllowExec: allow, Workers: 1}).Error()
	}
	expect(t, work(campaign.ExecHash(command("marked"))), "give --allow-exec the command itself")
	expect(t, work(command("own-marked")), "shard 0")
	if all := stored(t, jetStream(t, server)); strings.Contains(all, "marked") {
		t.Errorf("after a worker has failed, the queue has\n%s", all)
	}
	p = plan(t, `{"lockproof": "campaign", "version": 1, "name": "options", "target": {"exec": "cat", "options": {"url": "amqp://u:marked@h"}}, "sample": {}}`)
	expect(t, refusal(t, server, p), "options: url has a password, which the queue would keep")
}
