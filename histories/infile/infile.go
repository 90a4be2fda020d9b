// Package infile opens the input files that a user names. They must be regular files of bounded size: a device never
// ends, a pipe may never begin, and a sparse file of a terabyte needs no room until it is read.
package infile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Input describes a kind of input file and its size limit.
type Input struct {
	// Noun names the kind of file in errors, such as "counterexample".
	Noun string
	// Most is the largest size in bytes.
	Most int64
}

// Kinds of input files that several packages read.
var (
	// Certificate is a certificate, a chain of certificates, or a key.
	Certificate = Input{"certificate or key", 1 << 20}
	// Credentials is a file with one or more passwords, seeds or tokens.
	Credentials = Input{"credentials file", 1 << 20}
)

// Open opens a file. The error names the file and its kind, and says what was expected. For a missing file it is
// [fs.ErrNotExist].
func (in Input) Open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err == nil {
		err = in.fits(path, info)
	}
	if err != nil {
		return nil, err
	}
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	info, err = f.Stat() // the file may have been replaced since
	if err == nil {
		err = in.fits(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Read reads a whole file. Its errors are those of Open.
func (in Input) Read(path string) ([]byte, error) {
	f, err := in.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, in.Most+1))
	if err == nil && int64(len(data)) > in.Most { // the file has grown meanwhile
		err = in.tooLarge(path)
	}
	return data, err
}

// Check reports the error that Open would return. It is for files that other code opens.
func (in Input) Check(path string) error {
	f, err := in.Open(path)
	if err != nil {
		return err
	}
	return f.Close()
}

// Stream limits the input from a pipe to the size of this kind of file. Reading more is an error, which uses the name.
func (in Input) Stream(name string, r io.Reader) io.Reader { return &stream{in, name, r, in.Most} }

type stream struct {
	in   Input
	name string
	r    io.Reader
	left int64
}

func (s *stream) Read(p []byte) (int, error) {
	if int64(len(p)) > s.left+1 {
		p = p[:s.left+1]
	}
	n, err := s.r.Read(p)
	if s.left -= int64(n); s.left < 0 {
		return n + int(s.left), s.in.tooLarge(s.name)
	}
	return n, err
}

// fits reports why a file is refused: it is no regular file, or it is too large.
func (in Input) fits(path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%q is %s; expected a regular file, a %s of at most %s", path, kind(info.Mode()), in.Noun, Size(in.Most))
	}
	if info.Size() > in.Most {
		return in.tooLarge(path)
	}
	return nil
}

func (in Input) tooLarge(path string) error {
	return fmt.Errorf("%q has more than %s; expected a %s, which has no more", path, Size(in.Most), in.Noun)
}

// kind says what a file is that is not a regular one, such as "a pipe".
func kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "no regular file"
}

// Size writes a number of bytes with a unit, such as "64 MiB". The unit is the largest that gives a whole number.
func Size(bytes int64) string {
	for _, unit := range []struct {
		shift int
		name  string
	}{{30, "GiB"}, {20, "MiB"}, {10, "KiB"}} {
		if bytes >= 1<<unit.shift && bytes&(1<<unit.shift-1) == 0 {
			return fmt.Sprintf("%d %s", bytes>>unit.shift, unit.name)
		}
	}
	return fmt.Sprintf("%d bytes", bytes)
}

// CheckNamed checks files before a driver reads them whole. value returns the path for a name, for example of an
// environment variable or a query parameter; "" means no file.
func (in Input) CheckNamed(value func(name string) string, names ...string) error {
	for _, name := range names {
		if path := value(name); path != "" {
			if err := in.Check(path); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}
