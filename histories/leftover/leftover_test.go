//go:build unix

package leftover

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestMain makes this program kill itself, after it has made a folder, if an environment variable asks for this.
func TestMain(m *testing.M) {
	if os.Getenv("LEFTOVER_TEST_KILLED") != "" {
		if f, err := NewFolder("killed"); err == nil {
			os.WriteFile(filepath.Join(f.Path, "big"), make([]byte, 1000), 0o600)
			os.Stdout.WriteString(f.Path)
		}
		p, _ := os.FindProcess(os.Getpid())
		p.Kill()
		select {}
	}
	os.Exit(m.Run())
}

// TestFolders: the next run deletes the folder of a killed run at once, and keeps the folder of a live run. After the
// last run no folder is left.
func TestFolders(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	alive, err := NewFolder("alive")
	if err != nil {
		t.Fatal(err)
	}
	killed := killedRun(t)
	// An empty folder is what a run leaves that is killed right after making it.
	if err := os.Mkdir(filepath.Join(private.root(), "empty-"+strings.Repeat("a", 26)), 0o700); err != nil {
		t.Fatal(err)
	}
	next, err := NewFolder("next")
	if err != nil {
		t.Fatal(err)
	}
	all, err := os.ReadDir(private.root())
	if _, gone := os.Stat(killed); err != nil || len(all) != 2 || !errors.Is(gone, os.ErrNotExist) {
		t.Errorf("%d folders, %v; of the killed run: %v", len(all), err, gone)
	}
	if err := errors.Join(alive.Remove(), next.Remove()); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// killedRun starts a run that kills itself, and returns the folder that it leaves behind.
func killedRun(t *testing.T) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "LEFTOVER_TEST_KILLED=1")
	out, _ := cmd.Output() // the error only says that the run was killed
	if _, err := os.Stat(string(out)); len(out) == 0 || err != nil {
		t.Fatalf("a killed run leaves %q: %v", out, err)
	}
	return string(out)
}

// TestSweep: Sweep deletes the folder of a killed run, even if this run makes no folder.
func TestSweep(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	Sweep()
	killedRun(t)
	Sweep()
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestForeignFolders: files and folders that lockproof did not make are never deleted, even if they are in its place in
// TMPDIR. Nor are files behind links in lockproof's own folders.
func TestForeignFolders(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	elsewhere := t.TempDir()
	precious := filepath.Join(elsewhere, "precious")
	if err := os.WriteFile(precious, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	killed := killedRun(t)
	name := "mine-" + strings.Repeat("a", 26)
	for _, path := range []string{"plain/precious", name + "/precious", "b" + name + "/.lockproof/precious", "c" + name + "/precious"} {
		path = filepath.Join(private.root(), path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	mark := filepath.Join(private.root(), "c"+name, holding)
	if err := errors.Join(os.WriteFile(mark, []byte("another"), 0o600), os.Symlink(elsewhere, filepath.Join(private.root(), "d"+name)), os.Symlink(elsewhere, filepath.Join(killed, "link"))); err != nil {
		t.Fatal(err)
	}
	f, err := NewFolder("next")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"plain/precious", name + "/precious", "b" + name + "/.lockproof/precious", "c" + name + "/precious", "d" + name + "/precious"} {
		if _, err := os.Stat(filepath.Join(private.root(), path)); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(killed); err == nil {
		t.Error("what a killed run has left is still there")
	}
	aside, theirs := f.Path+"x", filepath.Join(f.Path, "precious")
	if err := errors.Join(os.Rename(f.Path, aside), os.Mkdir(f.Path, 0o700), os.WriteFile(theirs, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := f.Remove(); err == nil {
		t.Error("a folder was removed that is not the one that was made")
	}
	if _, err := os.Stat(theirs); err != nil {
		t.Error(err)
	}
	if f, err = NewFolder("gone"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.RemoveAll(f.Path), f.Remove()); err != nil {
		t.Errorf("a folder that is gone already: %v", err)
	}
}

// TestForeignRoot: if other users can write to the common root, nothing in it is deleted, and the new folder is made
// elsewhere.
func TestForeignRoot(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	elsewhere := t.TempDir()
	for _, c := range []func() error{
		func() error {
			return errors.Join(os.MkdirAll(filepath.Join(private.root(), "theirs"), 0o700), os.Chmod(private.root(), 0o777))
		},
		func() error {
			return errors.Join(os.Mkdir(filepath.Join(elsewhere, "theirs"), 0o700), os.Symlink(elsewhere, private.root()))
		},
	} {
		if err := c(); err != nil {
			t.Fatal(err)
		}
		f, err := NewFolder("x")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(private.root(), "theirs")); err != nil || filepath.Dir(f.Path) == private.root() {
			t.Errorf("theirs: %v; ours is %s", err, f.Path)
		}
		if err := errors.Join(f.Remove(), os.RemoveAll(private.root())); err != nil {
			t.Error(err)
		}
	}
}

// TestFoldersAtOnce: runs that begin and end at the same time do not delete each other's folders.
func TestFoldersAtOnce(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				f, err := NewFolder("x")
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := os.Stat(f.Path); err != nil {
					t.Error(err)
				}
				if err := f.Remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// TestOpen: other users can enter an open folder and its parent, but cannot list them. The folder is deleted like any
// other.
func TestOpen(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	f, err := NewOpenFolder("test")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{f.Path, filepath.Dir(f.Path)} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o711 {
			t.Error(info, err)
		}
	}
	if err := f.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(passable.root()); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
