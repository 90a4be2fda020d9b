package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestBuild checks which modules a first build of lockproof compiles, besides Go's standard library. Each listed module
// was accepted deliberately. A library that contains a server, or a client of a container engine, would double the
// build time of about a minute.
func TestBuild(t *testing.T) {
	known := []string{
		"github.com/lockproof/lockproof", "github.com/anishathalye/porcupine", "github.com/go-json-experiment/json", "github.com/rabbitmq/amqp091-go",
		"github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/sys", "golang.org/x/term", "go.yaml.in/yaml/v3",
		"github.com/redis/go-redis/v9", "github.com/cespare/xxhash/v2", "go.uber.org/atomic", // replay --on redis://
		// for replay --on mysql:// and postgres://
		"github.com/go-sql-driver/mysql", "filippo.io/edwards25519", "github.com/jackc/pgx/v5", "github.com/jackc/pgpassfile",
		"github.com/jackc/pgservicefile", "github.com/jackc/puddle/v2", "golang.org/x/sync", "golang.org/x/text",
		"golang.org/x/net/http2/hpack", // small; finds the method of an etcd command in its HTTP/2 headers
		"golang.org/x/crypto",          // recognises queue names that are a BLAKE2 hash of the lock's name
	}
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Skip("NOT TESTED: go list: ", err)
	}
packages:
	for _, path := range strings.Fields(string(out)) {
		for _, module := range known {
			if path == module || strings.HasPrefix(path, module+"/") {
				continue packages
			}
		}
		t.Errorf("%s is compiled for every first command: is it worth it?", path)
	}
	std, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, heavy := range []string{"go/types", "testing"} {
		for _, path := range strings.Fields(string(std)) {
			if path == heavy {
				t.Errorf("%s is compiled for every first command: is it worth it?", path)
			}
		}
	}
}
