package databases_test

import (
	gosql "database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/model/sql"
)

// private is a MariaDB server that a test has started, with its files in a temporary folder. It has no accounts, and
// listens on loopback.
type private struct {
	program string
	dir     string
	id      int
	port    int
	command *exec.Cmd
}

// startPrivate starts an empty MariaDB server. It skips the test if MariaDB is not installed.
func startPrivate(t *testing.T, id int) *private {
	t.Helper()
	program, err := exec.LookPath("mariadbd")
	if err != nil {
		program, err = exec.LookPath("/usr/sbin/mariadbd") // only root has this folder in its PATH
	}
	if err != nil {
		t.Skipf("what becomes of leases when their server dies takes MariaDB's mariadbd, two of them: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &private{program: program, dir: t.TempDir(), id: id, port: l.Addr().(*net.TCPAddr).Port}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	p.boot(t)
	t.Cleanup(p.kill)
	return p
}

func (p *private) boot(t *testing.T) {
	t.Helper()
	p.command = exec.Command(p.program, "--no-defaults", "--skip-grant-tables", "--skip-name-resolve", "--bind-address=127.0.0.1",
		fmt.Sprintf("--port=%d", p.port), "--datadir="+p.dir, "--socket="+filepath.Join(p.dir, "socket"), "--pid-file="+filepath.Join(p.dir, "pid"),
		fmt.Sprintf("--server-id=%d", p.id), "--log-bin=bin", "--innodb-log-file-size=4M", "--innodb-buffer-pool-size=8M")
	if os.Getuid() == 0 {
		p.command.Args = append(p.command.Args, "--user=root")
	}
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
}

// kill kills the server's process.
func (p *private) kill() {
	_ = p.command.Process.Kill() // the process may have ended already
	_ = p.command.Wait()         // Wait's error says that the process was killed
}

// conn waits until the server answers, and returns a connection to it.
func (p *private) conn(t *testing.T) *gosql.Conn {
	t.Helper()
	pool, err := gosql.Open("mysql", fmt.Sprintf("root@tcp(127.0.0.1:%d)/", p.port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() }) // an error is ignored, as the server may be dead
	for end := time.Now().Add(2 * patience); ; time.Sleep(10 * time.Millisecond) {
		c, err := pool.Conn(t.Context())
		if err == nil {
			return c
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// do carries out statements, and fails the test if one fails.
func do(t *testing.T, c *gosql.Conn, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := c.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// number returns the result of a query that returns one number.
func number(t *testing.T, c *gosql.Conn, query string) (n int) {
	t.Helper()
	if err := c.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// take acquires a lock whose master row is locked first. It returns the number of leases before the insertion of the
// new one.
func take(t *testing.T, c *gosql.Conn, lease sql.Command) int {
	t.Helper()
	text := func(c sql.Command) string { return c.Text(sql.MariaDB, 1) }
	do(t, c, text(begin), text(lockMaster))
	n := number(t, c, text(countAll))
	do(t, c, text(lease), text(commit))
	return n
}

// copying makes a server replicate another one, and waits until it has the other's data. It creates the tables that
// replication needs, since a private server lacks them.
func copying(t *testing.T, from *private, to *gosql.Conn) {
	t.Helper()
	do(t, to, "CREATE DATABASE mysql", "CREATE TABLE mysql.gtid_slave_pos (domain_id INT UNSIGNED, sub_id BIGINT UNSIGNED, server_id INT UNSIGNED NOT NULL, seq_no BIGINT UNSIGNED NOT NULL, PRIMARY KEY (domain_id, sub_id)) ENGINE=InnoDB",
		fmt.Sprintf("CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = %d, MASTER_USER = 'root', MASTER_LOG_FILE = 'bin.000001', MASTER_LOG_POS = 4", from.port), "START SLAVE")
	for end := time.Now().Add(2 * patience); number(t, to, "SELECT count(*) FROM information_schema.tables WHERE table_name = 'complete'") == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the copy does not get what the other has")
		}
	}
}

// A server that dies keeps committed rows, and frees row locks and GET_LOCK (M16). Its asynchronous copy does not
// know the last grants: once promoted, it grants them again, within their leases (M17).
func TestFailover(t *testing.T) {
	one, other := startPrivate(t, 1), startPrivate(t, 2)
	holder, copied := one.conn(t), other.conn(t)
	do(t, holder, "CREATE DATABASE locks", "USE locks")
	do(t, holder, append(sql.Schema(sql.MariaDB), "INSERT INTO masters VALUES (1, 0, NULL, NULL)", "CREATE TABLE complete (nothing INT)")...)
	copying(t, one, copied)
	do(t, copied, "STOP SLAVE") // the copy lags from now on, as it may at any time
	if n := take(t, holder, lease5); n != 0 {
		t.Fatalf("%d leases of a lock that is free", n)
	}
	hold := func(c *gosql.Conn) {
		t.Helper()
		if do(t, c, "USE locks", "BEGIN"); number(t, c, strings.Replace(lockMaster.Text(sql.MariaDB, 1), "FOR UPDATE", "FOR UPDATE NOWAIT", 1)) != 0 || number(t, c, "SELECT GET_LOCK('jobs', 0)") != 1 {
			t.Error("the master row's number or GET_LOCK is another")
		}
	}
	hold(holder)
	one.kill()

	do(t, copied, "RESET SLAVE ALL", "USE locks")
	if n := take(t, copied, lease6); n != 0 {
		t.Errorf("the copy knows of %d leases", n)
	}
	hold(copied)

	one.boot(t)
	again := one.conn(t)
	hold(again)
	if n := number(t, again, countAll.Text(sql.MariaDB, 1)); n != 1 {
		t.Errorf("after its death the server knows of %d leases, expected 1", n)
	}
}
