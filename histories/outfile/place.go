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

// Place says where an output file is written.
type Place struct {
	Path string
	// Folder is a folder that must contain the file, for a path that the user has not named. Links may not lead out of
	// the folder, and the file itself may not be a link. "" means no restriction: the user has named the path.
	Folder string
}

// Write writes the file, atomically if it is a regular file.
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

// Append appends to the file, and makes it if it does not exist.
func (p Place) Append(write func(io.Writer) error) error {
	f, err := p.Open(os.O_WRONLY | os.O_CREATE | os.O_APPEND)
	if err != nil {
		return err
	}
	return failed(p.Path, put(f, write, func() error { return nil }))
}

// Open opens the file for writing, with flags such as os.O_TRUNC.
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

// Check reports why the path cannot be an output file, such as that it is a directory. It writes nothing.
func (p Place) Check() error {
	s, err := p.find()
	if err == nil {
		s.close()
	}
	return failed(p.Path, err)
}

// Try reports why the file cannot be written, as far as this is known beforehand; the device may still be full. It
// leaves the file unchanged. It deletes temporary files that killed runs have left behind.
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

// TryFolder reports why files in a folder at this place cannot be written. The folder need not exist yet.
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
	if s.root == nil { // an existing file that is no regular file has the probe's name
		return nil
	}
	return failed(p.Path, s.try())
}

// nearest is the folder at the place; if it does not exist, its nearest existing parent.
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

// settled returns path if a folder exists there. If nothing exists there, it returns "", so that the caller tries the
// parent folder. last says that path has no parent folder; then it is an error that nothing exists.
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

// Make makes a folder at the place, with its parent folders. If the folder exists, nothing happens.
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

// MoveTo moves the file to another place in the same folder, and makes missing parent folders. If a file exists there,
// the error is [fs.ErrExist].
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

// within opens the folder of the place, and returns the path relative to it.
func (p Place) within() (*os.Root, string, error) {
	folder, name, err := p.named()
	if err != nil {
		return nil, "", err
	}
	root, err := os.OpenRoot(folder)
	return root, name, err
}

// named returns the folder of the place and the path relative to it.
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

// plain refuses a path in which ".." follows a link or a missing name. For such a path, its text and the system lead to
// different files.
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

// outside returns errOutside if err is package os's error about a link that leads out of a folder, and otherwise err.
// Package os has no value for that error, so its text is compared.
func outside(err error) error {
	if err != nil && strings.HasSuffix(err.Error(), "path escapes from parent") {
		return errOutside
	}
	return err
}
