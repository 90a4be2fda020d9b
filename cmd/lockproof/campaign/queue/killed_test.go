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

// asProcess is an environment variable. Its value "work" or "run" makes this test binary a worker or a runner of a
// campaign.
const asProcess = "LOCKPROOF_TEST_CAMPAIGN"

// Environment variables with the arguments of such a worker or runner.
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

// process starts this test binary as a worker or runner. The process is killed at the end of the test.
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

// kill kills a process, so that it cannot clean up.
func kill(cmd *exec.Cmd) {
	cmd.Process.Kill()
	cmd.Wait() // the error only says how the process ended
}

// crowd is a group of eight workers, each in a process of its own.
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

// killOne kills a random worker and starts another in its place.
func (c *crowd) killOne() {
	i := rand.IntN(len(c.workers))
	kill(c.workers[i])
	c.workers[i] = process(c.t, "work", c.server, "")
	c.killed++
}

// shards is the number of shards of a campaign in which processes are killed: 1000, or 40 with -short.
func shards() int {
	if testing.Short() {
		return 40
	}
	return 1000
}

// TestWorkersAreKilled kills half of eight workers at random moments, and in between the server. The report must be
// that of a single machine: no shard may be lost or counted twice.
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

// TestAllIsKilled kills and resumes a campaign whose queue and workers are in one process. The report must be that of a
// single machine.
func TestAllIsKilled(t *testing.T) {
	server := campaign.Server{Dir: filepath.Join(t.TempDir(), "queue")}
	n := shards()
	text := fmt.Sprintf(sampling, "semaphore", 20*n, 20)
	for range 4 {
		p := process(t, "run", server, text)
		time.Sleep(time.Duration(rand.IntN(400)) * time.Millisecond) // perhaps before the campaign has begun
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

// TestWhoRunsItIsKilled kills the runner of a campaign on a server and resumes the campaign with the same workers.
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
