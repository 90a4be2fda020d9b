package servers

import (
	"context"

	"github.com/lockproof/lockproof/adapters/consul"
	"github.com/lockproof/lockproof/adapters/measure"
	"github.com/lockproof/lockproof/adapters/redis"
)

// Own contains the finders for the servers of which lockproof itself has a client.
var Own = Finders{"redis": findRedis, "consul": findConsul}

func findRedis(ctx context.Context, address string) (Server, error) {
	s, err := redis.Find(ctx, address)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// agent is a client of a Consul agent. It has no connection to close.
type agent struct{ *consul.Agent }

func findConsul(ctx context.Context, address string) (Server, error) {
	a, err := consul.Find(ctx, address)
	if err != nil {
		return nil, err
	}
	return agent{a}, a.Led(ctx)
}

// Measured implements [Server].
func (a agent) Measured(context.Context) (measure.Server, error) { return a.Agent.Measured(), nil }

// Close implements [Server].
func (agent) Close() error { return nil }
