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

// TestWhoKnowsAMQP lists the packages that see AMQP's commands. Those of AMQP's own may; the others are to come to know
// exchanges only, so that none may be added to them.
func TestWhoKnowsAMQP(t *testing.T) {
	const module, root = "github.com/lockproof/lockproof", "../.."
	of := []string{
		"adapters/protocol", "adapters/rabbitmq", "adapters/wire", "model/amqp", "model/lock", "sim/amqp", "sim/broker", // AMQP's own
		"adapters/external", "histories/historiestest",
	}
	know := make(map[string]bool)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || len(d.Name()) > 2 && d.Name()[0] == '.'):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, i := range f.Imports {
			if name, _ := strconv.Unquote(i.Path.Value); name == module+"/model/amqp" {
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
			t.Errorf("%s imports model/amqp: what a command was is told by backend.Exchange", dir)
		}
	}
	for _, p := range of {
		if p != "model/amqp" && !slices.ContainsFunc(slices.Collect(maps.Keys(know)), func(dir string) bool { return dir == p || strings.HasPrefix(dir, p+"/") }) {
			t.Errorf("%s does not import model/amqp any more: take it off the list", p)
		}
	}
}
