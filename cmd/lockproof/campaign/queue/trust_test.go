package queue_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
	"github.com/lockproof/lockproof/cmd/lockproof/campaign/queue"
	"github.com/lockproof/lockproof/cmd/lockproof/campaign/queue/natstest"
)

// TestCommandsAreAllowed: a worker runs no command that it has found in a queue, unless the campaign was named to it and
// the command allowed, by its text or by its hash.
func TestCommandsAreAllowed(t *testing.T) {
	server := campaign.Server{URL: natstest.Start(t, "").URL}
	ran := filepath.Join(t.TempDir(), "ran")
	command := "touch " + ran
	p := plan(t, `{"lockproof": "campaign", "version": 1, "name": "external", "target": {"exec": %q}, "sample": {}, "budget": {"executions": 1}, "lease": "1s"}`, command)
	refusal(t, server, p) // the campaign is there: its command is no adapter
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

// TestDevicesHaveNoHash: a plan whose file has no end occupies no worker.
func TestDevicesHaveNoHash(t *testing.T) {
	p := plan(t, `{"lockproof": "campaign", "version": 1, "name": "external", "target": {"exec": "cat", "files": ["/dev/zero"]}, "sample": {}}`)
	_, err := campaign.NewManifest(p)
	if err == nil {
		t.Fatal("it has a hash")
	}
	expect(t, err.Error(), `"/dev/zero" is a device; expected a regular file`)
}
