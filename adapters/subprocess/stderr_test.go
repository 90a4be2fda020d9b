package subprocess

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/histories/secret"
)

// TestStderrTail: the kept lines contain the error message, even if a backtrace follows it.
func TestStderrTail(t *testing.T) {
	for name, c := range map[string]struct {
		said string
		want []string
	}{
		"python": {"Traceback\n  File \"a.py\", line 1\n    f()\nKeyError: 1\n", []string{"Traceback", `File "a.py", line 1`, "f()", "KeyError: 1"}},
		"ruby": {
			"a.rb:20:in `fetch': key not found (KeyError)\n\tfrom a.rb:20:in `start'\n\tfrom b.rb:30:in `answer'\n\tfrom b.rb:20:in `run'\n\tfrom a.rb:52:in `<main>'\n",
			[]string{"a.rb:20:in `fetch': key not found (KeyError)", "from a.rb:20:in `start'"},
		},
		"java": {
			"Exception in thread \"main\" java.lang.Error: a\n\tat A.f(A.java:1)\n\tat A.g(A.java:2)\n\tat A.h(A.java:3)\nCaused by: b\n\tat B.f(B.java:1)\n\t... 3 more\n",
			[]string{`Exception in thread "main" java.lang.Error: a`, "at A.f(A.java:1)", "Caused by: b", "at B.f(B.java:1)"},
		},
		"node": {
			"Error: a\n    at f (a.js:1:1)\n    at g (a.js:2:1)\n    at h (a.js:3:1)\n    at i (a.js:4:1)\n\nNode.js v18\n",
			[]string{"Error: a", "at f (a.js:1:1)", "Node.js v18"},
		},
		"node's own code": {
			"Error: a\n    at afterConnect (node:net:1607:16)\n    at f (a.js:1:1)\n    at g (node:internal/a:2:1)\n", []string{"Error: a", "at f (a.js:1:1)"},
		},
		"java's own code": {
			"java.lang.Error: a\n\tat java.base/java.util.Map.put(Map.java:1)\n\tat A.f(A.java:1)\n", []string{"java.lang.Error: a", "at A.f(A.java:1)"},
		},
		"go": {
			"panic: a\n\ngoroutine 1 [running]:\nruntime.f(...)\n\t/go/src/runtime/f.go:3\nmain.g(...)\n\ta.go:3\nmain.h()\n\ta.go:2 +0x28\nmain.main()\n\ta.go:1 +0x28\nruntime.main()\n\t/go/src/runtime/proc.go:3\nexit status 2\n",
			[]string{"panic: a", "main.g(...)", "a.go:3", "exit status 2"},
		},
		"a sentence": {"from here on\nat once\nfrom there\nat last\n", []string{"from here on", "at once", "from there", "at last"}},
	} {
		var tail stderrTail
		for _, b := range []byte(c.said) {
			if _, err := tail.Write([]byte{b}); err != nil {
				t.Fatal(err)
			}
		}
		if got := tail.tail(); !slices.Equal(got, c.want) {
			t.Errorf("%s: kept %q, expected %q", name, got, c.want)
		}
	}
}

// TestStderrHidesSecrets: a secret that was given to a client is neither shown nor kept, even if it arrives in pieces
// or the line is cut.
func TestStderrHidesSecrets(t *testing.T) {
	var known secret.Known
	known.AddCommand("PASSWORD=marked ./a")
	known.AddOption("api-token", "branded")
	var shown strings.Builder
	c := stderrTail{to: &shown, secrets: &known}
	for _, piece := range []string{"it is mar", "ked\n", strings.Repeat("x", keptLength-3), "marked\n", "redis://u:stained@h\n", "at last: brand", "ed"} {
		if _, err := c.Write([]byte(piece)); err != nil {
			t.Fatal(err)
		}
	}
	c.flush()
	said := shown.String() + strings.Join(c.tail(), "\n")
	for _, part := range []string{"mar", "brand", "stained"} {
		if strings.Contains(said, part) {
			t.Errorf("shows %q: %s", part, said)
		}
	}
	if !strings.Contains(said, "redis://u:***@h") {
		t.Errorf("hides more: %s", said)
	}
}
