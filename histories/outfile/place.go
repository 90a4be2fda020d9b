package outfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Place is the place of an output file.
type Place struct {
	Path string
	// Folder is a folder that must contain the file, since the user has not named its path: no link leads out of the
	// folder, and the file is no link itself. "" is no restriction: the user has named the path, including any links.
	Folder string
}

// Write writes the file.
func (p Place) Write(write func(io.Writer) error) error {
	s, err := p.find()
	if err != nil {
		return failed(p.Path, err)
	}
	defer s.close()
	if s.root != nil {
		return failed(p.Path, s.replace(write))
	}
	return failed(p.Path, s.fill(write))
}

// Append appends to the file.
func (p Place) Append(write func(io.Writer) error) error {
	f, err := p.Open(os.O_WRONLY | os.O_CREATE | os.O_APPEND)
	if err != nil {
		return err
	}
	return failed(p.Path, put(f, write, func() error { return nil }))
}

// Open opens the existing file for writing.
func (p Place) Open(flags int) (*os.File, error) {
	if p.Folder == "" {
		f, err := os.OpenFile(p.Path, flags, 0o666)
		return f, failed(p.Path, err)
	}
	s, err := p.find()
	if err != nil {
		return nil, failed(p.Path, err)
	}
	defer s.close()
	f, err := s.root.OpenFile(s.name, flags, 0o666)
	return f, failed(p.Path, err)
}

// Check reports why the file cannot be at its place. It writes nothing.
func (p Place) Check() error {
	s, err := p.find()
	if err == nil {
		s.close()
	}
	return failed(p.Path, err)
}

// Try reports why the file cannot be written. It changes nothing, except that it removes files that killed runs have
// left unfinished. It only checks the place; there may still be no space on the device.
func (p Place) Try() error {
	s, err := p.find()
	if err != nil {
		return failed(p.Path, err)
	}
	defer s.close()
	switch {
	case s.root != nil:
		err = s.try()
	case s.stream == nil && s.info != nil:
		err = writable(p.Path)
	}
	return failed(p.Path, err)
}

// TryFolder is Try for files in a folder at this place, which need not exist yet.
func (p Place) TryFolder() error {
	at, err := p.nearest()
	if err == nil {
		err = p.plain()
	}
	if err != nil {
		return failed(p.Path, err)
	}
	probe := Place{Path: filepath.Join(at, "file"), Folder: p.Folder}
	s, err := probe.find()
	if err != nil {
		return failed(p.Path, err)
	}
	defer s.close()
	if s.root == nil { // something other than a regular file is there
		return nil
	}
	return failed(p.Path, s.try())
}

// nearest is the folder at the place, or its nearest existing parent.
func (p Place) nearest() (string, error) {
	stat := os.Stat
	if p.Folder != "" {
		root, name, err := p.within()
		if err != nil {
			return "", err
		}
		defer root.Close()
		stat = func(string) (fs.FileInfo, error) { return root.Stat(name) }
		for ; ; name = filepath.Dir(name) {
			if at, err := settled(filepath.Join(p.Folder, name), name == ".", stat); at != "" || err != nil {
				return at, err
			}
		}
	}
	for at := filepath.Clean(p.Path); ; at = filepath.Dir(at) {
		if at, err := settled(at, at == filepath.Dir(at), stat); at != "" || err != nil {
			return at, err
		}
	}
}

// settled returns path if a folder exists there, and "" if nothing does, so that the caller asks for the parent
// folder, unless last.
func settled(path string, last bool, stat func(string) (fs.FileInfo, error)) (string, error) {
	info, err := stat(path)
	switch {
	case err == nil && !info.IsDir():
		return "", fmt.Errorf("%s is no directory", path)
	case err == nil:
		return path, nil
	case !errors.Is(err, fs.ErrNotExist) || last:
		return "", outside(err)
	}
	return "", nil
}

// Make makes a folder at the place, if there is none, with its parents.
func (p Place) Make() error {
	if p.Folder == "" {
		return os.MkdirAll(p.Path, 0o777)
	}
	root, name, err := p.within()
	if err != nil {
		return err
	}
	defer root.Close()
	if name == "." {
		return nil
	}
	if err := root.MkdirAll(name, 0o777); err != nil {
		return fmt.Errorf("%q can't be made: %w", p.Path, outside(err))
	}
	return nil
}

// MoveTo moves the file to another place in the same folder, and makes the parent folders. It replaces nothing: the
// error is then [fs.ErrExist].
func (p Place) MoveTo(to Place) error {
	s, err := p.find()
	if err != nil {
		return failed(p.Path, err)
	}
	s.close()
	if s.info == nil {
		return failed(p.Path, fs.ErrNotExist)
	}
	to.Folder = p.Folder
	root, name, err := p.within()
	if err != nil {
		return failed(p.Path, err)
	}
	defer root.Close()
	_, end, err := to.named()
	if err != nil {
		return failed(to.Path, err)
	}
	if err := root.MkdirAll(filepath.Dir(end), 0o777); err != nil {
		return failed(to.Path, outside(err))
	}
	if _, err := root.Lstat(end); err == nil {
		return failed(to.Path, fs.ErrExist)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return failed(to.Path, outside(err))
	}
	return failed(to.Path, outside(root.Rename(name, end)))
}

// within opens the folder, and returns the path relative to it.
func (p Place) within() (*os.Root, string, error) {
	folder, name, err := p.named()
	if err != nil {
		return nil, "", err
	}
	root, err := os.OpenRoot(folder)
	return root, name, err
}

// named is the folder, and the path relative to it.
func (p Place) named() (folder, name string, err error) {
	if folder, err = filepath.Abs(p.Folder); err != nil {
		return "", "", err
	}
	path, err := filepath.Abs(p.Path)
	if err != nil {
		return "", "", err
	}
	name, err = filepath.Rel(folder, path)
	if err != nil || !filepath.IsLocal(name) {
		return "", "", errOutside
	}
	return folder, name, nil
}

// plain refuses a path that the system resolves differently from its text, because of a ".." after a link or after a
// missing name. lockproof writes to the path as text says, but other programs look where the system leads.
func (p Place) plain() error {
	byWords, missing := os.Lstat(filepath.Clean(p.Path))
	bySystem, absent := os.Lstat(p.Path)
	if (missing == nil) == (absent == nil) && (missing != nil || os.SameFile(byWords, bySystem)) {
		made, err := resolve(p.Path) // the path does not exist yet
		if seems, failed := resolve(filepath.Clean(p.Path)); err != nil || failed != nil || made == seems {
			return errors.Join(err, failed)
		}
	}
	return errors.New("it leads elsewhere by .. than it seems: type the path without")
}

// errOutside is the error for a path that leaves its folder.
var errOutside = errors.New("it leads outside the folder that it has to be in, which nobody asked for: remove the link, or type the path yourself")

// outside rewords an error of package os, which says only in its text that a link leaves a root.
func outside(err error) error {
	if err != nil && strings.HasSuffix(err.Error(), "path escapes from parent") {
		return errOutside
	}
	return err
}
