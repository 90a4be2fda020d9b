package histories

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/lockproof/lockproof/histories/infile"
	"github.com/lockproof/lockproof/model/history"
)

// spool reads a pipe and copies what it reads, so that it can be read again from the beginning. A pipe of more than
// most bytes can be read once only: beyond them, the copy is deleted.
type spool struct {
	from   io.Reader
	limits spoolLimits
	memory []byte   // the copy
	file   *os.File // the copy, when memory is too small for it; nil before
	read   int64    // how many bytes were read from the pipe
	at     int64    // how many of them are before the place that is read
	end    error    // what ended the pipe
	failed error    // a copy that could not be written
}

// spoolLimits are how many bytes of a pipe are copied to memory, and how many at all.
type spoolLimits struct{ memory, most int64 }

var usualSpool = spoolLimits{memory: 16 << 20, most: 1 << 30}

// Read reads the copy first, and then the pipe.
func (s *spool) Read(p []byte) (n int, err error) {
	switch {
	case s.failed != nil:
		return 0, s.failed
	case s.at == s.read:
		return s.next(p)
	case s.file != nil:
		n, err = s.file.ReadAt(p[:min(int64(len(p)), s.read-s.at)], s.at)
	default:
		n = copy(p, s.memory[s.at:])
	}
	s.at += int64(n)
	return n, err
}

// next reads the pipe.
func (s *spool) next(p []byte) (n int, err error) {
	if s.end != nil {
		return 0, s.end
	}
	n, s.end = s.from.Read(p)
	if err = s.keep(p[:n]); err != nil {
		s.failed = fmt.Errorf("copying what comes through a pipe, to read it again: %w", err)
		return 0, s.failed
	}
	s.read += int64(n)
	s.at = s.read
	return n, s.end
}

// keep copies what comes next, as far as there is a copy.
func (s *spool) keep(p []byte) (err error) {
	switch {
	case s.read > s.limits.most:
	case s.read+int64(len(p)) > s.limits.most:
		s.memory = nil
		err = s.Close()
	case s.file != nil:
		_, err = s.file.WriteAt(p, s.read)
	case s.read+int64(len(p)) <= s.limits.memory:
		s.memory = append(s.memory, p...)
	default:
		if s.file, err = os.CreateTemp("", "lockproof-history-*"); err != nil {
			return err
		}
		_, err = s.file.Write(append(s.memory, p...))
		s.memory = nil
	}
	return err
}

// Seek goes to a place of the copy. A place of which there is no copy any more is an error.
func (s *spool) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += s.at
	case io.SeekEnd:
		return s.at, errors.New("a pipe's end is not known")
	}
	if offset != s.at && s.read > s.limits.most {
		return s.at, fmt.Errorf("more than %s came through a pipe: %w", infile.Size(s.limits.most), history.ErrOnce)
	}
	s.at = offset
	return s.at, nil
}

// Close deletes the copy in a file.
func (s *spool) Close() error {
	if s.file == nil {
		return nil
	}
	file := s.file
	s.file = nil
	return errors.Join(file.Close(), os.Remove(file.Name()))
}
