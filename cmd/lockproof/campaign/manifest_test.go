package campaign

import (
	"os"
	"path/filepath"
	"testing"
)

// TestTargetsHash checks that the hash of a target changes with its command, with a file that the command names, and
// with a file in Files.
func TestTargetsHash(t *testing.T) {
	dir := t.TempDir()
	program, library := filepath.Join(dir, "adapter.py"), filepath.Join(dir, "locks.py")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(program, "import locks")
	write(library, "print()")
	target := Target{Exec: "python3 '" + program + "' --fast", Files: []string{library}}
	seen := make(map[string]string)
	look := func(what string) {
		t.Helper()
		hash, err := target.hash()
		if err != nil {
			t.Fatal(err)
		}
		if other, there := seen[hash]; there || hash == "" {
			t.Errorf("%s has the hash of %s: %q", what, other, hash)
		}
		seen[hash] = what
	}
	look("the target")
	write(program, "import locks as l")
	look("another program")
	write(library, "print(1)")
	look("another library")
	target.Exec += "er"
	look("another command")
	target.Lock = "mutex"
	look("another type")
	target.Files = []string{filepath.Join(dir, "none")}
	if _, err := target.hash(); err == nil {
		t.Error("a file that is not there has a hash")
	}
}
