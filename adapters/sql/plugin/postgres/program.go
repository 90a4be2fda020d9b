package postgres

import (
	"context"
	"crypto/rand"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/lockproof/lockproof/adapters/gate/process"
)

const (
	superuser = "postgres"  // the user of lockproof's own connection, who has a password
	database  = "lockproof" // name of the database, and of its owner, as whom clients connect
)

// password is the superuser's password, the same for all servers of this process.
var password = rand.Text()

// program finds a program of PostgreSQL: on the path, or else the newest in Debian's folders.
func program(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	all, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name) // it can only fail if the pattern is malformed
	newest, best := -1, ""
	for _, path := range all {
		version, err := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
		if err == nil && version > newest {
			newest, best = version, path
		}
	}
	if best == "" {
		return "", fmt.Errorf("PostgreSQL (Debian's package postgresql has it): %s: %w", name, process.ErrMissing)
	}
	return best, nil
}

// Name returns the name and version of the server that Open starts, such as "PostgreSQL 15.14".
func Name() (string, error) {
	path, err := program("postgres")
	if err != nil {
		return "PostgreSQL", err
	}
	out, err := process.Version(path, "--version")
	if err != nil {
		return "", err
	}
	for word := range strings.FieldsSeq(out) {
		if word[0] >= '0' && word[0] <= '9' {
			return "PostgreSQL " + word, nil
		}
	}
	return "PostgreSQL", nil
}

// newProcess prepares the process of a server.
func newProcess() (*process.Process, error) { return process.New("postgres", "postgres") }

// template is the data with which each server begins.
var template = process.Template{New: newProcess, Make: makeData}

// data returns the path of the folder with a server's data.
func data(p *process.Process) string { return filepath.Join(p.Folder, process.Data) }

// makeData makes a database cluster with a database, whose owner has no password.
func makeData(ctx context.Context, p *process.Process) error {
	initdb, err := program("initdb")
	if err != nil {
		return err
	}
	postgres, err := program("postgres")
	if err != nil {
		return err
	}
	err = p.Run(ctx, "", initdb, "-D", data(p), "-U", superuser, "-A", "trust", "--no-sync", "--wal-segsize=1", "--locale=C", "-E", "UTF8")
	if err != nil {
		return err
	}
	roles := fmt.Sprintf("ALTER ROLE %s PASSWORD '%s'\nCREATE ROLE %[3]s LOGIN\nCREATE DATABASE %[3]s OWNER %[3]s\n", superuser, password, database)
	if err := p.Run(ctx, roles, postgres, "--single", "-D", data(p), "-c", "fsync=off", "postgres"); err != nil {
		return err
	}
	return p.WriteFile(filepath.Join(process.Data, "pg_hba.conf"), fmt.Sprintf(
		"host %[1]s %[1]s 127.0.0.1/32 trust\nhost all %[2]s 127.0.0.1/32 password\n", database, superuser))
}

// settings are settings for a server that does nothing by itself, and whose data may be lost at its end.
var settings = []string{
	"listen_addresses=127.0.0.1", "unix_socket_directories=", "dynamic_shared_memory_type=mmap", "ssl=off",
	"fsync=off", "full_page_writes=off", "wal_level=minimal", "max_wal_senders=0", "checkpoint_timeout=1d",
	"shared_buffers=8MB", "max_connections=200", "autovacuum=off", "bgwriter_lru_maxpages=0", "jit=off",
	"max_parallel_workers=0", "max_logical_replication_workers=0", "log_min_messages=fatal", "authentication_timeout=10min",
}

// arguments returns the command-line arguments with which a server starts.
func arguments(p *process.Process) []string {
	all := []string{"-D", data(p), "-p", strconv.Itoa(p.Port)}
	for _, s := range settings {
		all = append(all, "-c", s)
	}
	return all
}
