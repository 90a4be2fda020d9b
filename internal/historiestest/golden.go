// Package historiestest has what the tests of records, diagrams and reports share: expected output, and executions made
// by hand.
package historiestest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lockproof/lockproof/internal/pinned"
)

// Golden compares output with a file of testdata/histories.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	pinned.Text(t, filepath.Join(testdata(t), "histories", name), got)
}

// testdata is the module's directory of that name.
func testdata(t *testing.T) string {
	t.Helper()
	dir := ".."
	for range 3 {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "testdata")
		}
		dir = filepath.Join("..", dir)
	}
	t.Fatal("go.mod is not above the test's directory")
	return ""
}
