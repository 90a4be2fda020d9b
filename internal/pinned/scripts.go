package pinned

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Scripts checks every text file in testdata: play gets a file's text, and returns it with the present results. With
// rewrite the files are written.
func Scripts(t *testing.T, rewrite bool, play func(t *testing.T, script string) string) {
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
			got := play(t, string(data))
			if rewrite {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(data) {
				t.Errorf("%s differs from what comes of it now (rerun with -rewrite to accept):\n%s", file, got)
			}
		})
	}
}
