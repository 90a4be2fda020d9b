package lockproof_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// opening are functions that read a file without a limit on its size.
var opening = []string{
	"os.Open", "os.OpenFile", "os.ReadFile", "ioutil.ReadFile", "tls.LoadX509KeyPair",
	"nats.UserCredentials", "nats.NkeyOptionFromSeed", "nats.ClientCert", "nats.RootCAs",
}

// notNamed are the files and folders that open no file named by a user, each with what they open instead.
var notNamed = map[string]string{
	"histories/infile":                      "opens the others' files",
	"histories/outfile":                     "writes",
	"internal/pinned":                       "files of tests",
	"adapters/engine/gated/load.go":         "the system's",
	"histories/leftover":                    "its own",
	"adapters/subprocess":                   "the system's, of processes",
	"adapters/amqp/cluster":                 "what a node of ours has printed",
	"adapters/gate/clock":                   "the system's, of threads, and what was built here",
	"adapters/amqp/rabbitmq/node_config.go": "what a node of ours has logged",
	"adapters/gate/process/process.go":      "what a server of ours has logged",
	"adapters/sql/plugin/mariadb/rest.go":   "the system's, of processes",
	"adapters/sql/plugin/postgres/rest.go":  "the system's, of processes",
	"cmd/lockproof/cli/memory_linux.go":     "the system's",
	"cmd/lockproof/cli/output.go":           "writes the summary",
	"cmd/lockproof/campaign/queue":          "claims a directory by a file of its own",
	"cmd/lockproof/explorer/program":        "what was built here",
	"cmd/lockproof/explorer/program/embed":  "what was built here",
}

// TestInputsAreBounded: a file that a user names is opened by package infile only, which limits its size.
func TestInputsAreBounded(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		path = filepath.ToSlash(path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || len(d.Name()) > 1 && d.Name()[0] == '.'):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || notNamed[path] != "" || notNamed[filepath.ToSlash(filepath.Dir(path))] != "":
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if from, ok := selector.X.(*ast.Ident); ok {
				for _, name := range opening {
					if from.Name+"."+selector.Sel.Name == name {
						t.Errorf("%s: %s: what a user names is opened by package infile", files.Position(n.Pos()), name)
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
