// Package consulclient tests Consul's official client on the simulated Consul of `lockproof consul`, or on a real
// agent.
package consulclient

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"
)

// client returns the official client, connected to the agent that CONSUL_HTTP_ADDR names.
func client(t *testing.T) *api.Client {
	t.Helper()
	if os.Getenv("CONSUL_HTTP_ADDR") == "" {
		t.Skip("no Consul: set CONSUL_HTTP_ADDR to what `lockproof consul` prints, or to an agent")
	}
	c, err := api.NewClient(api.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := c.KV().DeleteTree(t.Name()+"/", nil); err != nil {
			t.Error(err)
		}
	})
	return c
}

// semaphore returns a client for a semaphore with the given limit. It does not wait if the semaphore is full.
func semaphore(t *testing.T, c *api.Client, limit int) *api.Semaphore {
	t.Helper()
	s, err := c.SemaphoreOpts(&api.SemaphoreOptions{
		Prefix: t.Name() + "/", Limit: limit, SemaphoreTryOnce: true, SemaphoreWaitTime: 100 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// acquired tries to acquire a slot of the semaphore, and reports whether it succeeded.
func acquired(t *testing.T, s *api.Semaphore) bool {
	t.Helper()
	lost, err := s.Acquire(nil)
	if err != nil {
		t.Fatal(err)
	}
	return lost != nil
}

// At most limit clients hold the semaphore. After a release, another client can acquire the slot.
func TestSemaphore(t *testing.T) {
	c := client(t)
	one, two, three := semaphore(t, c, 2), semaphore(t, c, 2), semaphore(t, c, 2)
	if !acquired(t, one) || !acquired(t, two) {
		t.Fatal("two of two slots are not to be had")
	}
	if acquired(t, three) {
		t.Fatal("three hold a semaphore of two")
	}
	if err := one.Release(); err != nil {
		t.Fatal(err)
	}
	if !acquired(t, three) {
		t.Error("the slot that was released is not to be had")
	}
	for _, s := range []*api.Semaphore{two, three} {
		if err := s.Release(); err != nil {
			t.Error(err)
		}
	}
	if err := one.Destroy(); err != nil {
		t.Error(err)
	}
}

// If an operator deletes the key .lock, the next client creates another one. Then two clients hold a semaphore with
// limit 1.
func TestLockDeleted(t *testing.T) {
	c := client(t)
	one, two := semaphore(t, c, 1), semaphore(t, c, 1)
	if !acquired(t, one) {
		t.Fatal("the only slot is not to be had")
	}
	if _, err := c.KV().Delete(t.Name()+"/.lock", nil); err != nil {
		t.Fatal(err)
	}
	if !acquired(t, two) {
		t.Error("whoever comes after .lock was deleted is refused")
	}
	if err := two.Release(); err != nil {
		t.Error(err)
	}
}

// A client with another limit than the semaphore was created with is refused.
func TestOtherLimit(t *testing.T) {
	c := client(t)
	one, two := semaphore(t, c, 2), semaphore(t, c, 1)
	if !acquired(t, one) {
		t.Fatal("no slot is to be had")
	}
	if _, err := two.Acquire(nil); err == nil || !strings.Contains(err.Error(), "limit conflict") {
		t.Errorf("got %v: expected a conflict of limits", err)
	}
	if err := one.Release(); err != nil {
		t.Error(err)
	}
}

// One client holds the lock. It loses the lock with its session, and the lock is free after a release.
func TestLock(t *testing.T) {
	c := client(t)
	lock := func() *api.Lock {
		l, err := c.LockOpts(&api.LockOptions{Key: t.Name() + "/key", LockTryOnce: true, LockWaitTime: 100 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	one, two := lock(), lock()
	if lost, err := one.Lock(nil); err != nil || lost == nil {
		t.Fatal(lost, err)
	}
	if lost, err := two.Lock(nil); err != nil || lost != nil {
		t.Errorf("two have the lock: %v, %v", lost, err)
	}
	if err := one.Unlock(); err != nil {
		t.Fatal(err)
	}
	if lost, err := two.Lock(nil); err != nil || lost == nil {
		t.Errorf("what was released is not to be had: %v, %v", lost, err)
	}
	if err := two.Unlock(); err != nil {
		t.Error(err)
	}
}
