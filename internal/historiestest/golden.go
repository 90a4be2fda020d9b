// Package historiestest has helpers for the tests of histories, diagrams and reports: comparison with expected
// output, and hand-written executions.
package historiestest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lockproof/lockproof/internal/pinned"
)

// Golden compares a text with the file of that name in testdata/histories.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	pinned.Text(t, filepath.Join(testdata(t), "histories", name), got)
}

// testdata returns the path of the module's testdata directory.
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
