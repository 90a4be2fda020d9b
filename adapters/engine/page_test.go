package engine

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
)

// maxPage is the maximum size of a page without the explorer, in bytes.
const maxPage = 300_000

// TestPages checks the page of every counterexample. The page shows the cause, and the nearest execution without
// violations or that none was found. It is small and has no script. With the explorer added, no text in a script can
// close the script element early.
func TestPages(t *testing.T) {
	files, err := filepath.Glob("../../testdata/counterexamples/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no counterexamples", err)
	}
	alone := 0
	for _, file := range files {
		ce, err := histories.LoadCounterexample(file)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Replay(ce)
		if err != nil {
			t.Fatal(err)
		}
		page := r.Page()
		var plain, whole bytes.Buffer
		if err := report.WritePage(&plain, page); err != nil {
			t.Fatal(err)
		}
		page.Explorer = &report.Explorer{Wasm: []byte("</script>"), Runtime: []byte("</script>")}
		if err := report.WritePage(&whole, page); err != nil {
			t.Fatal(err)
		}
		if n := plain.Len(); n > maxPage {
			t.Errorf("%s: the page has %d bytes", file, n)
		}
		for _, want := range []string{`class="cause"`, "<dt>server</dt>", `aria-label="Space-time diagram`} {
			if !strings.Contains(plain.String(), want) {
				t.Errorf("%s: no %s", file, want)
			}
		}
		if strings.Contains(plain.String(), "<script") || strings.Count(whole.String(), "<script") != strings.Count(whole.String(), "</script>") {
			t.Errorf("%s: scripts", file)
		}
		switch x := page.Executions[0]; {
		case !x.Sought:
			t.Errorf("%s: nothing was looked for", file)
		case x.Well == nil:
			alone++
		case len(x.Well.Violations) > 0:
			t.Errorf("%s: not all is well: %v", file, x.Well.Violations)
		}
	}
	if alone == 0 || alone > len(files)/2 {
		t.Errorf("%d of %d have no execution in which all is well", alone, len(files))
	}
}
