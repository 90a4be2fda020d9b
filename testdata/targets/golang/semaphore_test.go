package amqplocks_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/lockproof/lockproof"
	amqplocks "github.com/lockproof/lockproof/testdata/targets/golang"
)

// TestSemaphore: the semaphore has every property that lockproof checks for it.
func TestSemaphore(t *testing.T) {
	lockproof.Test(t, with(amqplocks.NoBug), lockproof.Sample{})
}

// breaks are the bugs, each with the property that it violates.
var breaks = map[amqplocks.Bug]lockproof.Property{
	amqplocks.NotMandatory:         lockproof.Progress,
	amqplocks.ReturnIgnored:        lockproof.Progress,
	amqplocks.VerifyReconnects:     lockproof.StaleBeliefEnds,
	amqplocks.ReleaseClosesChannel: lockproof.EffectiveRelease,
	amqplocks.LockedIsSuccess:      lockproof.MutualExclusion,
	amqplocks.LockedIsPanic:        lockproof.NoCrash,
	sharedConnection:               lockproof.MutualExclusion,
}

// sharedConnection is the bug of the clients of a Pool.
const sharedConnection = amqplocks.Bug("shared-connection")

// TestBug judges the semaphore with the bug that the environment names, by the property that the bug violates. So the
// test fails.
func TestBug(t *testing.T) {
	bug := amqplocks.Bug(os.Getenv("BUG"))
	broken, known := breaks[bug]
	if !known {
		t.Skip("to see it fail, name a bug: BUG=release-closes-channel go test -run TestBug")
	}
	target, sample := with(bug), lockproof.Sample{Options: lockproof.Options{Properties: []lockproof.Property{broken}, First: true}}
	if bug == sharedConnection { // one worker, since parallel executions would share the connection
		target, sample.Workers = shared(), 1
	}
	lockproof.Test(t, target, sample)
}

// with returns a target of clients with a bug.
func with(bug amqplocks.Bug) lockproof.Target {
	return lockproof.Go("semaphore", func(ctx context.Context, url string) (lockproof.Lock, error) {
		c, err := amqplocks.NewWith(ctx, url, bug)
		return client{c}, err
	})
}

// shared returns a target of clients that share a connection.
func shared() lockproof.Target {
	var pool amqplocks.Pool
	return lockproof.Go("semaphore", func(ctx context.Context, url string) (lockproof.Lock, error) {
		c, err := pool.New(ctx, url)
		return client{c}, err
	})
}

// client marks errors that mean that the call had no effect. In the library, that is ErrBusy.
type client struct{ *amqplocks.Client }

func (c client) Acquire(ctx context.Context, name string) (int, error) {
	slot, err := c.Client.Acquire(ctx, name)
	return slot, certain(err)
}

func (c client) Create(ctx context.Context, name string, slots int) error {
	return certain(c.Client.Create(ctx, name, slots))
}

func (c client) Add(ctx context.Context, name string, slots int) error {
	return certain(c.Client.Add(ctx, name, slots))
}

func (c client) Remove(ctx context.Context, name string, slots int) error {
	return certain(c.Client.Remove(ctx, name, slots))
}

func (c client) Destroy(ctx context.Context, name string) error {
	return certain(c.Client.Destroy(ctx, name))
}

func (c client) Wait(ctx context.Context, name string, slot int) error {
	return certain(c.Client.Wait(ctx, name, slot))
}

func certain(err error) error {
	if errors.Is(err, amqplocks.ErrBusy) {
		return errors.Join(lockproof.ErrNoEffect, err)
	}
	return err
}
