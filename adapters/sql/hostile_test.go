package databases_test

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/sql"
	"github.com/lockproof/lockproof/internal/boundtest"
)

// mariaGreeting is the greeting of a MariaDB server. mariaOK is its reply to a successful command.
const (
	mariaGreeting = "\x59\x00\x00\x00\x0a5.5.5-10.11.6-MariaDB\x00\x1e\x00\x00\x00aaaaaaaa\x00\xfe\xf7\x2d\x02\x00\xff\x81\x15\x00\x00\x00\x00\x00\x00\x1d\x00\x00\x00bbbbbbbbbbbb\x00mysql_native_password\x00"
	mariaOK       = "\x07\x00\x00\x02\x00\x00\x00\x02\x00\x00\x00"
)

// Messages of a PostgreSQL server: it accepts a client, describes a column of text, and sends a row.
const (
	postgresReady = "R\x00\x00\x00\x08\x00\x00\x00\x00Z\x00\x00\x00\x05I"
	postgresRows  = "T\x00\x00\x00\x1e\x00\x01version\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x19\xff\xff\xff\xff\xff\xff\x00\x00"
	postgresRow   = "D\x00\x00\x00\x0b\x00\x01\x00\x00\x00\x01x"
)

// TestHostile: if a server is silent, sends very slowly or never stops sending, At fails in bounded time and memory.
func TestHostile(t *testing.T) {
	for scheme, all := range map[string][]boundtest.Hostile{
		"mysql":    append(boundtest.All(mariaGreeting, mariaOK), boundtest.Hostile{Name: "packets of 16 MB", Greeting: mariaGreeting, Endless: "\xff\xff\xff\x02" + strings.Repeat("x", 1<<24-1), Asked: true}),
		"postgres": append(boundtest.All(postgresReady, postgresRow), boundtest.Hostile{Name: "rows", Greeting: postgresReady + postgresRows, Endless: postgresRow, Asked: true}, boundtest.Hostile{Name: "a message of 2 GB", Greeting: "R\x7f\xff\xff\xff", Endless: "x"}),
	} {
		t.Run(scheme, func(t *testing.T) {
			boundtest.Refused(t, all, time.Minute, func(address string) error {
				_, err := databases.At(t.Context(), scheme+"://root:marked@"+address+"/?sslmode=disable")
				return err
			})
		})
	}
}

// TestTooManyColumns: the driver allocates memory for all columns of a MariaDB result before they arrive. A
// connection on which a result announces too many is closed, even if the bytes arrive in small pieces, and the error
// names the maximum.
func TestTooManyColumns(t *testing.T) {
	for _, c := range []struct {
		header, says string
		piece        int
	}{
		{"\x09\x00\x00\x01\xfe\x00\x00\x00\x00\x00\x01\x00\x00", "announced 1099511627776 columns", 64},
		{"\x09\x00\x00\x01\xfe\x00\x00\x00\x00\x00\x01\x00\x00", "announced 1099511627776 columns", 1},
		{"\x04\x00\x00\x01\xfd\xff\xff\xff", "announced 16777215 columns", 3},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				buf := make([]byte, 1<<12)
				for _, message := range []string{mariaGreeting, mariaOK, c.header} {
					for ; message != ""; message = message[min(c.piece, len(message)):] {
						_, _ = io.WriteString(conn, message[:min(c.piece, len(message))]) // the client may be gone
					}
					_, _ = conn.Read(buf)
				}
				_ = conn.Close()
			}
		}()
		_, err = databases.At(t.Context(), "mysql://root@"+l.Addr().String()+"/")
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "at most 65536") {
			t.Errorf("%q in pieces of %d: %v", c.header, c.piece, err)
		}
	}
}
