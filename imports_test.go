package lockproof_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/lockproof/lockproof"

// below says, for each top-level folder, from which other folders its packages may import; "." is the API. Packages in
// internal only serve tests, and may import any.
var below = map[string][]string{
	"model":     {},
	"sim":       {"model", "histories"},
	"histories": {"model"},
	"adapters":  {"model", "sim", "histories"},
	".":         {"model", "sim", "histories", "adapters"},
	"cmd":       {"model", "sim", "histories", "adapters", "."},
}

// TestDirection: packages import only packages of the folders in below. Within adapters, only the engine imports the
// engine.
func TestDirection(t *testing.T) {
	for path, imported := range imports(t) {
		from := folder(filepath.Dir(path), 1)
		if from == "internal" {
			continue
		}
		for _, name := range imported {
			if to := folder(name, 1); to != from && !slices.Contains(below[from], to) {
				t.Errorf("%s imports %s", path, name)
			}
			if from == "adapters" && folder(path, 2) != "adapters/engine" && folder(name, 2) == "adapters/engine" {
				t.Errorf("%s imports the engine: only the API and the command line do", path)
			}
		}
	}
}

// servers are the kinds of servers. For each, model/NAME has the commands and the locks, sim/NAME the simulated server and
// its targets, and adapters/NAME real servers.
var servers = []string{"amqp", "consul", "redis", "sql"}

// served are the kinds of server that lockproof has no locks for. Only external clients use them, through a plug-in of
// the gate in adapters/NAME.
var served = []string{"etcd", "tcp", "zookeeper"}

// knowing are, by kind of server, the packages outside of its folders that may import its packages.
var knowing = map[string][]string{
	"amqp": {
		"adapters/protocol",
		"adapters/orders",               // decides which commands depend on one another
		"adapters/foreign/clientstress", // runs external clients on a real broker all at once
		"adapters/engine",               // runs Stress and replays on a real broker
		"adapters/subprocess",
		"cmd/lockproof/cli", // has the commands that serve a simulated server
		".",
	},
	"consul":    {"cmd/lockproof/cli", "cmd/lockproof/servers", "adapters/engine/gated"}, // gated links its plug-in
	"etcd":      {"adapters/engine/gated"},
	"redis":     {"cmd/lockproof/servers", "cmd/lockproof/cli", "adapters/engine/gated"}, // gated links its plug-in
	"tcp":       {"adapters/engine/gated"},
	"zookeeper": {"adapters/engine/gated"},
	"sql":       {"cmd/lockproof/servers/linked", "adapters/engine/gated"},
}

// TestServers: the packages of a kind of server are imported only by its own folders, by the packages in knowing, and
// by files called backends.go. Other packages use backend.Exchange.
func TestServers(t *testing.T) {
	known := make(map[string]bool)
	for path, imported := range imports(t) {
		dir := filepath.ToSlash(filepath.Dir(path))
		if folder(path, 1) == "internal" || filepath.Base(path) == "backends.go" {
			continue
		}
		for _, name := range imported {
			server := serverOf(name)
			if server == "" || server == serverOf(dir) {
				continue
			}
			i := slices.IndexFunc(knowing[server], func(p string) bool { return dir == p || strings.HasPrefix(dir, p+"/") })
			if i < 0 {
				t.Errorf("%s imports %s: what a command was is told by backend.Exchange", path, name)
				continue
			}
			known[server+" "+knowing[server][i]] = true
		}
	}
	for _, server := range slices.Concat(servers, served) {
		for _, p := range knowing[server] {
			if !known[server+" "+p] {
				t.Errorf("%s imports nothing of %s any more: take it off the list", p, server)
			}
		}
		of := []string{"adapters"}
		if slices.Contains(servers, server) {
			of = []string{"model", "sim", "adapters"}
		}
		for _, of := range of {
			if info, err := os.Stat(filepath.Join(of, server)); err != nil || !info.IsDir() {
				t.Errorf("there is no folder %s/%s", of, server)
			}
		}
	}
}

// TestForeign: the packages that run external clients import no package of a kind of server.
func TestForeign(t *testing.T) {
	for path, imported := range imports(t) {
		if dir := filepath.ToSlash(filepath.Dir(path)); dir != "adapters/foreign" && dir != "adapters/gate" {
			continue
		}
		for _, name := range imported {
			if serverOf(name) != "" {
				t.Errorf("%s imports %s", path, name)
			}
		}
	}
}

// TestContainers: only lockproof-servers and tests link adapters/container/docker, since it has many dependencies.
func TestContainers(t *testing.T) {
	for path, imported := range imports(t) {
		if folder(path, 1) != "internal" && folder(path, 2) != "cmd/lockproof-servers" && slices.Contains(imported, "adapters/container/docker") {
			t.Errorf("%s imports adapters/container/docker: only cmd/lockproof-servers does; others are given a container.Starter", path)
		}
	}
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".", "./cmd/lockproof", "./cmd/lockproof-campaign").Output()
	if err != nil {
		t.Skip("NOT TESTED: go list: ", err)
	}
	for path := range strings.FieldsSeq(string(out)) {
		if strings.HasPrefix(path, "github.com/testcontainers/") || strings.HasPrefix(path, "github.com/moby/") {
			t.Errorf("%s is linked by a program that starts no containers", path)
		}
	}
}

// serverOf is the kind of server to which the folder dir belongs, "" for none.
func serverOf(dir string) string {
	at := folder(dir, 2)
	for _, server := range slices.Concat(servers, served) {
		if at == "model/"+server || at == "sim/"+server || at == "adapters/"+server {
			return server
		}
	}
	return ""
}

// folder is the path's first elements, at most depth of them.
func folder(path string, depth int) string {
	parts := strings.Split(filepath.ToSlash(path), "/")
	return strings.Join(parts[:min(depth, len(parts))], "/")
}

// imports are, by file, the packages of this module that it imports; "." is the API. Test files are left out.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	all := make(map[string][]string)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || len(d.Name()) > 1 && d.Name()[0] == '.'):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if name == module {
				all[path] = append(all[path], ".")
			} else if inside, ok := strings.CutPrefix(name, module+"/"); ok {
				all[path] = append(all[path], inside)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
