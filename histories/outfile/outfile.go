package outfile

import (
	"bufio"
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

// Write writes a file whose path the user has named.
func Write(path string, write func(io.Writer) error) error { return Place{Path: path}.Write(write) }

func failed(path string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) && (at.Path == path || strings.Contains(filepath.Base(at.Path), ".lockproof-")) {
		err = fmt.Errorf("%s: %w", at.Op, at.Err) // the path is added below, and a temporary file's name does not help
	}
	if err != nil {
		err = fmt.Errorf("%q can't be written: %w; name a place that can be written to", path, err)
	}
	return err
}

// bufferSize is the size of the write buffer in bytes.
const bufferSize = 1 << 16

// put writes to a file, calls synced after the last byte, and closes the file.
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

// unfinished matches the names of temporary files that runs are writing, or have left behind.
var unfinished = regexp.MustCompile(`^\..+\.lockproof-[A-Z2-7]{26}$`)

// sweep deletes the temporary files that killed runs have left in a directory.
func sweep(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if unfinished.MatchString(e.Name()) {
			_ = leftover.RemoveFile(filepath.Join(dir, e.Name())) // fails if the file's run lives or the file is gone
		}
	}
}
