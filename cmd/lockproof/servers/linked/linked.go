package linked

import (
	"context"

	"github.com/lockproof/lockproof/adapters/measure"
	"github.com/lockproof/lockproof/adapters/sql"
	"github.com/lockproof/lockproof/cmd/lockproof/servers"
	"github.com/lockproof/lockproof/model/sql"
)

// Finders contains the finders of all servers that can be used.
var Finders = servers.Finders{
	"redis": servers.Own["redis"], "consul": servers.Own["consul"], "mariadb": finds(sql.MariaDB), "postgres": finds(sql.Postgres),
}

// database is a database server, and the connection on which it is measured.
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
