package databases_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/bound/boundtest"
	"github.com/lockproof/lockproof/adapters/databases"
)

// mariaGreeting is what a MariaDB says first, and mariaOK that a command was carried out.
const (
	mariaGreeting = "\x5a\x00\x00\x00\x0a5.5.5-10.11.6-MariaDB\x00\x1e\x00\x00\x00aaaaaaaa\x00\xfe\xf7\x2d\x02\x00\xff\x81\x15\x00\x00\x00\x00\x00\x00\x1d\x00\x00\x00bbbbbbbbbbbb\x00mysql_native_password\x00"
	mariaOK       = "\x07\x00\x00\x02\x00\x00\x00\x02\x00\x00\x00"
)

// What a PostgreSQL says that takes us, and rows of a text.
const (
	postgresReady = "R\x00\x00\x00\x08\x00\x00\x00\x00Z\x00\x00\x00\x05I"
	postgresRows  = "T\x00\x00\x00\x1e\x00\x01version\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x19\xff\xff\xff\xff\xff\xff\x00\x00"
	postgresRow   = "D\x00\x00\x00\x0b\x00\x01\x00\x00\x00\x01x"
)

// TestHostile: a server that is silent, dribbles or never ends is given up, in bounded time and memory.
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
