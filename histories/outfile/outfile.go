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
	"regexp"
	"strings"

	"github.com/lockproof/lockproof/histories/leftover"
)

// Write writes a file.
func Write(path string, write func(io.Writer) error) error {
	p, err := find(path)
	if err == nil && p.beside {
		err = p.replace(write)
	} else if err == nil {
		err = p.fill(write)
	}
	return failed(path, err)
}

// WriteNamed is Write of a file whose name is ours and not the user's: where a link has that name, it leads to what nobody named, and
// nothing is written.
func WriteNamed(path string, write func(io.Writer) error) error {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return failed(path, errors.New("it is a link, and leads to a file that nobody named: remove it"))
	}
	return Write(path, write)
}

// Try reports why a file can't be written, and leaves everything as it is, but for files that killed runs have left
// unfinished. What can be known before is the place; there may still be no room.
func Try(path string) error {
	p, err := find(path)
	switch {
	case err != nil:
	case p.beside:
		err = tryBeside(p.path)
	case p.stream == nil && p.info != nil:
		err = writable(path)
	}
	return failed(path, err)
}

// TryDirectory is Try of files in a directory, which need not be there yet.
func TryDirectory(path string) error {
	at := filepath.Clean(path)
	for {
		info, err := os.Stat(at)
		switch {
		case err == nil && !info.IsDir():
			return failed(path, fmt.Errorf("%s is no directory", at))
		case err == nil:
			return failed(path, tryBeside(filepath.Join(at, "file")))
		case !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at):
			return failed(path, err)
		}
		at = filepath.Dir(at)
	}
}

func failed(path string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) && (at.Path == path || strings.Contains(filepath.Base(at.Path), ".lockproof-")) {
		err = fmt.Errorf("%s: %w", at.Op, at.Err) // the path is said anyway, and a temporary file's name says nothing
	}
	if err != nil {
		err = fmt.Errorf("%q can't be written: %w; name a place that can be written to", path, err)
	}
	return err
}

// place is where a file is to be.
type place struct {
	path   string      // without links, where that can be told
	info   fs.FileInfo // nil where nothing stands
	beside bool        // another file is written beside it and takes its place
	stream *os.File    // our own standard output or error, where it is that
}

// find looks what stands at a path.
func find(path string) (place, error) {
	if path == "" || os.IsPathSeparator(path[len(path)-1]) {
		return place{}, errors.New("it is no file's name")
	}
	info, err := os.Stat(path)
	p := place{path: path, info: info}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		_, err := os.Lstat(path)
		p.info, p.beside = nil, err != nil // otherwise a link to what is not there yet
		return p, nil
	case err != nil:
		return p, err
	case info.IsDir():
		return p, errors.New("it is a directory")
	}
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		if own, err := f.Stat(); err == nil && os.SameFile(own, info) {
			p.stream = f
			return p, nil
		}
	}
	if info.Mode()&fs.ModeSocket != 0 {
		return p, errors.New("it is a socket")
	}
	if real, err := filepath.EvalSymlinks(path); err == nil && info.Mode().IsRegular() {
		at, err := os.Stat(real)
		p.path, p.beside = real, err == nil && os.SameFile(at, info)
	}
	return p, nil
}

// replace writes the file under another name and moves it to its place. Where a file stands that can't be replaced but
// can be written to, such as one that is mounted there, it is written to.
func (p *place) replace(write func(io.Writer) error) (err error) {
	sweep(filepath.Dir(p.path))
	f, release, err := begin(p.path, p.perm())
	if err != nil && p.info != nil && writable(p.path) == nil {
		return p.fill(write)
	}
	if err != nil {
		return err
	}
	defer release()
	if err = put(f, write, f.Sync); err == nil && p.info != nil {
		err = os.Chmod(f.Name(), p.perm()) // whatever the umask
	}
	if err == nil {
		if err = os.Rename(f.Name(), p.path); err == nil {
			return nil
		}
		if p.info != nil && p.fill(write) == nil {
			err = nil
		}
	}
	return errors.Join(err, os.Remove(f.Name()))
}

// fill writes to what stands there.
func (p *place) fill(write func(io.Writer) error) error {
	if p.stream != nil {
		b := bufio.NewWriterSize(p.stream, bufferSize)
		return errors.Join(write(b), b.Flush())
	}
	flags := os.O_WRONLY | os.O_CREATE
	if p.info == nil || p.info.Mode().IsRegular() {
		flags |= os.O_TRUNC
	}
	f, err := os.OpenFile(p.path, flags, 0o666)
	if err != nil {
		return err
	}
	return put(f, write, func() error { return nil })
}

// bufferSize is how many bytes are written at once.
const bufferSize = 1 << 16

// put writes to a file, calls synced, and closes it.
func put(f *os.File, write func(io.Writer) error, synced func() error) error {
	b := bufio.NewWriterSize(f, bufferSize)
	err := write(b)
	if err == nil {
		err = b.Flush()
	}
	if err == nil {
		err = synced()
	}
	return errors.Join(err, f.Close())
}

// create makes a file beside another one.
func create(path string, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(beside(path, rand.Text()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
}

// begin makes a file beside another one, which other runs leave alone until release.
func begin(path string, perm fs.FileMode) (f *os.File, release func(), err error) {
	for {
		if f, err = create(path, perm); err != nil {
			return nil, nil, err
		}
		release, err = leftover.Hold(f)
		switch {
		case err == nil:
			return f, release, nil
		case !errors.Is(err, fs.ErrNotExist): // there are no locks, so that no run takes it for left
			return f, func() {}, nil
		}
		_ = f.Close() // another run has removed it before it was held
	}
}

// perm is who may read and write the file: those who could before.
func (p *place) perm() fs.FileMode {
	if p.info != nil {
		return p.info.Mode().Perm()
	}
	return 0o666
}

// beside is what files are called that are about to take a file's place.
func beside(path, name string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".lockproof-"+name)
}

// tryBeside makes a file beside another one, and removes it.
func tryBeside(path string) error {
	sweep(filepath.Dir(path))
	f, err := create(path, 0o600)
	if err != nil {
		if _, missing := os.Stat(path); missing == nil && writable(path) == nil {
			return nil
		}
		return err
	}
	err = os.Remove(f.Name())
	if errors.Is(err, fs.ErrNotExist) { // another run took it for left
		err = nil
	}
	return errors.Join(f.Close(), err)
}

// unfinished is the name of a file that a run is writing, or was.
var unfinished = regexp.MustCompile(`^\..+\.lockproof-[A-Z2-7]{26}$`)

// sweep removes files in a directory that runs have left which were killed while they wrote.
func sweep(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if unfinished.MatchString(e.Name()) {
			_ = leftover.RemoveFile(filepath.Join(dir, e.Name())) // its run may live, or another may have done so
		}
	}
}
