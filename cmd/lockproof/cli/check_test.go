package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckPage checks the page of a recorded history that is not linearizable. It must show the history up to the
// operation that cannot be explained, and the reason.
func TestCheckPage(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.html")
	var out, errs bytes.Buffer
	if code := run([]string{"check", "../../../testdata/histories/numbered-semaphore.jsonl", "--html", page}, &out, &errs); code != exitViolated {
		t.Fatalf("exit code %d; %s", code, errs.String())
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"The longest linearizable prefix ends before", "no explanation", `<section id="history">`, `href="#history"`, "<dt>made</dt>"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("%q is not on the page", want)
		}
	}
}
