package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"ariga.io/atlas/sql/migrate"
	atlasmysql "ariga.io/atlas/sql/mysql"
	atlaspostgres "ariga.io/atlas/sql/postgres"
	"ariga.io/atlas/sql/schema"
	"github.com/go-sql-driver/mysql"
	migrated "github.com/golang-migrate/migrate/v4/database"
	migratemysql "github.com/golang-migrate/migrate/v4/database/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3/lock"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	bunmigrate "github.com/uptrace/bun/migrate"
)

// database is a kind of database server: how to open a connection, and how two of the libraries use it.
type database struct {
	open  func(server string) (*sql.DB, error)
	atlas func(schema.ExecQuerier) (migrate.Driver, error)
	table func(...lock.TableLockerOption) (lock.Locker, error)
}

var (
	onPostgres = database{
		open:  func(server string) (*sql.DB, error) { return sql.Open("pgx", server) },
		atlas: atlaspostgres.Open, table: lock.NewPostgresTableLocker,
	}
	onMariaDB = database{open: openMariaDB, atlas: atlasmysql.Open, table: lock.NewMySQLTableLocker}
)

// openMariaDB opens a database at a URL, which it converts to the driver's own format.
func openMariaDB(server string) (*sql.DB, error) {
	u, err := url.Parse(server)
	if err != nil {
		return nil, err
	}
	c := mysql.NewConfig()
	c.Net, c.Addr, c.User, c.DBName, c.ParseTime = "tcp", u.Host, u.User.Username(), strings.TrimPrefix(u.Path, "/"), true
	_ = mysql.SetLogger(quiet{})
	return sql.Open("mysql", c.FormatDSN())
}

// quiet is a logger that prints nothing.
type quiet struct{}

func (quiet) Print(...any) {}

// number returns a lock's number, for a library whose locks have numbers instead of names.
func number(name string) int64 { return int64(crc32.ChecksumIEEE([]byte(name))) }

// ofGooseSession returns the session lock of github.com/pressly/goose. The same connection acquires and releases it.
func ofGooseSession(servers []string) (acquire, error) {
	db, err := onPostgres.open(servers[0])
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, name string, _ time.Duration) (release, error) {
		l, err := lock.NewPostgresSessionLocker(lock.WithLockID(number(name)), lock.WithLockTimeout(1, 1), lock.WithUnlockTimeout(1, 1))
		if err != nil {
			return nil, err
		}
		conn, err := db.Conn(ctx)
		if err != nil {
			return nil, err
		}
		if err := l.SessionLock(ctx, conn); err != nil {
			_ = conn.Close()
			if err.Error() == "failed to acquire lock" {
				return nil, nil
			}
			return nil, err
		}
		return func(ctx context.Context) error { return errors.Join(l.SessionUnlock(ctx, conn), conn.Close()) }, nil
	}, nil
}

// ofGooseTable returns the table lock of github.com/pressly/goose.
func ofGooseTable(on database) acquiring {
	return func(servers []string) (acquire, error) {
		db, err := on.open(servers[0])
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, name string, lease time.Duration) (release, error) {
			l, err := on.table(lock.WithTableLockID(number(name)), lock.WithTableLeaseDuration(lease), lock.WithTableLockTimeout(time.Millisecond, 1),
				lock.WithTableUnlockTimeout(time.Millisecond, 1), lock.WithTableLogger(slog.New(slog.NewTextHandler(io.Discard, nil))))
			if err != nil {
				return nil, err
			}
			switch err := l.Lock(ctx, db); {
			case err != nil && strings.Contains(err.Error(), "already held by another instance"):
				return nil, nil
			case err != nil:
				return nil, err
			}
			return func(ctx context.Context) error { return l.Unlock(ctx, db) }, nil
		}, nil
	}
}

// ofBun returns the lock of the migrator of github.com/uptrace/bun, which is a row in a table.
func ofBun(servers []string) (acquire, error) {
	db, err := onPostgres.open(servers[0])
	if err != nil {
		return nil, err
	}
	b := bun.NewDB(db, pgdialect.New())
	return func(ctx context.Context, name string, _ time.Duration) (release, error) {
		table := fmt.Sprint("bun_", number(name))
		m := bunmigrate.NewMigrator(b, bunmigrate.NewMigrations(), bunmigrate.WithTableName(table), bunmigrate.WithLocksTableName(table+"_locks"))
		if err := m.Init(ctx); err != nil {
			return nil, err
		}
		switch err := m.Lock(ctx); {
		case err != nil && strings.Contains(err.Error(), "SQLSTATE=23505"):
			return nil, nil
		case err != nil:
			return nil, err
		}
		return m.Unlock, nil
	}, nil
}

// ofMigrate returns the lock of the MySQL driver of github.com/golang-migrate/migrate. An acquire waits up to ten
// seconds.
func ofMigrate(servers []string) (acquire, error) {
	db, err := onMariaDB.open(servers[0])
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, name string, _ time.Duration) (release, error) {
		conn, err := db.Conn(ctx)
		if err != nil {
			return nil, err
		}
		d, err := migratemysql.WithConnection(ctx, conn, &migratemysql.Config{MigrationsTable: fmt.Sprint("migrate_", number(name)), DatabaseName: "lockproof"})
		if errors.Is(err, migrated.ErrLocked) {
			return nil, conn.Close()
		}
		if err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		err = d.Lock()
		if errors.Is(err, migrated.ErrLocked) {
			return nil, conn.Close()
		}
		if err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		return func(context.Context) error { return errors.Join(d.Unlock(), conn.Close()) }, nil
	}, nil
}

// ofAtlas returns the lock of a database driver of ariga.io/atlas.
func ofAtlas(on database) acquiring {
	return func(servers []string) (acquire, error) {
		db, err := on.open(servers[0])
		if err != nil {
			return nil, err
		}
		driver, err := on.atlas(db)
		if err != nil {
			return nil, err
		}
		locker := driver.(schema.Locker)
		return func(ctx context.Context, name string, _ time.Duration) (release, error) {
			unlock, err := locker.Lock(ctx, name, 0)
			if errors.Is(err, schema.ErrLocked) {
				return nil, nil
			}
			if err != nil {
				return nil, err
			}
			return func(context.Context) error { return unlock() }, nil
		}, nil
	}
}
