//go:build linux

package rabbitmq

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A program in another root sees its node's folder at the same path as outside. Files that it writes elsewhere do not
// remain.
func TestInRoot(t *testing.T) {
	dir, beside := t.TempDir(), filepath.Join(os.TempDir(), "lockproof-beside")
	p := Programs{Server: "/bin/sh", Root: "/"}
	script := filepath.Join(dir, "script")
	text := "#!/bin/sh\npwd\necho written > here\necho written > " + beside + "\n"
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	out, err := p.command(script, dir).CombinedOutput()
	if err != nil && (strings.Contains(string(out), "unshare") || strings.Contains(string(out), "permitted")) {
		t.Skipf("NOT TESTED: namespaces cannot be made here: %v; %s", err, out)
	}
	if err != nil || strings.TrimSpace(string(out)) != dir {
		t.Errorf("%v; it said %q", err, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "here")); err != nil {
		t.Error("what it writes into its folder is not there: ", err)
	}
	if _, err := os.Stat(beside); err == nil {
		t.Errorf("%s was written outside of its folder", beside)
		_ = os.Remove(beside)
	}
}

// FindPrograms accepts an unpacked archive or the root of a file system.
func TestFindPrograms(t *testing.T) {
	program := func(path ...string) string {
		folder := t.TempDir()
		file := filepath.Join(append([]string{folder}, path...)...)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return folder
	}
	root := program("usr", "lib", "rabbitmq", "bin", "rabbitmq-server")
	p, err := FindPrograms(root)
	if err != nil || p.Root != root || p.Place() != filepath.Join(root, "usr/lib/rabbitmq/bin/rabbitmq-server") || strings.Contains(p.path(), root) {
		t.Errorf("a system: %+v, %v", p, err)
	}
	if _, err := FindPrograms(t.TempDir()); err == nil || !strings.Contains(err.Error(), "or the root of a file system") {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := exec.LookPath("epmd"); err != nil {
		t.Skip("NOT TESTED with an archive: no Erlang is installed")
	}
	archive := program("sbin", "rabbitmq-server")
	if p, err := FindPrograms(archive); err != nil || p.Root != "" || p.Place() != filepath.Join(archive, "sbin/rabbitmq-server") {
		t.Errorf("an archive: %+v, %v", p, err)
	}
}
