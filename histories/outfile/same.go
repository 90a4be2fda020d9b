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

// resolve returns an absolute path without links. The missing part of a path keeps its name in the folder where it
// would be made.
func resolve(path string) (string, error) {
	at := path
	if !filepath.IsAbs(at) {
		folder, err := filepath.Abs(".")
		if err != nil {
			return "", err
		}
		at = folder + string(filepath.Separator) + at // not joined, which would take every .. by its words
	}
	for range maxLinks {
		for len(at) > len(filepath.VolumeName(at))+1 && os.IsPathSeparator(at[len(at)-1]) { // behind one, a link is followed
			at = at[:len(at)-1]
		}
		real, missing := filepath.EvalSymlinks(at)
		if !errors.Is(missing, fs.ErrNotExist) {
			return real, missing
		}
		target, noLink := os.Readlink(at)
		if noLink != nil { // nothing stands here: look at the folder
			folder, name := split(at)
			if name == "" || name == ".." {
				return filepath.Clean(at), nil
			}
			folder, err := resolve(folder)
			return filepath.Join(folder, name), err
		}
		if !filepath.IsAbs(target) {
			folder, _ := split(at)
			target = folder + target
		}
		at = target
	}
	return "", errors.New("too many links")
}
