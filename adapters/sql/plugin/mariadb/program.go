package mariadb

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/lockproof/lockproof/adapters/gate/process"
)

const (
	administrator = "root"      // the user of lockproof's own connection, who has a password
	database      = "lockproof" // name of the database, and of the user as whom clients connect
)

// password is the administrator's password, the same for all servers of this process.
var password = rand.Text()

// program finds a program of MariaDB, on the path or in Debian's folders.
func program(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	path := filepath.Join("/usr/sbin", name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("MariaDB (Debian's package mariadb-server has it): %s: %w", name, process.ErrMissing)
	}
	return path, nil
}

// Name returns the name and version of the server that Open starts, such as "MariaDB 10.11.14".
func Name() (string, error) {
	path, err := program("mariadbd")
	if err != nil {
		return "MariaDB", err
	}
	out, err := process.Version(path, "--no-defaults", "--version")
	if err != nil {
		return "", err
	}
	_, rest, _ := strings.Cut(out, " Ver ")
	version, _, _ := strings.Cut(strings.TrimSpace(rest), "-")
	return "MariaDB " + version, nil
}

// newProcess prepares the process of a server.
func newProcess() (*process.Process, error) { return process.New("mariadb", "mysql") }

// template is the data with which each server begins.
var template = process.Template{New: newProcess, Make: makeData}

// data returns the option that names the folder of a server's data.
func data(p *process.Process) string { return "--datadir=" + filepath.Join(p.Folder, process.Data) }

// makeData makes a database, and a user without a password who has rights to this database only.
func makeData(ctx context.Context, p *process.Process) error {
	install, err := program("mariadb-install-db")
	if err != nil {
		return err
	}
	server, err := program("mariadbd")
	if err != nil {
		return err
	}
	small := "--innodb-log-file-size=4M"
	err = p.Run(ctx, "", install, "--no-defaults", data(p), "--auth-root-authentication-method=normal", "--skip-test-db", small)
	if err != nil {
		return err
	}
	users := []string{
		"DELETE FROM mysql.global_priv WHERE User <> 'mariadb.sys'", "FLUSH PRIVILEGES",
		fmt.Sprintf("CREATE USER %s@'127.0.0.1' IDENTIFIED BY '%s'", administrator, password),
		fmt.Sprintf("GRANT ALL ON *.* TO %s@'127.0.0.1'", administrator),
		"CREATE DATABASE " + database,
		fmt.Sprintf("CREATE USER %s@'127.0.0.1'", database),
		fmt.Sprintf("GRANT ALL ON %[1]s.* TO %[1]s@'127.0.0.1'", database),
	}
	return p.Run(ctx, strings.Join(users, ";\n")+";\n", server, "--no-defaults", data(p), small, "--bootstrap")
}

// settings are settings for a server that does nothing by itself, and whose data may be lost at its end.
var settings = []string{
	"--bind-address=127.0.0.1", "--skip-name-resolve", "--skip-ssl", "--local-infile=0",
	"--innodb-log-file-size=4M", "--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0", "--innodb-buffer-pool-size=8M",
	"--innodb-buffer-pool-dump-at-shutdown=0", "--innodb-buffer-pool-load-at-startup=0", "--innodb-stats-auto-recalc=0",
	"--performance-schema=0", "--key-buffer-size=1M", "--aria-pagecache-buffer-size=1M", "--max-connections=200", "--thread-cache-size=0",
}

// arguments returns the command-line arguments with which a server starts.
func arguments(p *process.Process) []string {
	own := []string{"--no-defaults", data(p), "--port=" + strconv.Itoa(p.Port), "--socket=" + filepath.Join(p.Folder, "socket"), "--tmpdir=" + p.Folder}
	return append(own, settings...)
}
