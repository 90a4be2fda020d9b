//go:build unix

package redis_test

import (
	"errors"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/lockproof/lockproof/adapters/redis"
	"github.com/lockproof/lockproof/internal/redistest"
)

// Facts about how locks are lost and notifications are missing, on servers with other settings than the simulated one
// has.

// client returns a connection for commands that are not part of a lock.
func client(t *testing.T, s *redis.Server) *goredis.Client {
	t.Helper()
	o, err := goredis.ParseURL(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	o.MaxRetries = -1
	c := goredis.NewClient(o)
	t.Cleanup(func() { _ = c.Close() }) // an error is ignored, as the server may be dead
	return c
}

// took tries to acquire the lock for the client named who, and reports whether it succeeded.
func took(t *testing.T, c *goredis.Client, who string, lease time.Duration) bool {
	t.Helper()
	ok, err := c.SetNX(t.Context(), "{jobs}", who, lease).Result()
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

// until calls the function is repeatedly until it returns true. It fails the test if that takes too long.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s does not come", what)
		}
	}
}

// passing is a script that waits for some milliseconds by the server's clock. It returns whether the key exists, and
// its PTTL.
const passing = `
local function now() local t = redis.call('TIME') return t[1] * 1000 + math.floor(t[2] / 1000) end
local began = now()
if ARGV[2] == 'set' then redis.call('SET', KEYS[1], 'c1', 'PX', ARGV[1]) end
while now() <= began + 2 * ARGV[1] do end
if ARGV[2] == 'wait' then return {0, 0} end
return {redis.call('EXISTS', KEYS[1]), redis.call('PTTL', KEYS[1])}`

// No lease ends while a script runs, whatever TIME returns. If a script runs for twice the lease's duration, the key
// still exists at the script's end, and is gone right after it (FACTS R2). Within the script, PTTL counts down to 0.
func TestNoLeaseEndsInScripts(t *testing.T) {
	s := redistest.Private(t)
	c := client(t, s)
	const lease = 30
	got, err := c.Eval(t.Context(), passing, []string{"{jobs}"}, lease, "set").Int64Slice()
	if err != nil {
		t.Fatal(err)
	}
	if got[0] != 1 || got[1] < 0 || got[1] > lease {
		t.Errorf("at the end of the script: it is there: %v, with %d of %d ms", got[0] == 1, got[1], lease)
	}
	if !took(t, c, "c2", time.Minute) {
		t.Error("right after it the lease lives on")
	}
}

// replicated starts a server and a replica of it, and waits until the replication works.
func replicated(t *testing.T) (master, replica *redis.Server) {
	t.Helper()
	master, replica = redistest.Private(t, "--save", ""), redistest.Private(t, "--save", "")
	port := master.URL[strings.LastIndex(master.URL, ":")+1 : strings.LastIndex(master.URL, "/")]
	m, r := client(t, master), client(t, replica)
	if err := r.ReplicaOf(t.Context(), "127.0.0.1", port).Err(); err != nil {
		t.Fatal(err)
	}
	until(t, "the replica", func() bool {
		if err := m.Set(t.Context(), "beat", 1, 0).Err(); err != nil {
			t.Fatal(err)
		}
		n, err := m.Wait(t.Context(), 1, 50*time.Millisecond).Result()
		return err == nil && n == 1
	})
	return master, replica
}

// promote makes a replica a master.
func promote(t *testing.T, replica *goredis.Client) {
	t.Helper()
	if err := replica.ReplicaOf(t.Context(), "NO", "ONE").Err(); err != nil {
		t.Fatal(err)
	}
}

// kill kills the server to which c is connected.
func kill(t *testing.T, c *goredis.Client) {
	t.Helper()
	if err := syscall.Kill(process(t, c), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// If a replica that was cut off is promoted, it grants a lock with a live lease again. WAIT reports that no replica
// has the write, but does not undo the write (FACTS R5).
func TestReplicaThatWasCutOff(t *testing.T) {
	master, replica := replicated(t)
	m, r := client(t, master), client(t, replica)
	if err := r.ReplicaOf(t.Context(), "127.0.0.1", "1").Err(); err != nil { // nothing listens at this address
		t.Fatal(err)
	}
	if !took(t, m, "c1", time.Minute) {
		t.Fatal("the master refuses a lock that is free")
	}
	if n, err := m.Wait(t.Context(), 1, 20*time.Millisecond).Result(); n != 0 || err != nil {
		t.Fatalf("WAIT: %d, %v", n, err)
	}
	if n, err := m.Exists(t.Context(), "{jobs}").Result(); n != 1 || err != nil {
		t.Errorf("after WAIT the master has the lease: %d, %v", n, err)
	}
	kill(t, m)
	promote(t, r)
	if !took(t, r, "c2", time.Minute) {
		t.Error("the replica knows of the lease")
	}
}

// A replica that was only paused still reads what its master sent before it died, so nothing is lost (FACTS R6).
func TestReplicaThatStoodStill(t *testing.T) {
	master, replica := replicated(t)
	m, r := client(t, master), client(t, replica)
	pid := process(t, r)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if !took(t, m, "c1", time.Minute) {
		t.Fatal("the master refuses a lock that is free")
	}
	n, err := m.Wait(t.Context(), 1, 20*time.Millisecond).Result()
	kill(t, m)
	if err = errors.Join(err, syscall.Kill(pid, syscall.SIGCONT)); n != 0 || err != nil {
		t.Fatalf("WAIT: %d, %v", n, err)
	}
	until(t, "what the master had sent", func() bool { return r.Exists(t.Context(), "{jobs}").Val() == 1 })
	promote(t, r)
	if took(t, r, "c2", time.Minute) {
		t.Error("the replica has forgotten the lease")
	}
}

// process returns the process number of the server to which c is connected.
func process(t *testing.T, c *goredis.Client) int {
	t.Helper()
	info, err := c.Info(t.Context(), "server").Result()
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(info, "process_id:")
	pid, err := strconv.Atoi(strings.TrimSpace(rest[:strings.IndexByte(rest, '\n')]))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// A server that is short of memory, and whose settings let it evict any key, evicts the lock's key before the lease
// ends (FACTS R7).
func TestEviction(t *testing.T) {
	c := client(t, redistest.Private(t, "--save", "", "--maxmemory", "3mb", "--maxmemory-policy", "allkeys-lru"))
	if !took(t, c, "c1", time.Hour) {
		t.Fatal("refused a lock that is free")
	}
	value := strings.Repeat("x", 1000)
	const most = 50_000
	written := 0
	for there := int64(1); there == 1 && written < most; {
		p := c.Pipeline()
		for range 500 {
			p.Set(t.Context(), strconv.Itoa(written), value, 0)
			written++
		}
		if _, err := p.Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
		// OBJECT IDLETIME does not count as a use of the key, as EXISTS would.
		if err := c.ObjectIdleTime(t.Context(), "{jobs}").Err(); errors.Is(err, goredis.Nil) {
			there = 0
		}
	}
	if !took(t, c, "c2", time.Hour) {
		t.Errorf("the lease is there after %d writes of 1 kB into 3 MB", written)
	}
}

// The notification of an expiry comes when the server finds the expired key, not when the lease ends. Here it finds
// it at a client's read (FACTS R8).
func TestNoticeOfExpiry(t *testing.T) {
	s := redistest.Private(t, "--save", "", "--notify-keyspace-events", "Ex", "--enable-debug-command", "yes")
	c := client(t, s)
	if err := c.Do(t.Context(), "DEBUG", "SET-ACTIVE-EXPIRE", "0").Err(); err != nil { // do not look for expired keys
		t.Fatal(err)
	}
	sub := c.PSubscribe(t.Context(), "__keyevent@*", "marks")
	defer sub.Close()
	for range 2 {
		if _, err := sub.Receive(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	const lease = 20
	if !took(t, c, "c1", lease*time.Millisecond) {
		t.Fatal("refused a lock that is free")
	}
	if err := c.Eval(t.Context(), passing, []string{"{jobs}"}, lease, "wait").Err(); err != nil {
		t.Fatal(err)
	}
	if err := c.Publish(t.Context(), "marks", "over").Err(); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Exists(t.Context(), "{jobs}").Result(); n != 0 || err != nil {
		t.Fatalf("the lease lives on: %d, %v", n, err)
	}
	for i, want := range []string{"over", "{jobs}"} {
		msg, err := sub.ReceiveMessage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if msg.Payload != want {
			t.Errorf("message %d is %q of %s, want %q", i+1, msg.Payload, msg.Channel, want)
		}
	}
}

// A lease is stored as the wall-clock time of its end. So a change of that clock shortens or prolongs the lease
// (FACTS R10). The test does not change the machine's clock.
func TestLeaseEndsByWallClock(t *testing.T) {
	c := client(t, redistest.Private(t, "--save", ""))
	const lease = 10_000
	got, err := c.Eval(t.Context(), `
local function now() local t = redis.call('TIME') return t[1] * 1000 + math.floor(t[2] / 1000) end
local before = now()
redis.call('SET', KEYS[1], 'c1', 'PX', ARGV[1])
return {before, redis.call('PEXPIRETIME', KEYS[1]), now()}`, []string{"{jobs}"}, lease).Int64Slice()
	if err != nil {
		t.Fatal(err)
	}
	// A script uses the time of its beginning, slightly before the time that TIME first returns.
	if end := got[1] - lease; end > got[2] || end < got[0]-1000 {
		t.Errorf("a lease of %d ms from %d to %d ends at %d", lease, got[0], got[2], got[1])
	}
	// If the clock is set forward, the lease's end is in the past.
	if err := c.PExpireAt(t.Context(), "{jobs}", time.UnixMilli(got[1]-2*lease)).Err(); err != nil {
		t.Fatal(err)
	}
	if !took(t, c, "c2", time.Minute) {
		t.Error("a lease whose end is in the past lives on")
	}
}
