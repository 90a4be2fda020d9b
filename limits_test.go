package lockproof_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// limit matches the names of constants that say how many things there may be.
var limit = regexp.MustCompile(`^([Mm]ax|[Mm]ost|[Ll]east|[Ll]imit)[A-Z]\w*$`)

// noLimits are constants whose names match limit although they are no limits, such as the name of a property.
var noLimits = []string{"LimitRespected"}

// TestOneLimit: no two packages define a limit with the same name. A package that needs another's limit refers to it.
func TestOneLimit(t *testing.T) {
	defined := make(map[string]string) // by lower-case name: the defining file
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || len(d.Name()) > 1 && d.Name()[0] == '.'):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			g, ok := decl.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, spec := range g.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					key := strings.ToLower(name.Name)
					if !limit.MatchString(name.Name) || slices.Contains(noLimits, name.Name) {
						continue
					}
					if before := defined[key]; before != "" {
						t.Errorf("%s: %s is defined in %s as well: use that, or say in the name of what it is the limit", fset.Position(name.Pos()), name.Name, before)
						continue
					}
					defined[key] = filepath.ToSlash(path)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(defined) < 10 {
		t.Errorf("only %d limits were found: the test looks at less than it seems to", len(defined))
	}
}
