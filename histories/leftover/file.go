package leftover

import (
	"errors"
	"fmt"
	"os"
)

// ErrAlive is the error of [RemoveFile] for a file whose run is alive, or may be.
var ErrAlive = errors.New("its run lives")

// Hold locks a file that this run is writing, so that other runs do not delete it as left over. release ends this. It
// is an error if the file is already deleted.
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

// same reports whether the path of an open file still names this file.
func same(f *os.File) bool {
	at, err := os.Lstat(f.Name())
	if err != nil {
		return false
	}
	info, err := f.Stat()
	return err == nil && os.SameFile(at, info)
}

// RemoveFile deletes a file that an ended run has left behind. Its name must be one that only lockproof uses. The error
// is ErrAlive if a living run holds the file.
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
