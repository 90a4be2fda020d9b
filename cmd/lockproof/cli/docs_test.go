//go:build unix

package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/subprocess"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/internal/redistest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/property"
)

var rewritePages = flag.Bool("rewrite", false, "write into the pages what is made by tests")

var allPages = flag.Bool("all-pages", false, "compare also what takes most of a minute with what pages say that it prints")

// repository is the path of the repository's root, relative to the folder of these tests.
const repository = "../../.."

// pages are the paths, from the repository's root, of all pages of the documentation.
var pages = []string{
	"README.md", "adapters/engine/atlas/README.md", "adapters/measure/README.md", "model/amqp/mutant/README.md", "adapters/foreign/README.md", "adapters/redis/README.md", "adapters/gate/README.md", "adapters/amqp/rabbitmq/README.md", "adapters/amqp/cluster/README.md", "adapters/subprocess/README.md",
	"cmd/lockproof/README.md", "cmd/lockproof/campaign/README.md", "histories/README.md", "histories/draw/README.md",
	"model/property/README.md", "model/scenario/README.md", "testdata/targets/protocol/README.md", "sim/search/README.md", "sim/search/anynumber/README.md",
	"internal/figures/README.md",
}

// fence is a fenced code block of a page: commands or their output.
type fence struct {
	kind string
	text string
	line int
	// follows says that there is no text between this block and the block before.
	follows bool
}

var fences = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

func fencesOf(page string) (all []fence) {
	end := 0
	for _, at := range fences.FindAllStringSubmatchIndex(page, -1) {
		all = append(all, fence{
			page[at[2]:at[3]], page[at[4]:at[5]], strings.Count(page[:at[0]], "\n") + 1, len(all) > 0 && strings.TrimSpace(page[end:at[0]]) == "",
		})
		end = at[1]
	}
	return all
}

func readPage(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(repository, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

var link = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)

// TestPages checks the pages of the documentation. README.md must be short, lines must not be long, and linked files
// must exist. lockproof must accept each command line on a page.
func TestPages(t *testing.T) {
	if page := readPage(t, "README.md"); len(page) > 10_240 {
		t.Errorf("README.md has %d bytes: expected at most 10240; what does not find room has a page beside its package", len(page))
	}
	for _, path := range pages {
		page := readPage(t, path)
		for _, named := range link.FindAllStringSubmatch(page, -1) {
			if _, err := os.Stat(filepath.Join(repository, filepath.Dir(path), named[1])); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
		for i, line := range strings.Split(fences.ReplaceAllStringFunc(page, func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) }), "\n") {
			if utf8.RuneCountInString(line) > 120 && !strings.HasPrefix(line, "|") {
				t.Errorf("%s:%d has %d columns", path, i+1, utf8.RuneCountInString(line))
			}
		}
		for _, f := range fencesOf(page) {
			if f.kind != "sh" {
				continue
			}
			for line := range strings.Lines(f.text) {
				if words := typed(line); len(words) > 0 && words[0] == "lockproof" {
					parses(t, fmt.Sprintf("%s:%d", path, f.line), words)
				}
			}
		}
	}
}

// typed returns the words of a shell command line, without its comment.
func typed(line string) []string {
	line, _, _ = strings.Cut(strings.TrimSpace(line), "  #")
	return exampleWords(line)
}

func parses(t *testing.T, where string, words []string) {
	t.Helper()
	root := rootCommand()
	command, rest, err := root.Find(words[1:])
	if err == nil {
		err = command.ParseFlags(rest)
	}
	if err == nil {
		err = command.ValidateArgs(command.Flags().Args())
	}
	if err != nil || command == root && len(words) > 1 && words[1] != "completion" && !strings.HasPrefix(words[1], "-") {
		t.Errorf("%s: %q: %v", where, words, err)
	}
}

// long lists parts of command lines that take long. With -short their output is not compared.
var long = []string{"counterexamples/", "explore --clients any", "lockproof prove\n", "locked-is-success", "--exec"}

// longest lists parts of command lines that take most of a minute. Their output is compared only with -all-pages.
var longest = []string{"explore --clients 3"}

// TestPagesPrint runs the commands on the pages and compares their output with the page, except for durations. A … on
// the page stands for any text. Commands on a real broker are skipped, because their output varies.
func TestPagesPrint(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs(repository)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range pages {
		dir := t.TempDir()
		if err := os.Symlink(filepath.Join(root, "testdata"), filepath.Join(dir, "testdata")); err != nil {
			t.Fatal(err)
		}
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			pagePrints(t, dir, fencesOf(readPage(t, path)))
		})
	}
}

// pagePrints runs the commands of one page in one folder, and compares their output with the page.
func pagePrints(t *testing.T, dir string, all []fence) {
	for i, f := range all {
		if !f.follows || f.kind != "text" || all[i-1].kind != "sh" || strings.Count(all[i-1].text, "\n") != 1 {
			continue
		}
		line := all[i-1].text
		words := typed(line)
		if words[0] != "lockproof" || strings.Contains(line, "--on ") || strings.Contains(line, "campaign") {
			continue
		}
		t.Run(fmt.Sprint(f.line), func(t *testing.T) {
			if testing.Short() && slices.ContainsFunc(long, func(s string) bool { return strings.Contains(line, s) }) {
				t.Skip("skipped: -short leaves out what takes long")
			}
			if !*allPages && slices.ContainsFunc(longest, func(s string) bool { return strings.Contains(line, s) }) {
				t.Skip("skipped: it takes long; -all-pages compares it")
			}
			if strings.Contains(line, "redis") {
				redistest.Program(t)
			} else if strings.Contains(line, "python3") {
				takes(t, "apt-get install python3-pika", "/usr/bin/python3", "-c", "import pika")
			}
			prints(t, dir, words[1:], f.text)
		})
	}
}

var varies = regexp.MustCompile(`\bin \d[\d.,ms]*( ms| s)?\b|lockproof \d\S*|time went into.*?(over the wire|$)`)

// plainly reduces text to its words: without layout, durations and versions.
func plainly(text string) string {
	return varies.ReplaceAllString(strings.Join(strings.Fields(text), " "), "~")
}

// prints runs a command line as a user does, and compares its output with want.
func prints(t *testing.T, dir string, args []string, want string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), asCommand+"=1", "COLUMNS=100")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, _ := cmd.Output()
	got := plainly(string(out))
	for _, part := range strings.Split(want, "…\n") {
		part = plainly(strings.TrimSpace(part))
		_, after, found := strings.Cut(got, part)
		if !found {
			t.Errorf("%q does not print\n%s\nbut\n%s%s", args, part, out, errs.String())
			return
		}
		got = after
	}
}

// made has the parts of pages that tests write, as functions that return the text of a part. The key is the part's
// name, as in the mark "made by a test: NAME" on the page.
var made = map[string]func() string{
	"properties": func() string {
		var b strings.Builder
		b.WriteString("| property | holds when | mutants that break it |\n| --- | --- | --- |\n")
		for p := range property.Count {
			var by []string
			for _, m := range engine.Mutants() {
				if m.Breaks == p.String() {
					by = append(by, "`"+m.Name+"`")
				}
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", p, property.Properties[p].Sentence, strings.Join(by, " "))
		}
		return b.String()
	},
	"mutants": func() string {
		var b strings.Builder
		b.WriteString("| mutant | what it does | breaks |\n| --- | --- | --- |\n")
		for _, m := range engine.Mutants() {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", m.Name, strings.ReplaceAll(m.Doc, "|", "\\|"), m.Breaks)
		}
		return b.String()
	},
	"protocol": protocolTable,
	"advice":   report.Advice,
	"options": func() string {
		var b strings.Builder
		def := amqplock.DefaultOptions()
		b.WriteString("| option | default | values | |\n| --- | --- | --- | --- |\n")
		for _, o := range def.Table() {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", o.Name, def.Value(o.Name), strings.ReplaceAll(o.Values, "|", "\\|"), o.Doc)
		}
		return b.String()
	},
}

// protocolTable returns a table of the adapter protocol: params and result of each method.
func protocolTable() string {
	written := func(v any) string {
		data, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		return "`" + string(data) + "`"
	}
	var b strings.Builder
	b.WriteString("| method | params | result |\n| --- | --- | --- |\n")
	for _, x := range subprocess.Examples() {
		results := []string{}
		if x.Results == nil {
			results = append(results, "none: the client tells it, unasked")
		}
		for _, r := range x.Results {
			results = append(results, written(r))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", x.Method, written(x.Params), strings.Join(results, " or "))
	}
	return b.String()
}

var marks = regexp.MustCompile(`(?s)<!-- made by a test: (\w+) -->\n.*?<!-- end -->`)

// TestPagesMade checks that the parts of pages which tests write are up to date. With -rewrite it writes them.
func TestPagesMade(t *testing.T) {
	seen := 0
	for _, path := range pages {
		page := readPage(t, path)
		now := marks.ReplaceAllStringFunc(page, func(old string) string {
			seen++
			name := marks.FindStringSubmatch(old)[1]
			return "<!-- made by a test: " + name + " -->\n" + made[name]() + "<!-- end -->"
		})
		keepPage(t, path, page, now)
	}
	if seen != len(made) {
		t.Errorf("%d parts of pages are made, expected %d", seen, len(made))
	}
}

func keepPage(t *testing.T, path, was, now string) {
	t.Helper()
	if now == was {
		return
	}
	if !*rewritePages {
		t.Errorf("%s is not up to date: go test ./cmd/lockproof/cli -run 'TestPagesMade|TestPicture' -rewrite", path)
		return
	}
	if err := os.WriteFile(filepath.Join(repository, path), []byte(now), 0o644); err != nil {
		t.Error(err)
	}
}

// TestPicture checks that the picture in README.md is the diagram on the page of that counterexample.
func TestPicture(t *testing.T) {
	const picture = "testdata/page.svg"
	html := filepath.Join(t.TempDir(), "page.html")
	var out, errs bytes.Buffer
	if code := run([]string{"replay", repository + "/testdata/counterexamples/locked-is-success.mutual-exclusion.json", "--html", html}, &out, &errs); code != exitViolated {
		t.Fatal(errs.String())
	}
	page, err := os.ReadFile(html)
	if err != nil {
		t.Fatal(err)
	}
	style := regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindSubmatch(page)
	var largest []byte
	for _, svg := range regexp.MustCompile(`(?s)<svg .*?</svg>`).FindAll(page, -1) {
		if len(svg) > len(largest) {
			largest = svg
		}
	}
	if style == nil || largest == nil {
		t.Fatal("the page has no diagram")
	}
	open := bytes.IndexByte(largest, '>') + 1
	now := string(largest[:open]) + "<style>" + string(style[1]) + "</style>" + string(largest[open:]) + "\n"
	was, _ := os.ReadFile(filepath.Join(repository, picture))
	if !*rewritePages && said(string(was)) == said(now) { // the layout may change without making the picture wrong
		return
	}
	keepPage(t, picture, string(was), now)
}

// said returns the text of a picture, without its layout.
func said(svg string) string {
	svg = regexp.MustCompile(`(?s)<style>.*?</style>|<[^>]*>`).ReplaceAllString(svg, " ")
	return strings.Join(strings.Fields(svg), " ")
}
