package cli

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
)

// TestLongValues checks that errors shorten very long values.
func TestLongValues(t *testing.T) {
	t.Chdir(t.TempDir())
	long := strings.Repeat("v", 70000)
	for _, words := range [][]string{
		{long}, {"prove", long}, {"prove", "--" + long}, {"prove", "--seed", long}, {"prove", "--property", long}, {"prove", "--on", long}, {"prove", "--time", long},
		{"prove", "--option", long}, {"prove", "--html", long}, {"prove", "--holding", long}, {"check", long},
		{"replay", long}, {"explore", "--start", long}, {"list", long}, {"campaign", "run", long}, {"init", long}, {"compare", long},
	} {
		var out bytes.Buffer
		var code int
		said := capture(t, func() { code = run(words, &out, &out) })
		if said += out.String(); len(said) > 8000 || code != exitCannot {
			t.Errorf("%.40q: exit code %d, %d bytes: %.300s", words, code, len(said), said)
		}
	}
}

// TestWorkersAreBounded checks that a GOMAXPROCS which is too large is lowered, with a message.
func TestWorkersAreBounded(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for asked, want := range map[int]int{2: 2, 32: 32, 4000: 32} {
		runtime.GOMAXPROCS(asked)
		said := capture(t, func() { boundWorkers(2) })
		if got := runtime.GOMAXPROCS(0); got != want || (said != "") != (asked != want) {
			t.Errorf("%d: %d are used, expected %d: %s", asked, got, want, said)
		}
	}
}

// TestMemoryFits checks that a search uses no more memory than the system allows this process. A --memory beyond that
// must be refused.
func TestMemoryFits(t *testing.T) {
	for system, want := range map[int64]int{1 << 20: 1, 1 << 30: 384, 4 << 30: 1920, 1 << 40: mostMemory} {
		if got := searchMemory(system); got != want {
			t.Errorf("%d MiB: a search takes %d MiB, expected %d", system>>20, got, want)
		}
	}
	var out bytes.Buffer
	if code := run([]string{"explore", "--memory", "16777216"}, &out, &out); code != exitCannot || !strings.Contains(out.String(), "--memory 16777216: expected at most") {
		t.Errorf("exit code %d: %s", code, out.String())
	}
}
