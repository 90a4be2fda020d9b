//go:build unix

package queue_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sys/unix"

	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
	"github.com/lockproof/lockproof/cmd/lockproof/campaign/queue"
)

// TestLinkedFolders checks that a campaign refuses a folder that is a link, or that contains links, and writes nothing
// to the link's target.
func TestLinkedFolders(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"locked.campaign", "stored.campaign", "piped.campaign"} {
		if err := os.Mkdir(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"away.campaign": outside, "locked.campaign/lock": filepath.Join(outside, "lock"), "stored.campaign/jetstream": outside,
	} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo("piped.campaign/lock", 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"away", "locked", "stored", "piped"} {
		server := campaign.Server{Dir: name + ".campaign", Within: "."}
		_, err := queue.Run(t.Context(), campaign.RunConfig{Plan: plan(t, sampling, "semaphore", 20, 20), Server: server, Workers: 1})
		if err == nil || !strings.Contains(err.Error(), "link") {
			t.Errorf("%s: %v, expected that a link is refused", name, err)
		}
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("%v is outside; %v", left, err)
	}
	named := campaign.Server{Dir: filepath.Join(dir, "away.campaign")} // a typed path may be a link
	if _, err := queue.Run(t.Context(), campaign.RunConfig{Plan: plan(t, sampling, "semaphore", 20, 20), Server: named, Workers: 1}); err != nil {
		t.Error(err)
	}
}

// inFolder calls each with the bucket of results in a campaign's folder, for reading and changing them.
func inFolder(t *testing.T, dir string, each func(jetstream.KeyValue)) {
	t.Helper()
	s, err := server.NewServer(&server.Options{ServerName: "lockproof", DontListen: true, JetStream: true, StoreDir: dir, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer s.WaitForShutdown()
	defer s.Shutdown()
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not begin")
	}
	nc, err := nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	each(bucket(t, js, "lockproof_night_results"))
}

// TestForgedFolder checks a campaign's folder with forged results, as it may come with a cloned repository. The bug of
// a mutant must still be found.
func TestForgedFolder(t *testing.T) {
	many(t)
	dir, from := filepath.Join(t.TempDir(), "queue"), filepath.Join(t.TempDir(), "queue")
	p := plan(t, sampling, "locked-is-success", 400, 100)
	for dir, target := range map[string]string{dir: "locked-is-success", from: "semaphore"} {
		if _, err := queue.Run(t.Context(), campaign.RunConfig{Plan: plan(t, sampling, target, 400, 100), Server: campaign.Server{Dir: dir}, Workers: 2}); err != nil {
			t.Fatal(err)
		}
	}
	var results [4]any
	inFolder(t, from, func(kv jetstream.KeyValue) {
		for n := range results {
			var answer struct{ Result any }
			if err := json.Unmarshal(result(t, kv, fmt.Sprintf("%09d", n), nil), &answer); err != nil {
				t.Fatal(err)
			}
			results[n] = answer.Result
		}
	})
	inFolder(t, dir, func(kv jetstream.KeyValue) {
		for n, forged := range results {
			key := fmt.Sprintf("%09d", n)
			forge(t, kv, key, result(t, kv, key, map[string]any{"result": forged}))
		}
	})
	mutantIsRed(t, campaign.Server{Dir: dir}, p, "carried out again, it comes to something else")
}
