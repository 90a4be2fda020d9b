package lockproof_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// clocks are the functions of package time whose results depend on the moment of the call or on the machine's speed.
var clocks = []string{"Now", "Since", "Until", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick", "Sleep"}

// TestNoClock: the code that runs and judges a scenario reads no clock, so that a seed gives the same verdicts on every
// machine. There are two exceptions: sim/search measures the time since its last checkpoint, and the drawing of a
// picture may be given up after a time limit.
func TestNoClock(t *testing.T) {
	for _, root := range []string{"model", "sim"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case path == filepath.Join("sim", "search"):
				return fs.SkipDir
			case !d.IsDir() && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
				noClock(t, path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func noClock(t *testing.T, path string) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		pkg, _ := sel.X.(*ast.Ident)
		switch {
		case pkg == nil:
		case pkg.Name == "time" && slices.Contains(clocks, sel.Sel.Name),
			pkg.Name == "porcupine" && strings.HasSuffix(sel.Sel.Name, "Timeout"):
			t.Errorf("%s: %s.%s depends on the machine", fset.Position(n.Pos()), pkg.Name, sel.Sel.Name)
		}
		return true
	})
}
