package cli

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
)

var badInputs = flag.Int("bad", 60, "how many bad inputs TestBadInputs gives to the commands")

// badLimit is the maximum time that a command may take for a bad input, on a busy machine.
const badLimit = time.Minute

// programMark is an environment variable that makes this test binary behave like the program lockproof.
const programMark = "LOCKPROOF_TEST_IS_PROGRAM"

func init() {
	if os.Getenv(programMark) != "" {
		os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
	}
}

// bad draws bad inputs from a seed.
type bad struct {
	*rand.Rand
	samples map[string][]byte // valid files, by name
	n       int
}

// mutations are the ways to damage the content of a file.
var mutations = []struct {
	name string
	do   func(b *bad, data []byte) []byte
}{
	{"cut off", func(b *bad, d []byte) []byte { return d[:b.IntN(len(d)+1)] }},
	{"bits flipped", func(b *bad, d []byte) []byte {
		for range 1 + b.IntN(8) {
			if len(d) > 0 {
				d[b.IntN(len(d))] ^= 1 << b.IntN(8)
			}
		}
		return d
	}},
	{"nested", func(b *bad, d []byte) []byte {
		return b.insert(d, strings.Repeat([]string{"[", `{"a":`, "{", "(", "- "}[b.IntN(5)], 1<<(4+b.IntN(15))))
	}},
	{"huge number", func(b *bad, d []byte) []byte {
		numbers := regexp.MustCompile(`\d+`).FindAllIndex(d, -1)
		huge := []string{"99999999999999999999999999", "1e400", "-9223372036854775809", "18446744073709551616", "1" + strings.Repeat("0", 5000)}[b.IntN(5)]
		if len(numbers) == 0 {
			return b.insert(d, huge)
		}
		at := numbers[b.IntN(len(numbers))]
		return []byte(string(d[:at[0]]) + huge + string(d[at[1]:]))
	}},
	{"invalid UTF-8", func(b *bad, d []byte) []byte { return b.insert(d, "\xff\xfe\xc3\x28\xed\xa0\x80") }},
	{"NUL", func(b *bad, d []byte) []byte { return b.insert(d, "\x00") }},
	{"CRLF", func(b *bad, d []byte) []byte { return bytes.ReplaceAll(d, []byte("\n"), []byte("\r\n")) }},
	{"BOM", func(b *bad, d []byte) []byte { return append([]byte("\ufeff"), d...) }},
	{"long", func(b *bad, d []byte) []byte { return b.insert(d, strings.Repeat("long", 20000)) }},
	{"twice", func(b *bad, d []byte) []byte { return append(bytes.Clone(d), d...) }},
	{"empty", func(b *bad, d []byte) []byte { return nil }},
	{"random", func(b *bad, _ []byte) []byte {
		d := make([]byte, b.IntN(1000))
		for i := range d {
			d[i] = byte(b.Uint32())
		}
		return d
	}},
	{"control characters", func(b *bad, d []byte) []byte { return b.insert(d, "\x1b]0;title\x07\u202e\r") }},
}

func (b *bad) insert(d []byte, text string) []byte {
	at := b.IntN(len(d) + 1)
	return []byte(string(d[:at]) + text + string(d[at:]))
}

// words are values that are invalid for nearly every flag and argument.
var words = []string{
	"", " ", "-", "--", "-1", "0", "NaN", "Inf", "1e309", "9223372036854775808", "-9223372036854775809", "0x10", "1_000", "٣", "true", "null", "\xff", "a\tb", "…",
	"amqp://", "amqp://u:p@", "amqp://127.0.0.1:1/", "amqp://127.0.0.1:99999/%2F", "postgres://127.0.0.1:1/x", "mysql://127.0.0.1:1", "redis://127.0.0.1:1", "http://127.0.0.1:1",
	"nats://127.0.0.1:1", "://", "amqp://[::1", "amqp://%zz/", "127.0.0.1:1", "/dev/null/x", "/nonexistent/file", ".", "/", "..", "~", "slots=1,,2", "a=b", "=", "semaphore", "locked-is-success",
	"mutual-exclusion", "no-such-thing", "2562048h", "-5s", "1ns", "5", "''", "'", "\"", "$(id)", "sh -c 'exit 3'", "false", "true --x", strings.Repeat("x", 5000),
}

// badCommands are command lines that read a file or take flags. In them, F stands for a damaged file and G for a valid
// one. sample is the name of the valid file.
var badCommands = []struct{ words, sample string }{
	{"check F", "h.jsonl"}, {"check --lock-type semaphore F", "h.jsonl"}, {"check --html p.html F", "h.edn"}, {"check F", "h.edn"}, {"replay F", "c.json"}, {"replay --html p.html F", "c.json"},
	{"explore --start F@1", "c.json"}, {"explore --resume F", "c.json"}, {"explore --clients any --resume F", "c.json"}, {"prove --scenarios 5 --config F", "flags.yaml"},
	{"check G", "h.jsonl"}, {"replay G", "c.json"}, {"prove --scenarios 5", ""}, {"explore --slots 1", ""}, {"compare --scenarios 5 semaphore", ""}, {"mutants --scenarios 1", ""},
	{"list", ""}, {"atlas", ""}, {"adapter-check", ""}, {"init", ""}, {"completion", ""}, {"version", ""}, {"prove --exec 'exit 1' --scenarios 5", ""}, {"nonsense", ""},
}

// badFlags matches the flags in a command's help.
var badFlags = regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)( \S)?`)

// next returns a command line with at least one mistake, the name of the damaged file ("" if there is none), and the
// mistake in words.
func (b *bad) next(t *testing.T, flags map[string][]string) (args []string, file, did string) {
	c := badCommands[b.IntN(len(badCommands))]
	b.n++
	for _, word := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(c.words, -1) {
		word = strings.Trim(word, "'")
		switch {
		case strings.HasPrefix(word, "F"):
			m := mutations[b.IntN(len(mutations))]
			did += m.name + " "
			file = fmt.Sprintf("bad%d%s", b.n, filepath.Ext(c.sample))
			if err := os.WriteFile(file, m.do(b, bytes.Clone(b.samples[c.sample])), 0o644); err != nil {
				t.Fatal(err)
			}
			word = file + strings.TrimPrefix(word, "F")
		case word == "G":
			word = c.sample
		}
		args = append(args, word)
	}
	if file == "" || b.IntN(3) == 0 {
		did += "flags"
		for range 1 + b.IntN(2) {
			if all := flags[args[0]]; len(all) > 0 && b.IntN(4) > 0 {
				args = append(args, "--"+all[b.IntN(len(all))])
				if b.IntN(5) == 0 {
					continue
				}
				args[len(args)-1] += "="
			} else {
				args = append(args, "")
			}
			args[len(args)-1] += strings.ReplaceAll(words[b.IntN(len(words))], "\x00", "")
		}
	}
	return args, file, did
}

// TestBadInputs gives commands bad flags, files and addresses. A command must end in limited time, with an exit code
// and with a message that says what is wrong. Files that are read must not change. The flag -bad 400 tries more inputs.
func TestBadInputs(t *testing.T) {
	b := &bad{Rand: rand.New(rand.NewPCG(uint64(*badInputs), 1)), samples: map[string][]byte{
		"h.jsonl":    []byte(`{"type":"invoke","process":0,"f":"acquire"}` + "\n" + `{"type":"ok","process":0,"f":"acquire","value":1}` + "\n"),
		"h.edn":      []byte("{:type :invoke, :f :acquire, :process 0, :time 1}\n{:type :ok, :f :acquire, :process 0, :time 2}\n"),
		"flags.yaml": []byte("prove:\n  scenarios: 5\n  seed: 3\n"),
	}}
	var err error
	if b.samples["c.json"], err = os.ReadFile("../../../testdata/counterexamples/verify-twice.cheap-verify.json"); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for name, data := range b.samples {
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	flags := make(map[string][]string)
	for _, c := range badCommands {
		name := strings.Fields(c.words)[0]
		if flags[name] == nil {
			cmd := exec.Command(self, name, "--help")
			cmd.Env = append(os.Environ(), programMark+"=1")
			help, _ := cmd.Output()
			for _, m := range badFlags.FindAllSubmatch(help, -1) {
				flags[name] = append(flags[name], string(m[1]))
			}
		}
	}
	codes := make(map[int]int)
	for range *badInputs {
		args, file, did := b.next(t, flags)
		codes[b.try(t, self, args, file, did)]++
	}
	t.Logf("exit codes of %d: %v", *badInputs, codes)
}

// try runs lockproof with a bad input, checks how it ends, and returns the exit code.
func (b *bad) try(t *testing.T, self string, args []string, file, did string) int {
	before := contents(t)
	ctx, cancel := context.WithTimeout(t.Context(), badLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Env = append(os.Environ(), programMark+"=1", "HOME="+t.TempDir())
	cmd.WaitDelay = time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // the exit code is checked below
	code, said := cmd.ProcessState.ExitCode(), errs.String()
	fail := func(format string, more ...any) {
		t.Errorf("%d %.200q (%s): exit code %d: %s: %.600s", b.n, args, did, code, fmt.Sprintf(format, more...), said)
	}
	switch {
	case ctx.Err() != nil:
		fail("it takes longer than %v", badLimit)
	case strings.Contains(said, "goroutine ") || strings.Contains(said, "panic") || strings.Contains(said, "runtime error"):
		fail("it panics")
	case code < exitHolds || code > exitInconclusive || code == exitInterrupted:
		fail("expected 0, 1, 2 or 4")
	case code == exitCannot && !strings.Contains(said, "lockproof: "):
		fail("nothing is said")
	case code == exitCannot && file != "" && strings.TrimSpace(did) != "flags" && !strings.Contains(did, "flags") && !strings.Contains(said, file):
		fail("the file %s is not named", file)
	case strings.ContainsFunc(said+out.String(), func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' }):
		fail("control characters are shown")
	case len(said) > 64<<10:
		fail("%d bytes are said", len(said))
	}
	for name, was := range before {
		if data, err := os.ReadFile(name); (err != nil || string(data) != was) && !strings.Contains(strings.Join(args, " "), "="+name) {
			fail("%s is changed", name)
		}
	}
	return code
}

// contents returns the content of the input files in the current folder, by name.
func contents(t *testing.T) map[string]string {
	all := make(map[string]string)
	err := fs.WalkDir(os.DirFS("."), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !(strings.HasPrefix(path, "bad") || strings.HasPrefix(path, "h.") || path == "c.json" || path == "flags.yaml") {
			return nil
		}
		data, err := os.ReadFile(path)
		all[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
