package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"github.com/lockproof/lockproof/histories/infile"
)

// form is the kind of file that a flag writes. The beginning of a file shows its kind.
type form struct {
	noun  string
	known func(head []byte) bool
}

// forms are the kinds of files that may be overwritten, as runs of lockproof have written them. Any other file comes from
// elsewhere. It may be the judged program or its input, even if the command line does not show that.
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
	}}, // the summary is appended
}

// ours recognises files that begin with one text and contain another.
func ours(begins, has string) func(head []byte) bool {
	return func(head []byte) bool {
		return bytes.HasPrefix(head, []byte(begins)) && bytes.Contains(head, []byte(has))
	}
}

// headMost is the number of bytes of a file that are checked.
const headMost = 4096

// writesOver refuses to overwrite a file of another form than the flag writes. An empty file may be overwritten.
func writesOver(flag *pflag.Flag) error {
	path, form := flag.Value.String(), forms[flag.Name]
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return nil // unreadable files can't be written either, or are tried elsewhere
	}
	for _, own := range []*os.File{os.Stdout, os.Stderr} {
		if at, err := own.Stat(); err == nil && os.SameFile(at, info) { // the shell's output, such as a log
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
