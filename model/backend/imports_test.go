package backend_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestWhoKnowsAMQP lists the packages that see AMQP's commands, machines and broker: AMQP's own. Others know exchanges only;
// a file backends.go may name any backend.
func TestWhoKnowsAMQP(t *testing.T) {
	const module, root = "github.com/lockproof/lockproof", "../.."
	of := []string{
		"adapters/protocol", "adapters/rabbitmq", "adapters/wire", "model/amqp", "sim/amqp", "sim/broker", "sim/consumption",
		"adapters/orders",         // says which of their commands depend on one another
		"adapters/foreign",        // is to replace it
		"adapters/external",       // runs scenarios on clients of a broker, behind adapters/wire's gate
		"histories/historiestest", // traces for tests
		"cmd/lockproof/cli",       // `lockproof broker` is the simulated RabbitMQ
	}
	amqp := []string{"/model/amqp", "/sim/amqp", "/sim/broker"}
	know := make(map[string]bool)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || len(d.Name()) > 2 && d.Name()[0] == '.'):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || d.Name() == "backends.go":
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, i := range f.Imports {
			name, _ := strconv.Unquote(i.Path.Value)
			if slices.ContainsFunc(amqp, func(p string) bool { return name == module+p || strings.HasPrefix(name, module+p+"/") }) {
				dir, err := filepath.Rel(root, filepath.Dir(path))
				if err != nil {
					return err
				}
				know[filepath.ToSlash(dir)] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range slices.Sorted(maps.Keys(know)) {
		inside := func(p string) bool { return dir == p || strings.HasPrefix(dir, p+"/") }
		if !slices.ContainsFunc(of, inside) {
			t.Errorf("%s imports AMQP: what a command was is told by backend.Exchange", dir)
		}
	}
	for _, p := range of {
		if p != "model/amqp" && !slices.ContainsFunc(slices.Collect(maps.Keys(know)), func(dir string) bool { return dir == p || strings.HasPrefix(dir, p+"/") }) {
			t.Errorf("%s does not import model/amqp any more: take it off the list", p)
		}
	}
}
