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
	if err := (outfile.Place{Path: path}).Try(); err != nil {
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

// alone fails the test if a directory contains anything but the named files.
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

// TestWriteFile: a file is replaced as a whole or not at all, and keeps its permissions.
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

// TestWriteThrough: writing to a device, a pipe or a link does not replace it by a regular file.
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
	write(t, at("pipe"), "through the pipe") // Try must not open the pipe, or its reader would see two writers
	if got := <-read; got != "through the pipe" {
		t.Errorf("from the pipe came %q", got)
	}
	kind("pipe", os.ModeNamedPipe)
	if err := outfile.Write(at("pipe"), text("nobody reads this")); err == nil || !strings.Contains(err.Error(), "nobody reads") {
		t.Errorf("writing to a pipe that nobody reads: %v", err)
	}
	alone(t, dir, "file", "link", "link to a link", "dangling", "not there yet", "null", "pipe")
}

// TestTry: Try reports why a path cannot be written, and writing it then fails.
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
		err := outfile.Place{Path: path}.Try()
		if err == nil || !strings.Contains(err.Error(), why) || strings.ContainsAny(err.Error(), "\n") || strings.Contains(err.Error(), ".lockproof-") {
			t.Errorf("trying %q: %v, expected %q", path, err, why)
		}
		if outfile.Write(path, text("")) == nil {
			t.Errorf("%q was written", path)
		}
	}
	for path, why := range map[string]string{filepath.Join(file, "x"): "", file: "is no directory", filepath.Join(dir, "a", "b"): "fine", dir: "fine"} {
		err := outfile.Place{Path: path}.TryFolder()
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
	if err := (outfile.Place{Path: filepath.Join(dir, "new")}).Try(); !errors.Is(err, os.ErrPermission) {
		t.Error(err)
	}
	write(t, file, "in its place") // no file can be created in the directory, but the file can be written
	want(t, file, "in its place")
}

// TestSweep: temporary files of killed runs are deleted, even new ones. Files of live runs stay, even old ones, and so
// do files with other names.
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

// TestPlaceInFolder: a file with a Folder is written inside that folder. It is not written through a link that leads
// out of the folder, and the file at the link's end is unchanged.
func TestPlaceInFolder(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	victim := filepath.Join(outside, "victim")
	write(t, victim, "theirs")
	if err := os.Mkdir(at("real"), 0o755); err != nil {
		t.Fatal(err)
	}
	for to, link := range map[string]string{
		victim: "link", filepath.Join(outside, "missing"): "dangling", outside: "folder", filepath.Join(outside, "new"): "danglingfolder", "real": "inside", "real/x": "linkinside",
	} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"link", "dangling", "folder/victim", "folder/new", "danglingfolder/x", "../x", "linkinside", "folder/../../x", "real"} {
		p := outfile.Place{Path: dir + "/" + name, Folder: dir}
		for what, err := range map[string]error{"Try": p.Try(), "Check": p.Check(), "Write": p.Write(text("ours")), "Append": p.Append(text("ours"))} {
			if err == nil || strings.ContainsAny(err.Error(), "\n") {
				t.Errorf("%s of %s: %v", what, name, err)
			}
		}
		if err := p.MoveTo(outfile.Place{Path: at("moved")}); err == nil {
			t.Errorf("%s was moved", name)
		}
	}
	for _, name := range []string{"folder", "danglingfolder", "folder/x", "danglingfolder/x/y", "../x"} {
		p := outfile.Place{Path: dir + "/" + name, Folder: dir}
		if name != "folder" && p.Make() == nil {
			t.Errorf("%s was made", name)
		}
		if p.TryFolder() == nil {
			t.Errorf("%s would be written to", name)
		}
	}
	want(t, victim, "theirs")
	alone(t, outside, "victim")

	made := outfile.Place{Path: at("inside/a/b"), Folder: dir}
	if err := errors.Join(made.TryFolder(), made.Make(), made.Make(), made.TryFolder(), outfile.Place{Path: dir, Folder: dir}.Make()); err != nil {
		t.Error(err)
	}
	p := outfile.Place{Path: at("inside/a/b/file"), Folder: dir}
	if err := errors.Join(p.Try(), p.Check(), p.Write(text("first")), p.Write(text("second")), p.Append(text(" third"))); err != nil {
		t.Error(err)
	}
	want(t, at("real/a/b/file"), "second third")
	for _, to := range []string{"folder/file", "../file", "folder", "link"} {
		if err := p.MoveTo(outfile.Place{Path: dir + "/" + to}); err == nil {
			t.Errorf("it was moved to %s", to)
		}
	}
	want(t, victim, "theirs")
	if err := p.MoveTo(outfile.Place{Path: at("inside/a/c/moved")}); err != nil {
		t.Error(err)
	}
	want(t, at("real/a/c/moved"), "second third")
	alone(t, at("real/a/c"), "moved")
}

// TestUp: a path in which ".." follows a missing name or a link is resolved as the system does, or refused. The file
// that the path's text seems to name is not changed.
func TestUp(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, folder := range []string{"here", "there/deep"} {
		if err := os.MkdirAll(folder, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink("there/deep", "link"), os.WriteFile("precious", []byte("mine"), 0o666)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, lands string }{
		{"missing/../precious", ""}, {"here/../missing/../precious", ""}, {"link/../precious", "there/precious"}, {"here/../made", "made"},
	} {
		for _, folder := range []string{"", "."} {
			place := outfile.Place{Path: c.path, Folder: folder}
			tried := place.Try()
			err := place.Write(func(w io.Writer) error { _, err := w.Write([]byte("ours")); return err })
			refused := c.lands == "" || folder != "" && c.lands != "made"
			if (err != nil) != refused || (tried != nil) != refused {
				t.Errorf("%q in %q: tried %v, written %v", c.path, folder, tried, err)
			}
			if text, _ := os.ReadFile("precious"); string(text) != "mine" {
				t.Fatalf("%q in %q: precious has %q", c.path, folder, text)
			}
			if c.lands != "" && !refused {
				if text, err := os.ReadFile(c.lands); err != nil || string(text) != "ours" {
					t.Errorf("%q in %q: %q, %v", c.path, folder, text, err)
				}
				if err := os.Remove(c.lands); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"link/../new", "there/new", true}, {"link/../new", "new", false}, {"here/../new", "new", true}, {"new", "./new", true},
		{"missing/../precious", "precious", false},
	} {
		if got := outfile.Same(c.a, c.b); got != c.same {
			t.Errorf("%q and %q are one file: %v", c.a, c.b, got)
		}
	}
	if inside, err := outfile.Inside(".", "link/../../outside"); err != nil || !inside {
		t.Errorf("%v, %v", inside, err)
	}
	for path, fits := range map[string]bool{"link/../folder": false, "here/../folder": true, "link/folder": true, "link": true, "here/../link": true} {
		if err := (outfile.Place{Path: path}).TryFolder(); (err == nil) != fits {
			t.Errorf("folder %s: %v", path, err)
		}
	}
}
