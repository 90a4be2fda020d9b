package leftover

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Folder is a temporary folder of this run's.
type Folder struct {
	Path string
	held *os.File // nil where it is not under our root
}

// holding is the file in a folder that its run holds locked.
const holding = ".lockproof"

// root is the folder of all temporary folders of our user's. Only our user can enter it.
func root() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("lockproof-%d", os.Geteuid()))
}

// NewFolder makes a temporary folder, whose name begins with kind, and deletes those that ended runs have left. Remove deletes
// it. Where the place for such folders is not our user's alone, or the system has no locks, nothing but Remove does.
func NewFolder(kind string) (*Folder, error) {
	if !provable {
		return lone(kind)
	}
	at, err := enterRoot()
	if err != nil {
		return lone(kind)
	}
	defer at.Close()
	sweepFolders(at.Name())
	f := &Folder{}
	if f.Path, err = os.MkdirTemp(at.Name(), kind+"-"); err != nil {
		return nil, err
	}
	f.held, err = os.OpenFile(filepath.Join(f.Path, holding), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err == nil {
		_, err = lock(f.held)
	}
	if err != nil {
		return nil, errors.Join(err, f.Remove())
	}
	return f, nil
}

// Sweep deletes the temporary folders that ended runs have left. What can't be deleted now, a later run finds.
func Sweep() {
	if _, err := os.Lstat(root()); err != nil || !provable {
		return
	}
	at, err := enterRoot()
	if err != nil {
		return
	}
	sweepFolders(at.Name())
	_ = os.Remove(at.Name()) // it stays while others are in it
	_ = at.Close()
}

// lone is a folder that no other run knows.
func lone(kind string) (*Folder, error) {
	path, err := os.MkdirTemp("", "lockproof-"+kind+"-")
	return &Folder{Path: path}, err
}

// enterRoot makes the root and locks it: while it is locked, no folder is about to be made or deleted.
func enterRoot() (*os.File, error) {
	path := root()
	for {
		if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return nil, err
		}
		f, err := enter(path)
		if errors.Is(err, os.ErrNotExist) {
			continue // the last run has deleted it
		}
		if err != nil {
			return nil, err
		}
		info, err := f.Stat()
		if err == nil && (!mine(info) || info.Mode().Perm() != 0o700) {
			err = fmt.Errorf("%s: %w: it is not a folder of yours that only you can enter", path, os.ErrPermission)
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if same(f) {
			return f, nil
		}
		f.Close()
	}
}

// sweepFolders deletes the folders in the root whose run has ended: nobody has their file locked. The root is locked.
func sweepFolders(root string) {
	all, _ := os.ReadDir(root)
	for _, d := range all {
		path := filepath.Join(root, d.Name())
		held, err := os.OpenFile(filepath.Join(path, holding), os.O_RDWR|openFlags, 0)
		if errors.Is(err, os.ErrNotExist) {
			_ = os.RemoveAll(path) // a run was killed before it locked it: who makes one has the root locked
			continue
		}
		if err != nil {
			continue
		}
		if ended, err := lock(held); err == nil && ended {
			_ = os.RemoveAll(path) // what stays is found by the next run
		}
		held.Close()
	}
}

// Remove deletes the folder, and the root if it was the last.
func (f *Folder) Remove() error {
	if f.held == nil {
		return os.RemoveAll(f.Path)
	}
	at, err := enterRoot()
	if err != nil {
		return errors.Join(os.RemoveAll(f.Path), f.held.Close())
	}
	err = errors.Join(os.RemoveAll(f.Path), f.held.Close())
	_ = os.Remove(at.Name()) // it stays while others are in it
	return errors.Join(err, at.Close())
}
