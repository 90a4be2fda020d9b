package redis_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockproof/lockproof/adapters/redis"
	"github.com/lockproof/lockproof/internal/redistest"
	model "github.com/lockproof/lockproof/model/redis"
	simulated "github.com/lockproof/lockproof/sim/redis/server"
)

// step is a command of a sequence or, if passes is not 0, a lapse of time in milliseconds.
type step struct {
	command model.Command
	passes  int64
}

var locks = [...]string{"jobs", "jobs.1"}

// steps generates sequences of random commands of several clients on two locks, including senseless ones.
var steps = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
	if rapid.IntRange(0, 4).Draw(t, "what") == 0 {
		return step{passes: rapid.Int64Range(1, 12).Draw(t, "ms")}
	}
	c := model.Command{
		Method:   model.Method(rapid.IntRange(int(model.Get), int(model.Look)).Draw(t, "method")),
		Key:      model.Key{Lock: uint8(rapid.IntRange(0, len(locks)-1).Draw(t, "lock"))},
		ID:       model.NewID(uint8(rapid.IntRange(1, 3).Draw(t, "client")), uint8(rapid.IntRange(1, 2).Draw(t, "attempt"))),
		Priority: uint8(rapid.IntRange(1, 4).Draw(t, "priority")),
		Lease:    rapid.Int64Range(1, 20).Draw(t, "lease"),
		Equal:    rapid.Bool().Draw(t, "equal"), Keep: rapid.Bool().Draw(t, "keep"),
	}
	switch c.Method {
	case model.Set, model.SetNX:
		if rapid.IntRange(0, 3).Draw(t, "ageless") == 0 {
			c.Lease = 0
		}
	case model.Unclaim:
		for range rapid.IntRange(0, 2).Draw(t, "others") {
			c.Also = append(c.Also, model.NewID(uint8(rapid.IntRange(1, 3).Draw(t, "other")), 1))
		}
	case model.PExpire, model.PTTL, model.Del, model.Exists:
		if rapid.Bool().Draw(t, "of the lease") {
			c.Key.ID = c.ID
		}
	}
	return step{command: c}
}), 1, 40)

// Random sequences of commands have equal results on the simulated server and on a real Redis: every reply, and at
// the end every key with its remaining time. The number of sequences is the flag -rapid.checks.
func TestRandomCommands(t *testing.T) {
	s := redistest.Shared(t)
	rapid.Check(t, func(t *rapid.T) {
		if err := compare(t.Context(), s, steps.Draw(t, "steps")); err != nil {
			t.Fatal(err)
		}
	})
}

// compare carries out a sequence on both servers. It returns an error if they differ.
func compare(ctx context.Context, s *redis.Server, sequence []step) (err error) {
	real := s.Space()
	defer func() {
		if swept := real.Sweep(context.WithoutCancel(ctx)); err == nil {
			err = swept
		}
	}()
	var store simulated.Server
	var said strings.Builder
	for _, st := range sequence {
		if st.passes > 0 {
			fmt.Fprintf(&said, "%d ms pass\n", st.passes)
			store.Advance(st.passes)
			if err := real.Advance(ctx, st.passes); err != nil {
				return err
			}
			continue
		}
		lock := locks[st.command.Key.Lock]
		want := store.Apply(st.command)
		got, err := real.Do(ctx, st.command, lock)
		if err != nil {
			return fmt.Errorf("%s%w", &said, err)
		}
		fmt.Fprintf(&said, "%s: %s\n", st.command.Words(lock), want.Words())
		if want.Words() != got.Words() {
			return fmt.Errorf("the servers disagree:\n%sbut the real one: %s", &said, got.Words())
		}
	}
	left, err := real.Left(ctx)
	want := make(map[string]int64)
	for k, ms := range store.Left() {
		want[strings.TrimPrefix(k.Name(locks[k.Lock]), "{")] = ms
	}
	if err == nil && !maps.Equal(left, want) {
		err = fmt.Errorf("the keys are others, or expire at other times:\n%s%v, but on the real one: %v", &said, want, left)
	}
	return err
}
