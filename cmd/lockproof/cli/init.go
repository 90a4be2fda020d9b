package cli

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/histories/infile"
	"github.com/lockproof/lockproof/histories/outfile"
)

//go:embed start
var start embed.FS

// language is a programming language for the adapter that `init` writes.
type language struct {
	name    string
	server  string            // kind of server, as in --server; "" means RabbitMQ
	command string            // command that starts the adapter
	setup   map[string]string // commands that install the adapter's requirements in CI, by service
	files   []string          // files of the adapter, from the embedded folder start; a suffix .txt is removed
	next    string            // what the user must type before the first run; "" if nothing
}

var languages = []language{
	{"python", "", "python3 lockproof/adapter.py", inPython, []string{"adapter.py"}, "pip install pika"},
	{"node", "", "node lockproof/adapter.js", inNode, []string{"adapter.js"}, installNode},
	{"go", "", "lockproof/adapter", map[string]string{"github": buildGo, "gitlab": buildGo}, []string{"adapter.go.txt", "go.mod.txt"}, buildGo},
	{"java", "", "java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp lockproof:" + jars + " Adapter", inJava, []string{"Adapter.java"}, buildJava},
	{"ruby", "", "ruby lockproof/adapter.rb", inRuby, []string{"adapter.rb"}, installRuby},
	{"python", "redis", "/usr/bin/python3 lockproof/adapter.py", inPythonOnRedis, []string{"redis/adapter.py"}, "sudo " + installRedis},
}

// beginningIn returns the language with the given name, with an adapter for the given server.
func beginningIn(name, server string) (language, error) {
	var names, servers []string
	for _, l := range languages {
		if l.name == name && l.server == server {
			return l, nil
		}
		if l.server == "" {
			names = append(names, l.name)
		} else {
			servers = append(servers, l.name+" --server "+l.server)
		}
	}
	if !slices.Contains(names, name) {
		return language{}, fmt.Errorf("%q: expected one of %s%s", name, strings.Join(names, ", "), didYouMean(name, names))
	}
	return language{}, fmt.Errorf("%s --server %q: expected %s, or no --server for a lock on RabbitMQ", name, server, strings.Join(servers, ", "))
}

const (
	installNode  = "npm install --no-save amqplib"
	installRedis = "apt-get install redis-server gcc libc6-dev python3-redis"
	installRuby  = "gem install bunny"
	buildGo      = "(cd lockproof && go mod tidy && go build -o adapter .)"
	buildJava    = "javac -cp " + jars + " lockproof/Adapter.java"
	// The paths of the Java libraries on Debian: RabbitMQ's client and SLF4J.
	jars = "/usr/share/java/amqp-client.jar:/usr/share/java/slf4j-api.jar:/usr/share/java/slf4j-nop.jar"
)

// Commands for the machines of CI services. GitHub's machines have everything except the drivers. GitLab uses an image
// that has Go. Both are based on Debian, whose pip needs a flag to install system-wide.
var (
	inPython = map[string]string{
		"github": "pip install --break-system-packages pika",
		"gitlab": "apt-get update -qq && apt-get install -y -qq python3-pip && pip install --break-system-packages pika",
	}
	inNode = map[string]string{"github": installNode, "gitlab": "apt-get update -qq && apt-get install -y -qq npm && " + installNode}
	inJava = map[string]string{
		"github": "sudo apt-get update -qq && sudo apt-get install -y -qq librabbitmq-client-java && " + buildJava,
		"gitlab": "apt-get update -qq && apt-get install -y -qq default-jdk-headless librabbitmq-client-java && " + buildJava,
	}
	inPythonOnRedis = map[string]string{
		"github": "sudo apt-get update -qq && sudo " + strings.Replace(installRedis, "install", "install -y -qq", 1),
		"gitlab": "apt-get update -qq && " + strings.Replace(installRedis, "install", "install -y -qq", 1),
	}
	inRuby = map[string]string{
		"github": "sudo apt-get update -qq && sudo apt-get install -y -qq ruby-bunny",
		"gitlab": "apt-get update -qq && apt-get install -y -qq ruby-bunny",
	}
)

// services are the CI services for which `init` can write a file, with the file's path.
var services = map[string]string{"github": ".github/workflows/lockproof.yml", "gitlab": "lockproof/gitlab-ci.yml"}

func initCommand() *cobra.Command {
	var names []string
	for _, l := range languages {
		if l.server == "" {
			names = append(names, l.name)
		}
	}
	ci, server := "github", ""
	cmd := &cobra.Command{
		Use:   "init " + strings.Join(names, "|") + " [DIRECTORY]",
		Short: "write a starting adapter for your lock, and the file for CI",
		Long: `Writes into a project the files that judging its lock begins with. The first is
lockproof/adapter.*, which stands between lockproof and your library and has a small mutex
in its place. Then come .lockproof.yaml, with which lockproof adapter-check and lockproof
prove need no flags, and a file for CI. The adapter works as it is: replace the lock in it
by yours. Where a Go module is, init go writes ` + goTest + ` beside its code as well:
a test of three lines, with such a mutex, that go test runs.

Nothing that is there already is written over. An adapter that is there is left, and the
other files are written.`,
		Example: `  lockproof init python
  lockproof init python --server redis
  lockproof init go ../my-locks --ci gitlab`,
		GroupID: "judge", ValidArgs: names, Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			l, err := beginningIn(args[0], server)
			if err != nil {
				return err
			}
			return begin(c, l, first(args[1:]), ci)
		},
	}
	cmd.Flags().StringVar(&ci, "ci", ci, "the `SERVICE` whose file is written: github, gitlab or none")
	cmd.Flags().StringVar(&server, "server", "", "the `SERVER` that the lock stands on: redis, with python (default RabbitMQ)")
	return cmd
}

// goTest is the name of the Go test file that judges a lock in its own package.
const goTest = "lockproof_test.go"

// beginning returns the files of a new project, each with its template in the embedded folder start.
func (l *language) beginning(ci string) (map[string]string, error) {
	files := map[string]string{configFile: "lockproof.yaml"}
	for _, name := range l.files {
		files[adapterFile(name)] = l.name + "/" + name
	}
	if path, known := services[ci]; known {
		files[path] = "ci/" + ci + ".yml"
	} else if ci != "none" {
		return nil, fmt.Errorf("--ci %q: expected github, gitlab or none", ci)
	}
	return files, nil
}

// adapterFile returns the path at which a file of an adapter is written.
func adapterFile(name string) string {
	return "lockproof/" + strings.TrimSuffix(path.Base(name), ".txt")
}

// testPackage returns the package name for a test beside the Go code in a folder. It is "" if the folder is in no
// module.
func testPackage(dir string) (string, error) {
	if info, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil || !info.Mode().IsRegular() {
		return "", nil
	}
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".go" || !e.Type().IsRegular() {
			continue
		}
		data, err := goInput.Read(filepath.Join(dir, e.Name()))
		if err != nil {
			return "", err
		}
		if file, err := parser.ParseFile(token.NewFileSet(), e.Name(), data, parser.PackageClauseOnly); err == nil {
			return strings.TrimSuffix(file.Name.Name, "_test") + "_test", nil
		}
	}
	return "lock_test", nil
}

var goInput = infile.Input{Noun: "Go file", Most: 16 << 20}

// begin writes all files of a new project, or none. It keeps files of the adapter that exist already.
func begin(c *cobra.Command, l language, dir, ci string) error {
	files, err := l.beginning(ci)
	if err != nil {
		return err
	}
	tested := ""
	if l.name == "go" {
		if tested, err = testPackage(dir); err != nil {
			return err
		}
	}
	if tested != "" {
		files[goTest] = "go/lock_test.go.txt"
	}
	left := l.there(dir)
	for _, to := range left {
		delete(files, to)
	}
	written := slices.Sorted(maps.Keys(files))
	if err := absent(dir, written); err != nil {
		return err
	}
	text := l.replacer(ci, tested)
	for _, to := range written {
		if err := fill(filepath.Join(dir, to), dir, files[to], text); err != nil {
			return err
		}
		fmt.Fprintln(c.OutOrStdout(), "wrote", filepath.Join(dir, to))
	}
	for _, to := range left {
		fmt.Fprintln(c.OutOrStdout(), "left", filepath.Join(dir, to)+", which is there already")
	}
	if len(left) == 0 { // a user who creates a project with an adapter thereby permits running it
		permitLater(filepath.Join(dir, configFile), l.command)
	}
	fmt.Fprintf(c.OutOrStdout(), "\nNext, in %s:\n\n%s", filepath.Clean(dir), l.steps(tested != ""))
	return nil
}

// there returns the files of the adapter that exist in a folder already.
func (l *language) there(dir string) (left []string) {
	for _, name := range l.files {
		to := adapterFile(name)
		if info, err := os.Lstat(filepath.Join(dir, to)); err == nil && info.Mode().IsRegular() {
			left = append(left, to)
		}
	}
	return left
}

// replacer fills the placeholders in the templates with the project's details.
func (l *language) replacer(ci, tested string) *strings.Replacer {
	command, test := l.command, ""
	if l.server != "" {
		command += "\n  server: " + l.server
	}
	if tested != "" {
		test = goTests[ci]
	}
	return strings.NewReplacer("COMMAND", command, "SETUP", l.setup[ci], "RELEASE", "v"+engine.Version, "PACKAGE", tested, "TEST\n", test)
}

// goTests are the lines of a CI file that run a Go module's own tests, by service.
var goTests = map[string]string{
	"github": "      # The lock of " + goTest + "; the last step judges the one behind lockproof/adapter.go.\n      - run: go test ./...\n",
	"gitlab": "    # The lock of " + goTest + "; lockproof prove judges the one behind lockproof/adapter.go.\n    - go test ./...\n",
}

// steps returns the next steps for the user. tested says that a Go test was written.
func (l *language) steps(tested bool) string {
	adapter := "    " + l.next + "\n    lockproof adapter-check\n    lockproof prove\n"
	if !tested {
		return adapter
	}
	return "    go get -t github.com/lockproof/lockproof@v" + engine.Version + ` github.com/rabbitmq/amqp091-go
    go mod tidy
    go test -run TestLock .

That judges the lock of ` + goTest + `: it is the gate of Go code, and the file for CI
runs it, too. The lock behind lockproof/adapter.go is another, which is judged by

` + adapter
}

// fill writes a file of a new project from its template.
func fill(to, dir, from string, text *strings.Replacer) error {
	data, err := start.ReadFile("start/" + from)
	if err != nil {
		return err
	}
	at := outfile.Place{Path: to, Folder: cmp.Or(dir, ".")}
	if err := (outfile.Place{Path: filepath.Dir(at.Path), Folder: at.Folder}).Make(); err != nil {
		return err
	}
	return at.Write(func(w io.Writer) error { _, err := text.WriteString(w, string(data)); return err })
}

// absent creates the folder, and returns an error if one of the files exists already.
func absent(dir string, files []string) error {
	for _, to := range files {
		_, err := os.Lstat(filepath.Join(dir, to))
		if err == nil {
			err = errors.New("it is there already; name another directory, or move it")
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w", filepath.Join(dir, to), err)
		}
	}
	if err := os.MkdirAll(cmp.Or(dir, "."), 0o777); err != nil {
		return err
	}
	for _, to := range files {
		folder := outfile.Place{Path: filepath.Join(dir, filepath.Dir(to)), Folder: cmp.Or(dir, ".")}
		if err := folder.TryFolder(); err != nil {
			return err
		}
	}
	return nil
}
