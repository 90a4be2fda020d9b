package redis

import (
	"context"
	"errors"
	"fmt"

	model "github.com/lockproof/lockproof/model/redis"
	sim "github.com/lockproof/lockproof/sim/redis"
	simulated "github.com/lockproof/lockproof/sim/redis/server"
)

// chainRounds is the number of rounds that the atlas plays. Each has a hundred clients; 300 rounds take about three
// seconds.
const chainRounds = 300

// Figure returns the value, measured on this server, of the figure with the given name in the atlas.
func (s *Server) Figure(ctx context.Context, name string) (string, error) {
	if name != sim.ChainFigure {
		return "", fmt.Errorf("figure %q: expected %s", name, sim.ChainFigure)
	}
	return s.Chains(ctx, chainRounds)
}

// Chains plays rounds in which a hundred clients with different priorities acquire one lock in random order, where a
// higher priority takes the lock from a lower one. It returns statistics of how often the lock changed hands in a
// round. Every reply must equal the simulated server's.
func (s *Server) Chains(ctx context.Context, rounds int) (string, error) {
	sum, longest := 0, 0
	err := sim.ChainOrders(rounds, func(order []int) error {
		length, err := s.chain(ctx, order)
		sum, longest = sum+length, max(longest, length)
		return err
	})
	return s.Version + ": " + sim.ChainsPlayed(rounds, sum, longest), err
}

// chain plays one round, and returns how many clients were granted the lock by their first command. order has the
// clients' priorities.
func (s *Server) chain(ctx context.Context, order []int) (length int, err error) {
	keys := s.Space()
	defer func() { err = errors.Join(err, keys.Sweep(context.WithoutCancel(ctx))) }()
	var store simulated.Server
	for _, p := range order {
		c := model.Command{Method: model.Steal, ID: model.NewID(uint8(p), 1), Priority: uint8(p), Lease: 1000}
		want := store.Apply(c)
		got, err := keys.Do(ctx, c, "jobs")
		if err != nil {
			return length, err
		}
		if want.Words() != got.Words() {
			return length, fmt.Errorf("%s: %s, but on the real one: %s", c.Words("jobs"), want.Words(), got.Words())
		}
		if got.Class == model.OK {
			length++
		}
	}
	return length, nil
}
