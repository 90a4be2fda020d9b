//go:build unix

package queue

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
)

// TestCredentialsAreFiles checks that a device, a pipe, or a sparse file of a terabyte is refused as credentials,
// certificate or plan.
func TestCredentialsAreFiles(t *testing.T) {
	dir := t.TempDir()
	pipe, sparse := filepath.Join(dir, "pipe"), filepath.Join(dir, "sparse")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(sparse, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(sparse, 1<<40); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/dev/zero", "/dev/full", pipe, sparse, dir} {
		for _, s := range []campaign.Server{{Creds: path}, {NKey: path}, {Cert: path, Key: path}, {CA: path}} {
			s.URL = "nats://127.0.0.1:1"
			if c, err := connect(&s); c != nil || err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("%+v: %v", s, err)
			}
		}
		if _, err := campaign.Load(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("a plan: %v", err)
		}
		if err := os.Symlink(path, filepath.Join(dir, statusFile)); err != nil {
			t.Fatal(err)
		}
		if _, err := lookIn(dir); err == nil || !strings.Contains(err.Error(), statusFile) {
			t.Errorf("a status: %v", err)
		}
		if err := os.Remove(filepath.Join(dir, statusFile)); err != nil {
			t.Fatal(err)
		}
	}
}
