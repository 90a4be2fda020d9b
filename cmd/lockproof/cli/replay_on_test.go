package cli

import (
	"strings"
	"testing"
)

// TestReplayOnAnother checks that --on must name a server of the kind that the lock uses.
func TestReplayOnAnother(t *testing.T) {
	for _, test := range []struct{ backend, on, address, err string }{
		{"redis", "redis", "", ""},
		{"mariadb", "mariadb", "", ""},
		{"mariadb", "mysql://root@db:3306/", "mysql://root@db:3306/", ""},
		{"postgres", "postgres://db/x", "postgres://db/x", ""},
		{"postgres", "mysql://root@db:3306/", "", "expected --on postgres, an image such as postgres:15, or an address such as postgres://"},
		{"postgres", "postgres:17-alpine", "postgres:17-alpine", ""},
		{"postgres", "postgresql:17", "", "expected --on postgres, an image such as postgres:15"},
		{"consul", "redis:7.4", "", "expected --on consul, an image such as consul:1.20"},
		{"consul", "consul", "", ""},
		{"consul", "http://127.0.0.1:8500", "http://127.0.0.1:8500", ""},
		{"mariadb", "rabbitmq", "", "some-lock stands on MariaDB: expected --on mariadb"},
	} {
		kind := otherOf(test.backend)
		address, err := kind.address("some-lock", test.on)
		if address != test.address || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("--on %s of a lock on %s: %q, %v", test.on, test.backend, address, err)
		}
	}
}
