package leftover

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// ErrAlive is the error of [Open] for a file whose run lives, as far as is known.
var ErrAlive = errors.New("its run lives")

// File is a file that says something of a run, and that the run holds locked while it lives.
type File struct{ f *os.File }

// Create creates a file for this run, which nobody else may read, and its folder. A file of that name is an error.
func Create(path string) (*File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err := lock(f); err != nil {
		return nil, errors.Join(fmt.Errorf("locking %s: %w", path, err), f.Close(), os.Remove(path))
	}
	return &File{f}, nil
}

// Open opens the file of a run that has ended, and holds it locked. It is [ErrAlive] while the run lives, and where the
// system cannot tell; [os.ErrPermission] if the file is not a plain one of our user's, for only that user to write.
func Open(path string) (*File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|openFlags, 0)
	if err != nil {
		return nil, err
	}
	if err := opened(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &File{f}, nil
}

func opened(f *os.File) error {
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !provable:
		return ErrAlive
	case !info.Mode().IsRegular() || !mine(info) || info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("%s: %w: it is not a plain file of yours that only you can write", f.Name(), os.ErrPermission)
	}
	ok, err := lock(f)
	if err == nil && !ok {
		err = ErrAlive
	}
	return err
}

// Write appends to the file.
func (f *File) Write(data []byte) (int, error) { return f.f.Write(data) }

// Empty deletes what the file says.
func (f *File) Empty() error { return f.f.Truncate(0) }

// Read is the whole file.
func (f *File) Read() ([]byte, error) {
	if _, err := f.f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(f.f)
}

// Close lets go of the file, which stays.
func (f *File) Close() error { return f.f.Close() }

// Remove deletes the file and lets go of it.
func (f *File) Remove() error { return errors.Join(os.Remove(f.f.Name()), f.f.Close()) }

// Hold says that a file of this run's, which is being written, is not left over, until release is called. It is an error if
// the file is gone already.
func Hold(f *os.File) (release func(), err error) {
	if release, err = hold(f); err != nil {
		return nil, err
	}
	if !same(f) {
		release()
		return nil, fmt.Errorf("%s: %w", f.Name(), os.ErrNotExist)
	}
	return release, nil
}

// same reports whether an open file is the one at its path.
func same(f *os.File) bool {
	at, err := os.Lstat(f.Name())
	if err != nil {
		return false
	}
	info, err := f.Stat()
	return err == nil && os.SameFile(at, info)
}

// RemoveFile deletes a file that a run has left, by a name that only a run gives; what a living run holds stays.
func RemoveFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !provable:
		return ErrAlive
	case !info.Mode().IsRegular() || !mine(info):
		return fmt.Errorf("%s: %w: it is not a plain file of yours", path, os.ErrPermission)
	}
	if ok, err := lock(f); err != nil || !ok {
		return errors.Join(err, ErrAlive)
	}
	if !same(f) {
		return os.ErrNotExist
	}
	return os.Remove(path)
}
