package pinned

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "take what tests come to as it is, and write it into testdata")

// Rewriting reports whether -rewrite was given: files are written, not compared.
func Rewriting() bool { return *rewrite }

// Text compares a text with the file at path or, with -rewrite, writes the file. If they differ, the test fails and
// prints the differing lines.
func Text(t *testing.T, path, got string) {
	t.Helper()
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
	if got != string(want) {
		t.Errorf("%s differs (go test -rewrite takes it as it is):\n%s", path, Difference(string(want), got))
	}
}

// Scripts runs a test for every text file in testdata. play gets the file's text, and returns it with the present
// results in place of the old ones.
func Scripts(t *testing.T, play func(t *testing.T, script string) string) {
	files, _ := filepath.Glob("testdata/*.txt")
	if len(files) == 0 {
		t.Fatal("no scripts in testdata")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			Text(t, file, play(t, string(data)))
		})
	}
}
