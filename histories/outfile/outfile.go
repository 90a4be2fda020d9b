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

// Write writes a file that the user has named.
func Write(path string, write func(io.Writer) error) error { return Place{Path: path}.Write(write) }

func failed(path string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) && (at.Path == path || strings.Contains(filepath.Base(at.Path), ".lockproof-")) {
		err = fmt.Errorf("%s: %w", at.Op, at.Err) // the path is added anyway, and a temporary file's name says nothing
	}
	if err != nil {
		err = fmt.Errorf("%q can't be written: %w; name a place that can be written to", path, err)
	}
	return err
}

// bufferSize is the size of the write buffer in bytes.
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

// unfinished matches the names of files that runs are writing, or have left unfinished.
var unfinished = regexp.MustCompile(`^\..+\.lockproof-[A-Z2-7]{26}$`)

// sweep removes the files in a directory that killed runs have left unfinished.
func sweep(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if unfinished.MatchString(e.Name()) {
			_ = leftover.RemoveFile(filepath.Join(dir, e.Name())) // its run may be alive, or another may have removed it
		}
	}
}
