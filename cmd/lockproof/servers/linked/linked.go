package linked

import (
	"context"

	"github.com/lockproof/lockproof/adapters/consul"
	"github.com/lockproof/lockproof/adapters/measure"
	"github.com/lockproof/lockproof/adapters/redis"
	"github.com/lockproof/lockproof/adapters/sql"
	"github.com/lockproof/lockproof/cmd/lockproof/servers"
	"github.com/lockproof/lockproof/model/sql"
)

// Finders are all finders that there are.
var Finders = servers.Finders{"redis": findRedis, "mariadb": finds(sql.MariaDB), "postgres": finds(sql.Postgres), "consul": findConsul}

func findRedis(ctx context.Context, address string) (servers.Server, error) {
	s, err := redis.Find(ctx, address)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// agent is a Consul agent, which keeps nothing open.
type agent struct{ *consul.Agent }

func findConsul(ctx context.Context, address string) (servers.Server, error) {
	a, err := consul.Find(ctx, address)
	if err != nil {
		return nil, err
	}
	return agent{a}, a.Led(ctx)
}

// Measured implements [servers.Server].
func (a agent) Measured(context.Context) (measure.Server, error) { return a.Agent.Measured(), nil }

// Close implements [servers.Server].
func (agent) Close() error { return nil }

// database is a database server, with what it was measured by.
type database struct {
	*databases.Server
	measured *databases.Measured
}

func finds(d sql.Dialect) servers.Finder {
	return func(ctx context.Context, address string) (servers.Server, error) {
		find := func() (*databases.Server, error) { return databases.At(ctx, address) }
		if address == "" {
			find = func() (*databases.Server, error) { return databases.Find(ctx, d) }
		}
		s, err := find()
		if err != nil {
			return nil, err
		}
		return &database{Server: s}, nil
	}
}

// Measured implements [servers.Server].
func (d *database) Measured(ctx context.Context) (measure.Server, error) {
	m, err := d.Server.Measured(ctx)
	if err != nil {
		return nil, err
	}
	d.measured = m
	return m, nil
}

// Close implements [servers.Server].
func (d *database) Close() error {
	if d.measured == nil {
		return nil
	}
	return d.measured.Close()
}
