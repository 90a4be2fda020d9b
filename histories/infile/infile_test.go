//go:build unix

package infile_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lockproof/lockproof/histories/infile"
)

var page = infile.Input{Noun: "page", Most: 2 << 10}

// TestRead: a regular file up to the size limit is read. A pipe or another kind of file is refused at once.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := unix.Mkfifo(at("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, size := range map[string]int64{"full": page.Most, "over": page.Most + 1, "sparse": 1 << 40} {
		if err := os.WriteFile(at(name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(at(name), size); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at("full"), at("link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"full", "link"} {
		if data, err := page.Read(at(name)); err != nil || len(data) != int(page.Most) {
			t.Errorf("%s: %d bytes, %v", name, len(data), err)
		}
	}
	for path, want := range map[string]string{
		"/dev/zero": "is a device", "/dev/full": "is a device", at("pipe"): "is a pipe", dir: "is a directory",
		at("over"): "more than 2 KiB", at("sparse"): "more than 2 KiB",
	} {
		_, err := page.Read(path)
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "page") {
			t.Errorf("%s: got %v, expected %s", path, err, want)
		}
		if page.Check(path) == nil {
			t.Errorf("%s: Check finds nothing wrong", path)
		}
	}
	if _, err := page.Read(at("none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestStream: input from a pipe is read up to the size limit.
func TestStream(t *testing.T) {
	for size, fits := range map[int64]bool{0: true, page.Most: true, page.Most + 1: false, page.Most * 9: false} {
		data, err := io.ReadAll(page.Stream("standard input", strings.NewReader(strings.Repeat("x", int(size)))))
		if (err == nil) != fits || int64(len(data)) != min(size, page.Most) {
			t.Errorf("%d bytes: %d were given, %v", size, len(data), err)
		}
	}
}
