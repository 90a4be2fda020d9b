//go:build unix

package subprocess

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCommandOf: a program is started without a shell if a shell would only start the program.
func TestCommandOf(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"adapter", "notes"} {
		mode := map[string]os.FileMode{"adapter": 0o755, "notes": 0o644}[name]
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	adapter := filepath.Join(dir, "adapter")
	for line, path := range map[string]string{
		adapter + " -x a=b  c":        adapter,
		"./adapter":                   adapter,
		"./notes":                     "/bin/sh",
		"no-such-program 1":           "/bin/sh",
		"exec " + adapter:             "/bin/sh",
		"X=1 " + adapter:              "/bin/sh",
		adapter + " $HOME":            "/bin/sh",
		adapter + " 'a b'":            "/bin/sh",
		adapter + " | cat":            "/bin/sh",
		adapter + " *.go":             "/bin/sh",
		"cd " + dir + " && ./adapter": "/bin/sh",
		adapter + "\n" + adapter:      "/bin/sh",
		"":                            "/bin/sh",
	} {
		if cmd := commandOf(line, dir); cmd.Path != path {
			t.Errorf("%q runs %s, not %s", line, cmd.Path, path)
		}
	}
	if cmd := commandOf(adapter+" -x a=b  c", ""); len(cmd.Args) != 4 || cmd.Args[2] != "a=b" {
		t.Errorf("its arguments are %q", cmd.Args)
	}
}

// TestScript: a script without a line that names its interpreter is run by the shell.
func TestScript(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "script"), []byte("exit 7\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	c, err := startChild("./script", dir, os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	<-c.ended
	c.release()
	if c.how != "exit status 7" {
		t.Errorf("it ended with %s", c.how)
	}
}
