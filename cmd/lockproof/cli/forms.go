package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"github.com/lockproof/lockproof/histories/infile"
)

// form is a kind of output file. It can be recognised by the beginning of the file.
type form struct {
	noun  string
	known func(head []byte) bool
}

// forms are, by flag, the kinds of files that lockproof may overwrite, because it has written them itself. Any other
// file may be the user's, for example an input of the judged program that the command line does not name.
var forms = map[string]form{
	"html":     {"HTML page", ours("<!doctype html", `<meta name="generator" content="lockproof `)},
	"junit":    {"JUnit XML", ours("<?xml", `<testsuite name="lockproof `)},
	"sarif":    {"SARIF", ours("{", `"name": "lockproof"`)},
	"markdown": {"Markdown", ours("# ", "\n\nlockproof ")},
	"tables": {"table", func(head []byte) bool {
		return bytes.HasPrefix(head, []byte("# lockproof: ")) || bytes.HasPrefix(head, []byte("% lockproof "))
	}},
	"graph": {"state graph", func(head []byte) bool {
		return bytes.HasPrefix(head, []byte("// lockproof: ")) || bytes.HasPrefix(head, []byte("<!-- lockproof: "))
	}},
	"checkpoint": {"checkpoint", ours("lockproof ", "")},
	"jsonl":      {"history", ours(`{"lockproof":"history"`, "")},
	"summary": {"Markdown", func(head []byte) bool {
		return !bytes.ContainsAny(head[:1], "{[") && !bytes.HasPrefix(head, []byte("#!"))
	}}, // a summary is appended, so the file may have other content
}

// ours returns a function that recognises files which begin with one text and contain another.
func ours(begins, has string) func(head []byte) bool {
	return func(head []byte) bool {
		return bytes.HasPrefix(head, []byte(begins)) && bytes.Contains(head, []byte(has))
	}
}

// headMost is the number of bytes at the beginning of a file that are checked.
const headMost = 4096

// writesOver returns an error if a flag's file exists and is of another kind than the flag writes. An empty file may be
// overwritten.
func writesOver(flag *pflag.Flag) error {
	path, form := flag.Value.String(), forms[flag.Name]
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return nil // a file that cannot be read cannot be written either, or is checked elsewhere
	}
	for _, own := range []*os.File{os.Stdout, os.Stderr} {
		if at, err := own.Stat(); err == nil && os.SameFile(at, info) { // this process's own output, such as a log
			return nil
		}
	}
	f, err := (infile.Input{Noun: form.noun, Most: 1 << 62}).Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, headMost))
	if err != nil {
		return err
	}
	if len(head) > 0 && !form.known(head) {
		return fmt.Errorf("%s is there already, and is no %s of lockproof's: name another file, or delete it first", path, form.noun)
	}
	return nil
}
