package histories

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Replace writes a file whole or not at all: whoever reads it meanwhile, and whatever goes wrong,
// finds what was there before.
func Replace(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	b := bufio.NewWriterSize(f, 1<<16)
	if err = errors.Join(write(b), b.Flush(), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
