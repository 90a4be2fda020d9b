package process

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// Template is a set of files that servers need at their start and that take long to make. They are made once, and
// deleted when no server uses them any more. It is safe for concurrent use.
type Template struct {
	New  func() (*Process, error)
	Make func(context.Context, *Process) error // makes the files, in the folder Data of a server's folder

	mu    sync.Mutex
	users int
	made  *Process // nil while no server uses the files
}

// Data is the name of the template's folder within a server's folder.
const Data = "data"

// Copy copies the files to a server's folder. If there is no error, Drop must follow.
func (t *Template) Copy(ctx context.Context, to *Process) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.made == nil {
		made, err := t.New()
		if err != nil {
			return err
		}
		if err := t.Make(ctx, made); err != nil {
			_ = made.Remove() // an error is already being reported
			return err
		}
		t.made = made
	}
	t.users++
	err := exec.CommandContext(ctx, "cp", "-a", filepath.Join(t.made.Folder, Data), to.Folder).Run()
	if err != nil {
		_ = t.dropLocked()
	}
	return err
}

// Drop ends a use of the files. After the last use they are removed.
func (t *Template) Drop() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.dropLocked()
}

func (t *Template) dropLocked() error {
	if t.users--; t.users > 0 {
		return nil
	}
	made := t.made
	t.made = nil
	return made.Remove()
}

// WriteFile writes a file in the server's folder.
func (p *Process) WriteFile(name, text string) error {
	path := filepath.Join(p.Folder, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return err
	}
	return p.Give(path)
}
