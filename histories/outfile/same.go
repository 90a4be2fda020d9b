package outfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Same reports whether two paths name the same regular file, through any links. If a path does not exist, it names
// the file that would be created there.
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

// Inside reports whether a file or folder at a path is in a folder, or would be if it were created, through any
// links.
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

// maxLinks bounds the number of links that are followed for one path, like in operating systems.
const maxLinks = 40

// resolve returns an absolute path without links. The missing part of a path keeps its name in the folder where it
// would be created.
func resolve(path string) (string, error) {
	at := path
	if !filepath.IsAbs(at) {
		folder, err := filepath.Abs(".")
		if err != nil {
			return "", err
		}
		at = folder + string(filepath.Separator) + at // Join would resolve every .. by the text alone
	}
	for range maxLinks {
		for len(at) > len(filepath.VolumeName(at))+1 && os.IsPathSeparator(at[len(at)-1]) { // after one, a link is followed
			at = at[:len(at)-1]
		}
		real, missing := filepath.EvalSymlinks(at)
		if !errors.Is(missing, fs.ErrNotExist) {
			return real, missing
		}
		target, noLink := os.Readlink(at)
		if noLink != nil { // nothing is there: look at the parent
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
