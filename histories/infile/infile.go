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

// Input is a kind of input file.
type Input struct {
	// Noun names the kind in errors, such as counterexample.
	Noun string
	// Most is the largest size in bytes.
	Most int64
}

// Kinds of input shared by several packages.
var (
	// Certificate is a certificate, a chain of them, or a key.
	Certificate = Input{"certificate or key", 1 << 20}
	// Credentials is a password, a seed, a token, or a list of them.
	Credentials = Input{"credentials file", 1 << 20}
)

// Open opens a file. The error names the file, its kind, and what was expected; a missing file is [fs.ErrNotExist].
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
	info, err = f.Stat() // another file may have taken that name
	if err == nil {
		err = in.fits(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Read reads a whole file. Errors are those of Open.
func (in Input) Read(path string) ([]byte, error) {
	f, err := in.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, in.Most+1))
	if err == nil && int64(len(data)) > in.Most { // it has grown
		err = in.tooLarge(path)
	}
	return data, err
}

// Check reports why Open could not open a file, for files that other code reads.
func (in Input) Check(path string) error {
	f, err := in.Open(path)
	if err != nil {
		return err
	}
	return f.Close()
}

// Stream bounds the input of a pipe; errors use the name. Reading beyond the bound is an error.
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

// fits reports why a file is not accepted.
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

// kind names the kind of a file that is not regular.
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

// Size is a number of bytes in words, in the largest unit of which it is a whole multiple.
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

// CheckNamed checks the files that the query of an address, or the environment, names under these names, since
// drivers read them whole.
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
