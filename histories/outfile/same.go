package outfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Same reports whether two paths name one regular file, by whatever links. A path at which nothing stands names the file that
// would be made there.
func Same(a, b string) bool {
	at, missing := os.Stat(a)
	other, absent := os.Stat(b)
	switch {
	case missing == nil && absent == nil:
		return at.Mode().IsRegular() && os.SameFile(at, other)
	case missing == nil || absent == nil:
		return false
	}
	first, failed := resolve(a)
	second, broken := resolve(b)
	return failed == nil && broken == nil && first == second
}

// Inside reports whether a file or folder at a path is in a folder, or would be if it were made, by whatever links.
func Inside(folder, path string) (bool, error) {
	root, err := resolve(folder)
	if err != nil {
		return false, err
	}
	at, err := resolve(path)
	if err != nil {
		return false, err
	}
	within, err := filepath.Rel(root, at)
	return err == nil && filepath.IsLocal(within), nil
}

// maxLinks bounds the links that are followed at one path, as operating systems do.
const maxLinks = 40

// resolve is a path without links, absolute. What stands nowhere yet keeps its name in the folder where it would be made.
func resolve(path string) (string, error) {
	at, err := filepath.Abs(path)
	for range maxLinks {
		if err != nil {
			return "", err
		}
		real, missing := filepath.EvalSymlinks(at)
		if !errors.Is(missing, fs.ErrNotExist) {
			return real, missing
		}
		target, noLink := os.Readlink(at)
		if noLink != nil { // nothing stands here: look at the folder
			if filepath.Dir(at) == at {
				return at, nil
			}
			folder, err := resolve(filepath.Dir(at))
			return filepath.Join(folder, filepath.Base(at)), err
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(at), target)
		}
		at = target
	}
	return "", errors.New("too many links")
}
