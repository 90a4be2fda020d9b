package outfile

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lockproof/lockproof/histories/leftover"
)

// spot is what was found at the path of an output file.
type spot struct {
	path   string      // the path with its links resolved, if possible
	info   fs.FileInfo // nil if nothing is there
	stream *os.File    // standard output or error, if the path names it; else nil
	// root is the folder for the temporary file that replaces the named one. It is nil if the existing file is written
	// directly.
	root *os.Root
	name string
	only bool // only a regular file may be replaced; nothing is written directly
}

func (s *spot) close() {
	if s.root != nil {
		_ = s.root.Close()
	}
}

// find looks at what is at a place, and how to write there.
func (p Place) find() (*spot, error) {
	if p.Path == "" || os.IsPathSeparator(p.Path[len(p.Path)-1]) {
		return nil, errors.New("it is no file's name")
	}
	if p.Folder != "" {
		return p.findWithin()
	}
	s, replaced, err := findAnywhere(p.Path)
	if err != nil || !replaced {
		return s, err
	}
	folder, name := split(s.path)
	s.name = name
	if s.root, err = os.OpenRoot(folder); err != nil && s.info != nil && writable(s.path) == nil {
		return s, nil
	}
	return s, err
}

// findWithin does what find does, for a place with a folder that must contain the file.
func (p Place) findWithin() (*spot, error) {
	root, name, err := p.within()
	if err != nil {
		return nil, err
	}
	if err := p.plain(); err != nil {
		_ = root.Close()
		return nil, err
	}
	s := &spot{path: p.Path, only: true}
	folder, base := filepath.Split(name)
	if s.root, s.name = root, base; folder != "" {
		s.root, err = root.OpenRoot(filepath.Clean(folder))
		_ = root.Close()
		if err != nil {
			return nil, outside(err)
		}
	}
	info, err := s.root.Lstat(s.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, nil
	case err != nil:
	case info.Mode()&fs.ModeSymlink != 0:
		err = errors.New("it is a link, and leads to a file that nobody named: remove it")
	case info.IsDir():
		err = errors.New("it is a directory")
	case !info.Mode().IsRegular():
		err = errors.New("it is no regular file: remove it")
	}
	if err != nil {
		s.close()
		return nil, err
	}
	s.info = info
	return s, nil
}

// split divides a path into its folder and the name in it. The folder keeps every "..", since only the system can
// resolve it after a link or a missing name.
func split(path string) (folder, name string) {
	if folder, name = filepath.Split(path); folder == "" {
		folder = "."
	}
	return folder, name
}

// findAnywhere looks at what is at a path. replaced says that a temporary file is to replace it.
func findAnywhere(path string) (s *spot, replaced bool, err error) {
	info, err := os.Stat(path)
	s = &spot{path: path, info: info}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		_, err := os.Lstat(path)
		s.info = nil
		return s, err != nil, nil // if err is nil, path is a link to a missing file
	case err != nil:
		return s, false, err
	case info.IsDir():
		return s, false, errors.New("it is a directory")
	}
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		if own, err := f.Stat(); err == nil && os.SameFile(own, info) {
			s.stream = f
			return s, false, nil
		}
	}
	if info.Mode()&fs.ModeSocket != 0 {
		return s, false, errors.New("it is a socket")
	}
	if real, err := filepath.EvalSymlinks(path); err == nil && info.Mode().IsRegular() {
		at, err := os.Stat(real)
		s.path, replaced = real, err == nil && os.SameFile(at, info)
	}
	return s, replaced, nil
}

// replace writes a temporary file and renames it to the named file. If this fails, but the existing file can be written
// to, such as a mounted one, it writes to that file directly.
func (s *spot) replace(write func(io.Writer) error) (err error) {
	sweep(s.root.Name())
	f, temp, release, err := s.begin()
	if err != nil && s.mayFill() && writable(s.path) == nil {
		return s.fill(write)
	}
	if err != nil {
		return err
	}
	defer release()
	if err = put(f, write, f.Sync); err == nil && s.info != nil {
		err = s.root.Chmod(temp, s.perm()) // regardless of the umask
	}
	if err == nil {
		if err = s.root.Rename(temp, s.name); err == nil {
			return nil
		}
		if s.mayFill() && s.fill(write) == nil {
			err = nil
		}
	}
	return errors.Join(err, s.root.Remove(temp))
}

// mayFill reports whether the existing file may be written to directly.
func (s *spot) mayFill() bool { return s.info != nil && !s.only }

// fill writes to the existing file directly.
func (s *spot) fill(write func(io.Writer) error) error {
	if s.stream != nil {
		b := bufio.NewWriterSize(s.stream, bufferSize)
		return errors.Join(write(b), b.Flush())
	}
	flags := os.O_WRONLY | os.O_CREATE
	if s.info == nil || s.info.Mode().IsRegular() {
		flags |= os.O_TRUNC
	}
	open := func() (*os.File, error) { return os.OpenFile(s.path, flags, 0o666) }
	if s.info != nil && s.info.Mode()&fs.ModeNamedPipe != 0 {
		open = func() (*os.File, error) { return openPipe(s.path) }
	}
	f, err := open()
	if err != nil {
		return err
	}
	return put(f, write, func() error { return nil })
}

// perm are the permissions of the file: those of the existing file, if there is one.
func (s *spot) perm() fs.FileMode {
	if s.info != nil {
		return s.info.Mode().Perm()
	}
	return 0o666
}

// create makes a temporary file in the folder of the named one.
func (s *spot) create(perm fs.FileMode) (f *os.File, temp string, err error) {
	temp = "." + s.name + ".lockproof-" + rand.Text()
	f, err = s.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	return f, temp, err
}

// mostTaken is the largest number of attempts to make a temporary file while other runs delete it before it is locked.
const mostTaken = 100

// begin makes a temporary file that other runs do not delete until release is called.
func (s *spot) begin() (f *os.File, temp string, release func(), err error) {
	for range mostTaken {
		if f, temp, err = s.create(s.perm()); err != nil {
			return nil, "", nil, err
		}
		release, err = leftover.Hold(f)
		switch {
		case err == nil:
			return f, temp, release, nil
		case !errors.Is(err, fs.ErrNotExist): // the system has no locks, so no run deletes the file
			return f, temp, func() {}, nil
		}
		_ = f.Close() // another run has deleted the file before it was locked
	}
	return nil, "", nil, fmt.Errorf("other runs have removed what was begun beside it, %d times: try again", mostTaken)
}

// try makes a temporary file in the folder of the named one, and deletes it.
func (s *spot) try() error {
	sweep(s.root.Name())
	f, temp, err := s.create(0o600)
	if err != nil {
		if s.mayFill() && writable(s.path) == nil {
			return nil
		}
		return err
	}
	err = s.root.Remove(temp)
	if errors.Is(err, fs.ErrNotExist) { // another run has deleted the file as left over
		err = nil
	}
	return errors.Join(f.Close(), err)
}
