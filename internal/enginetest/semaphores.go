package enginetest

import (
	"context"
	"errors"

	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/testdata/targets/golang/semaphores"
)

// Semaphore returns a constructor for clients of a semaphore of design d, in Go. Its number of slots is fixed unless
// d is resizable.
func Semaphore(d semaphores.Design) func(context.Context, string) (inprocess.Lock, error) {
	return func(ctx context.Context, url string) (inprocess.Lock, error) {
		c, err := semaphores.New(ctx, url, d)
		_, created := d.(semaphores.Created)
		switch _, limiting := d.(semaphores.Limiting); {
		case limiting && created:
			return limited{fixed{c}}, err
		case limiting:
			return slotless{semaphores.LimitedClient{Client: c}}, err
		}
		switch d.(type) {
		case semaphores.Resizable:
			return resizable{fixed{c}}, err
		case semaphores.Fenced:
			return fenced{fixed{c}}, err
		}
		return fixed{c}, err
	}
}

// slotless is a lock that is not created before use. Its callers state how many clients may hold it.
type slotless struct{ inprocess.Limited }

// fenced is a semaphore with fencing tokens.
type fenced struct{ fixed }

func (f fenced) Token(name string, slot int) int64 {
	return semaphores.FencedClient{Client: f.Client}.Token(name, slot)
}

// limited is a semaphore whose callers state how many clients may hold it.
type limited struct{ fixed }

func (l limited) AcquireLimited(ctx context.Context, name string, limit int) (int, error) {
	return semaphores.LimitedClient{Client: l.Client}.AcquireLimited(ctx, name, limit)
}

type fixed struct{ *semaphores.Client }

func (f fixed) Create(ctx context.Context, name string, slots int) error {
	return unlessBusy(f.Client.Create(ctx, name, slots))
}

func (f fixed) Destroy(ctx context.Context, name string) error {
	return unlessBusy(f.Client.Destroy(ctx, name))
}

func (f fixed) Count(ctx context.Context, name string) (int, error) {
	n, err := f.Client.Count(ctx, name)
	return n, unlessBusy(err)
}

type resizable struct{ fixed }

func (r resizable) Add(_ context.Context, name string, slots int) error {
	return unlessBusy(r.Client.Add(name, slots))
}

func (r resizable) Remove(_ context.Context, name string, slots int) error {
	return unlessBusy(r.Client.Remove(name, slots))
}

// unlessBusy marks an error as one without an effect if the library says that other clients were in the way.
func unlessBusy(err error) error {
	if errors.Is(err, semaphores.ErrBusy) {
		return errors.Join(inprocess.ErrNoEffect, err)
	}
	return err
}
