package outfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Same reports whether two paths name the same regular file; links are followed. A path that does not exist names the
// file that would be created there.
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

// Inside reports whether a path is in a folder, after all links are followed. Neither needs to exist.
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

// maxLinks is the largest number of links that are followed in one path, as in operating systems.
const maxLinks = 40

// resolve returns an absolute path in which all links are followed. A part of the path that does not exist keeps its
// name.
func resolve(path string) (string, error) {
	at := path
	if !filepath.IsAbs(at) {
		folder, err := filepath.Abs(".")
		if err != nil {
			return "", err
		}
		at = folder + string(filepath.Separator) + at // filepath.Join would remove each ".." without following links
	}
	for range maxLinks {
		// If a link's path ended in a separator, Readlink would follow the link.
		for len(at) > len(filepath.VolumeName(at))+1 && os.IsPathSeparator(at[len(at)-1]) {
			at = at[:len(at)-1]
		}
		real, missing := filepath.EvalSymlinks(at)
		if !errors.Is(missing, fs.ErrNotExist) {
			return real, missing
		}
		target, noLink := os.Readlink(at)
		if noLink != nil { // nothing is there, so resolve the parent folder
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
