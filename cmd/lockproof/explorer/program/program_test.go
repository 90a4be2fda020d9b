package program

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestNoFoldersSources checks a program that was built with trimmed paths. It must not use sources from a folder only
// because that folder's go.mod has this module's name.
func TestNoFoldersSources(t *testing.T) {
	t.Chdir(t.TempDir())
	const file = "github.com/lockproof/lockproof/cmd/lockproof/explorer/program/program.go"
	for _, path := range []string{file, "cmd/lockproof/explorer/program/program.go"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("package program\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("go.mod", []byte("module github.com/lockproof/lockproof\n\ngo 1.26\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if dir, err := sourcesOf(file); err == nil {
		t.Errorf("%s is taken for our sources", dir)
	}
}
