package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestNothingTakesTheTerminalOver checks that escape sequences in the output of programs, in files and in file names
// are printed in a harmless form.
func TestNothingTakesTheTerminalOver(t *testing.T) {
	t.Parallel()
	const evil = "evil\x1b]0;title\a\u009b2J\u202e"
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	adapter := write("adapter", `#!/bin/sh
printf 'on standard error: evil\033[2J\007\302\2332J\377\342\200\256\n' >&2
while read -r call; do
	printf '{"jsonrpc":"2.0","id":1,"result":{"name":"evil\\u001b[2J\302\2332J\342\200\256","locks":["semaphore"],"operations":["acquire"]}}\n'
done`)
	strange := write("strange", `#!/bin/sh
while read -r call; do printf '{"jsonrpc":"2.0","id":"evil\302\2332J\342\200\256","result":{}}\n'; done`)
	history := write(evil+".jsonl", `{"type":"invoke","process":1,"f":"acquire","evil`+evil+`":1}`)
	held := write(evil+"-held.jsonl", `{"type":"invoke","process":1,"f":"acquire"}`)
	for _, args := range [][]string{
		{"adapter-check", "--exec", "exec sh " + adapter},
		{"adapter-check", "--exec", "exec sh " + strange},
		{"prove", "--exec", "exec sh " + adapter, "--scenarios", "1", "--out", dir},
		{"prove", evil},
		{evil},
		{"--" + evil},
		{"check", history},
		{"check", held},
		{"check", held, "--json"},
		{"check", "--lock-type", evil, held},
		{"replay", filepath.Join(dir, evil)},
		{"replay", execCounterexample(t, evil)},
		{"replay", "--run-exec", execCounterexample(t, "printf 'evil\\033[2J\\r\\n' >&2; exit 1")},
	} {
		var out, errs bytes.Buffer
		run(args, &out, &errs)
		text := out.String() + errs.String()
		for _, r := range text {
			if !strconv.IsGraphic(r) && r != '\n' && r != '\t' {
				t.Errorf("%q: prints %U: %q", args, r, text)
				break
			}
		}
		if !strings.Contains(text, "evil") {
			t.Errorf("%q: says nothing of it: %q", args, text)
		}
	}
}
