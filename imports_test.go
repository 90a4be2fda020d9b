package lockproof_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// below are the folders that each folder's packages import, besides their own; "." is the API.
var below = map[string][]string{
	"model":     {},
	"sim":       {"model", "histories"},
	"histories": {"model"},
	"adapters":  {"model", "sim", "histories"},
	".":         {"model", "sim", "histories", "adapters"},
	"cmd":       {"model", "sim", "histories", "adapters", "."},
}

// TestDirection: packages import those of the folders below theirs, and of the adapters only the API and the command
// line import the engine.
func TestDirection(t *testing.T) {
	const module = "github.com/lockproof/lockproof"
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
		from := "."
		if filepath.Dir(path) != "." {
			from, _, _ = strings.Cut(filepath.ToSlash(path), "/")
		}
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if name != module && !strings.HasPrefix(name, module+"/") {
				continue
			}
			to, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(name, module), "/"), "/")
			if to == "" {
				to = "."
			}
			if to == "testdata" && strings.HasSuffix(filepath.Dir(path), "test") {
				continue // a package for tests has the example targets
			}
			if to != from && !slices.Contains(below[from], to) {
				t.Errorf("%s imports %s", path, name)
			}
			if from == "adapters" && !strings.HasPrefix(filepath.ToSlash(path), "adapters/engine/") && strings.HasPrefix(name+"/", module+"/adapters/engine/") {
				t.Errorf("%s imports the engine: only the API and the command line do", path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
