package external_test

import (
	"context"
	"errors"
	"testing"

	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// loud is a mutex whose client closes its connection when anything goes wrong, and does nothing more.
type loud struct {
	named
	over bool
}

func (l *loud) Acquire(ctx context.Context, name string) (slot int, err error) {
	if l.over {
		return 0, errors.Join(errors.New("this client is over: make another"), inprocess.ErrNoEffect)
	}
	if slot, err = l.named.Acquire(ctx, name); err != nil {
		l.end()
	}
	return slot, err
}

func (l *loud) Release(ctx context.Context, name string, slot int) error {
	if err := l.named.Release(ctx, name, slot); err != nil {
		l.end()
	}
	return nil
}

func (l *loud) end() {
	l.over = true
	l.conn.Close()
}

// A client that gives up after a channel was closed that it used, and says so from then on, is as right as one that does after
// its connection was dropped.
func TestLoud(t *testing.T) {
	runner := mutexRunner(t, "loud", func(url string) (inprocess.Lock, error) {
		l := &loud{named: named{url: url, name: func(n string) string { return n + ".lock" }}}
		return l, l.open()
	})
	actions := append(steps(1, 2), scenario.Action{Kind: scenario.ChannelError, Client: 1})
	x := carriedOut(t, runner, append(actions, steps(1, 6)...), []scenario.Operation{acquire, {Op: lock.Release}, acquire})
	if x.Found != 0 || len(x.Errors) == 0 {
		t.Errorf("%v\n%s", x.Violations, drawn(x))
	}
}
