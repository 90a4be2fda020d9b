// Package historiestest has what the tests of records, diagrams and reports share: expected output, and executions made
// by hand.
package historiestest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the expected output in testdata")

// Rewriting reports whether expected output is to be taken as it is, and not compared.
func Rewriting() bool { return *rewrite }

// Golden compares output with a file of testdata/histories.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join(testdata(t), "histories", name)
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range gotLines {
		if line := lineOf(wantLines, i); gotLines[i] != line {
			t.Fatalf("%s:%d: got\n%s\nwant\n%s\n(go test -rewrite takes it as it is)", path, i+1, gotLines[i], line)
		}
	}
	t.Fatalf("%s: got %d lines, want %d", path, len(gotLines), len(wantLines))
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

func lineOf(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}
