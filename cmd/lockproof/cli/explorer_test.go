package cli

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExplorer checks that the explorer is served until it is interrupted. It also checks a page that contains the
// explorer and the graph of states.
func TestExplorer(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	cmd := serveCommand()
	cmd.SetArgs([]string{"mutex-shared", "--clients", "2"})
	r, w := io.Pipe()
	cmd.SetOut(w)
	ended := make(chan error, 1)
	go func() { ended <- cmd.ExecuteContext(ctx); w.Close() }()
	url, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err, <-ended)
	}
	answer, err := http.Get(strings.TrimSpace(url))
	if err != nil {
		t.Fatal(err)
	}
	served, err := io.ReadAll(answer.Body)
	if err != nil || !bytes.Contains(served, []byte(`id="lp-starts"`)) || bytes.Contains(served, []byte(`id="lp-wasm"`)) || !bytes.Contains(served, []byte("mutex-shared")) {
		t.Errorf("%d bytes are served: %v", len(served), err)
	}
	answer.Body.Close()
	interrupt()
	if err := <-ended; err != nil {
		t.Error(err)
	}

	path := filepath.Join(t.TempDir(), "page.html")
	var out, errs bytes.Buffer
	if code := run([]string{"explore", "mutex-shared", "--clients", "2", "--rounds", "1", "--out", t.TempDir(), "--html", path, "--explorer"}, &out, &errs); code != exitViolated {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`id="lp-wasm"`, `"nodes":[`, `href="#explore-0"`, "a new execution"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("no %s in the page", want)
		}
	}
}
