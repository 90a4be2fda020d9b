package queue_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
	"github.com/lockproof/lockproof/cmd/lockproof/campaign/queue"
	"github.com/lockproof/lockproof/internal/enginetest"
	"github.com/lockproof/lockproof/internal/natstest"
)

// asProcess is the environment variable that makes this test binary a process of a campaign: work or run.
const asProcess = "LOCKPROOF_TEST_CAMPAIGN"

// The arguments of such a process.
const (
	processQueue = "LOCKPROOF_TEST_QUEUE"
	processDir   = "LOCKPROOF_TEST_DIR"
	processPlan  = "LOCKPROOF_TEST_PLAN"
)

func TestMain(m *testing.M) {
	flag.Parse()
	var err error
	server := campaign.Server{URL: os.Getenv(processQueue), Dir: os.Getenv(processDir)}
	switch os.Getenv(asProcess) {
	case "work":
		err = queue.Work(context.Background(), campaign.WorkConfig{Server: server, Workers: 1})
	case "run":
		var p *campaign.Plan
		if p, err = campaign.Decode([]byte(os.Getenv(processPlan))); err == nil {
			c := campaign.RunConfig{Plan: p, Server: server}
			if server.URL == "" {
				c.Workers = 8
			}
			_, err = queue.Run(context.Background(), c)
		}
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// process starts this test binary as a process of a campaign. It is killed at the end of the test.
func process(t *testing.T, as string, server campaign.Server, plan string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asProcess+"="+as, processQueue+"="+server.URL, processDir+"="+server.Dir, processPlan+"="+plan)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kill(cmd) })
	return cmd
}

// kill kills a process, which has no time to tidy up.
func kill(cmd *exec.Cmd) {
	cmd.Process.Kill()
	cmd.Wait() // it was killed, or had ended
}

// crowd is eight workers in processes of their own.
type crowd struct {
	t       *testing.T
	server  campaign.Server
	workers []*exec.Cmd
	killed  int
}

func gather(t *testing.T, server campaign.Server) *crowd {
	c := &crowd{t: t, server: server}
	for range 8 {
		c.workers = append(c.workers, process(t, "work", server, ""))
	}
	return c
}

// killOne kills one of the workers, at random, and has another one come for it.
func (c *crowd) killOne() {
	i := rand.IntN(len(c.workers))
	kill(c.workers[i])
	c.workers[i] = process(c.t, "work", c.server, "")
	c.killed++
}

// shards is how many shards a test that kills has: a thousand, unless it is to be short.
func shards() int {
	if testing.Short() {
		return 40
	}
	return 1000
}

// TestWorkersAreKilled: half of eight workers are killed at random moments, and the server is killed in between. The
// campaign has the report of one machine: no shard is lost, none counts twice.
func TestWorkersAreKilled(t *testing.T) {
	real := natstest.Start(t, "")
	server := campaign.Server{URL: real.URL}
	n := shards()
	text := fmt.Sprintf(sampling, "locked-is-success", 20*n, 20)
	ended := make(chan error, 1)
	var got string
	go func() {
		out, err := queue.Run(t.Context(), campaign.RunConfig{Plan: plan(t, "%s", text), Server: server})
		if err == nil {
			got = enginetest.Card(t, out.Result)
		}
		ended <- err
	}()
	await(t, server, 0)
	crowd := gather(t, server)
	restart := 1 + rand.IntN(3)
	for kills := 1; kills <= 4; kills++ {
		await(t, server, rand.IntN(n/8)+(kills-1)*n/8)
		if kills == restart {
			real.Kill()
			real.Resume()
		}
		crowd.killOne()
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if want := single(t, "locked-is-success", 20*n); got != want {
		t.Fatalf("the campaign comes to\n%s\none machine to\n%s", got, want)
	}
	if s := await(t, server, n); s.Done != n {
		t.Errorf("%d results are stored of %d shards", s.Done, n)
	}
}

// await waits until a campaign has the given number of results.
func await(t *testing.T, server campaign.Server, results int) *campaign.Status {
	t.Helper()
	for end := time.Now().Add(3 * time.Minute); ; {
		s, err := queue.Look(t.Context(), server, "")
		if err == nil && s.Done >= results {
			return s
		}
		if time.Now().After(end) {
			t.Fatalf("there are still not %d results: %+v, %v", results, s, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestAllIsKilled: a campaign with its queue and eight workers in one process is killed and resumed. It has the
// report of one machine.
func TestAllIsKilled(t *testing.T) {
	server := campaign.Server{Dir: filepath.Join(t.TempDir(), "queue")}
	n := shards()
	text := fmt.Sprintf(sampling, "semaphore", 20*n, 20)
	for range 4 {
		p := process(t, "run", server, text)
		time.Sleep(time.Duration(rand.IntN(400)) * time.Millisecond) // it is killed at a random moment, which may be before it has begun
		kill(p)
	}
	out, err := queue.Run(t.Context(), campaign.RunConfig{Plan: plan(t, "%s", text), Server: server, Workers: 8})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := enginetest.Card(t, out.Result), single(t, "semaphore", 20*n); got != want {
		t.Fatalf("the campaign comes to\n%s\none machine to\n%s", got, want)
	}
}

// TestWhoRunsItIsKilled: a campaign on a server is resumed after its runner was killed, with the same workers.
func TestWhoRunsItIsKilled(t *testing.T) {
	server := campaign.Server{URL: natstest.Start(t, "").URL}
	n := shards()
	text := fmt.Sprintf(sampling, "semaphore", 20*n, 20)
	first := process(t, "run", server, text)
	await(t, server, 0)
	gather(t, server)
	await(t, server, 1+rand.IntN(n/2))
	kill(first)
	out, err := queue.Run(t.Context(), campaign.RunConfig{Plan: plan(t, "%s", text), Server: server})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := enginetest.Card(t, out.Result), single(t, "semaphore", 20*n); got != want {
		t.Fatalf("the campaign comes to\n%s\none machine to\n%s", got, want)
	}
}
