//go:build unix

package outfile_test

import (
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockproof/lockproof/histories/leftover"
	"github.com/lockproof/lockproof/histories/outfile"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

func write(t *testing.T, path, s string) {
	t.Helper()
	if err := outfile.Try(path); err != nil {
		t.Error(err)
	}
	if err := outfile.Write(path, text(s)); err != nil {
		t.Error(err)
	}
}

func want(t *testing.T, path, s string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != s {
		t.Errorf("%s has %q, expected %q; %v", path, got, s, err)
	}
}

// alone fails where there is something else in a directory.
func alone(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.Contains(" "+strings.Join(names, " ")+" ", " "+e.Name()+" ") {
			t.Errorf("%s is left in %s", e.Name(), dir)
		}
	}
}

// TestWriteFile: a file is replaced whole, by those who may read it, or not at all.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	write(t, path, "first")
	want(t, path, "first")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	write(t, path, "second")
	want(t, path, "second")
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o640 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	broken := errors.New("broken")
	if err := outfile.Write(path, func(w io.Writer) error { w.Write([]byte("half")); return broken }); !errors.Is(err, broken) || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
	want(t, path, "second")
	alone(t, dir, "out")
}

// TestWriteThrough: what is no file stays what it is.
func TestWriteThrough(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	kind := func(name string, mode os.FileMode) {
		t.Helper()
		if info, err := os.Lstat(at(name)); err != nil || info.Mode().Type() != mode {
			t.Errorf("%s became %v: %v", name, info, err)
		}
	}
	write(t, at("file"), "before")
	for _, link := range [][2]string{{"file", "link"}, {"link", "link to a link"}, {"not there yet", "dangling"}, {"/dev/null", "null"}} {
		if err := os.Symlink(link[0], at(link[1])); err != nil {
			t.Fatal(err)
		}
	}
	write(t, at("link to a link"), "after")
	want(t, at("file"), "after")
	kind("link", os.ModeSymlink)
	kind("link to a link", os.ModeSymlink)
	write(t, at("dangling"), "there now")
	want(t, at("not there yet"), "there now")
	kind("dangling", os.ModeSymlink)
	write(t, at("null"), "nowhere")
	kind("null", os.ModeSymlink)
	write(t, "/dev/null", "nowhere")
	if info, err := os.Stat("/dev/null"); err != nil || info.Mode()&os.ModeDevice == 0 {
		t.Fatal("there is no /dev/null any more", err)
	}

	if err := syscall.Mkfifo(at("pipe"), 0o600); err != nil {
		t.Skip("NOT TESTED: pipes:", err)
	}
	read := make(chan string)
	go func() {
		all, _ := os.ReadFile(at("pipe"))
		read <- string(all)
	}()
	write(t, at("pipe"), "through the pipe") // trying it opens nothing, or this would be the second writer
	if got := <-read; got != "through the pipe" {
		t.Errorf("from the pipe came %q", got)
	}
	kind("pipe", os.ModeNamedPipe)
	alone(t, dir, "file", "link", "link to a link", "dangling", "not there yet", "null", "pipe")
}

// TestTry: what can't be written is known before.
func TestTry(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	write(t, file, "")
	for path, why := range map[string]string{
		dir:                                "it is a directory",
		filepath.Join(dir, "missing", "x"): "no such file or directory",
		filepath.Join(file, "x"):           "not a directory",
		"":                                 "no file's name",
		filepath.Join(dir, "new") + "/":    "no file's name",
		"/dev/null/x":                      "not a directory",
	} {
		err := outfile.Try(path)
		if err == nil || !strings.Contains(err.Error(), why) || strings.ContainsAny(err.Error(), "\n") || strings.Contains(err.Error(), ".lockproof-") {
			t.Errorf("trying %q: %v, expected %q", path, err, why)
		}
		if outfile.Write(path, text("")) == nil {
			t.Errorf("%q was written", path)
		}
	}
	for path, why := range map[string]string{filepath.Join(file, "x"): "", file: "is no directory", filepath.Join(dir, "a", "b"): "fine", dir: "fine"} {
		err := outfile.TryDirectory(path)
		if fine := why == "fine"; fine != (err == nil) || !fine && !strings.Contains(err.Error(), why) {
			t.Errorf("trying the directory %q: %v, expected %q", path, err, why)
		}
	}
	alone(t, dir, "file")
	if os.Getuid() == 0 {
		t.Skip("NOT TESTED: what may not be written to: this is run by root, who may write everywhere")
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	if err := outfile.Try(filepath.Join(dir, "new")); !errors.Is(err, os.ErrPermission) {
		t.Error(err)
	}
	write(t, file, "in its place") // the directory takes no new names, but the file can be written to
	want(t, file, "in its place")
}

// TestSweep: what killed runs have left goes, however young it is; what others write at the moment stays, however old it is,
// and so does what no run has named.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	dead, alive := ".outer.lockproof-"+rand.Text(), ".out.lockproof-"+rand.Text()
	others := []string{".out.lockproof-OLD", "out.lockproof-" + rand.Text(), ".out.lockproof-" + rand.Text() + "X"}
	long := time.Now().Add(-48 * time.Hour)
	for _, name := range append([]string{dead, alive}, others...) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if name != dead {
			if err := os.Chtimes(path, long, long); err != nil {
				t.Fatal(err)
			}
		}
	}
	f, err := os.Open(filepath.Join(dir, alive))
	if err != nil {
		t.Fatal(err)
	}
	release, err := leftover.Hold(f)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	write(t, filepath.Join(dir, "out"), "")
	alone(t, dir, append(others, "out", alive)...)
	release()
	write(t, filepath.Join(dir, "out"), "")
	alone(t, dir, append(others, "out")...)
}

// TestWriteNamed: a file whose name is ours is written through no link, be there something at its end or not.
func TestWriteNamed(t *testing.T) {
	dir := t.TempDir()
	victim, dangling, plain := filepath.Join(dir, "victim"), filepath.Join(dir, "dangling"), filepath.Join(dir, "plain")
	if err := os.WriteFile(victim, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	write := func(w io.Writer) error { _, err := io.WriteString(w, "ours"); return err }
	for link, to := range map[string]string{filepath.Join(dir, "one"): victim, filepath.Join(dir, "two"): dangling} {
		if err := os.Symlink(to, link); err != nil {
			t.Skipf("skipped: no links here: %v", err)
		}
		if err := outfile.WriteNamed(link, write); err == nil {
			t.Errorf("%s is written through a link to %s", link, to)
		}
	}
	if data, err := os.ReadFile(victim); err != nil || string(data) != "mine" {
		t.Errorf("the file at the end of a link is %q, %v", data, err)
	}
	if _, err := os.Lstat(dangling); err == nil {
		t.Error("a file is made at the end of a link")
	}
	if err := outfile.WriteNamed(plain, write); err != nil {
		t.Error(err)
	}
}
