package histories

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/lockproof/lockproof/histories/infile"
	"github.com/lockproof/lockproof/model/history"
)

// spool reads a pipe and copies what it reads, so that the pipe can be read again from the beginning. If more than
// limits.most bytes come through the pipe, the copy is deleted, and the pipe can be read only once.
type spool struct {
	from   io.Reader
	limits spoolLimits
	memory []byte   // the copy, as long as it is small
	file   *os.File // the copy in a temporary file; nil if it is in memory
	read   int64    // number of bytes read from the pipe
	at     int64    // position of the next byte to return
	end    error    // the error at which the pipe ended, such as [io.EOF]
	failed error    // the error in writing the copy
}

// spoolLimits are numbers of bytes: how much of a pipe is copied to memory, and how much is copied at all.
type spoolLimits struct{ memory, most int64 }

var usualSpool = spoolLimits{memory: 16 << 20, most: 1 << 30}

// Read returns the copied bytes first, and then reads the pipe.
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

// next reads from the pipe, and adds what it reads to the copy.
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

// keep adds bytes to the copy. It deletes the copy if it becomes too large.
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

// Seek goes to a position in what was read. It fails if another position is wanted and the copy was deleted.
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

// Close deletes the temporary file with the copy, if there is one.
func (s *spool) Close() error {
	if s.file == nil {
		return nil
	}
	file := s.file
	s.file = nil
	return errors.Join(file.Close(), os.Remove(file.Name()))
}
