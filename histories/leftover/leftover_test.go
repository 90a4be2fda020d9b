//go:build unix

package leftover

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// TestMain has this program be a run that is killed, where it is told so.
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

// TestFolders: the folder of a run that was killed is deleted by the next run, however young it is; that of a living run is
// not, and after the last run nothing is left.
func TestFolders(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	alive, err := NewFolder("alive")
	if err != nil {
		t.Fatal(err)
	}
	killed := killedRun(t)
	if err := os.Mkdir(filepath.Join(root(), "empty"), 0o700); err != nil { // as of one that was killed earlier
		t.Fatal(err)
	}
	next, err := NewFolder("next")
	if err != nil {
		t.Fatal(err)
	}
	all, err := os.ReadDir(root())
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

// killedRun is the folder that a run has left which was killed.
func killedRun(t *testing.T) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "LEFTOVER_TEST_KILLED=1")
	out, _ := cmd.Output() // it was killed
	if _, err := os.Stat(string(out)); len(out) == 0 || err != nil {
		t.Fatalf("a killed run leaves %q: %v", out, err)
	}
	return string(out)
}

// TestSweep: what a killed run has left goes also where no folder is made.
func TestSweep(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	Sweep()
	killedRun(t)
	Sweep()
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestForeignRoot: in a folder that others can write to nothing is deleted, and nothing of ours is made.
func TestForeignRoot(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	elsewhere := t.TempDir()
	for _, c := range []func() error{
		func() error {
			return errors.Join(os.MkdirAll(filepath.Join(root(), "theirs"), 0o700), os.Chmod(root(), 0o777))
		},
		func() error {
			return errors.Join(os.Mkdir(filepath.Join(elsewhere, "theirs"), 0o700), os.Symlink(elsewhere, root()))
		},
	} {
		if err := c(); err != nil {
			t.Fatal(err)
		}
		f, err := NewFolder("x")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(root(), "theirs")); err != nil || filepath.Dir(f.Path) == root() {
			t.Errorf("theirs: %v; ours is %s", err, f.Path)
		}
		if err := errors.Join(f.Remove(), os.RemoveAll(root())); err != nil {
			t.Error(err)
		}
	}
}

// TestFoldersAtOnce: runs that begin and end at the same time do not take each other's folders.
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

// TestFiles: the file of a living run is not opened, and one that others may write to is not trusted.
func TestFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "run")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); !errors.Is(err, ErrAlive) {
		t.Errorf("of a living run: %v", err)
	}
	if err := errors.Join(f.Close(), os.Chmod(path, 0o622)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); !errors.Is(err, os.ErrPermission) {
		t.Errorf("that others may write to: %v", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err = Open(path); err != nil {
		t.Fatal(err)
	}
	if err := f.Remove(); err != nil {
		t.Error(err)
	}
}
