package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/kept"
	"github.com/lockproof/lockproof/cmd/lockproof/cli/ciguard"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/known"
	"github.com/lockproof/lockproof/histories/outfile"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/histories/secret"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// outputFlags say what to write besides the printed report.
type outputFlags struct {
	json    bool
	junit   string
	html    string
	summary string
	sarif   string
	notes   bool
	out     string
	// command is the command that has these flags.
	command *cobra.Command
	// require is the value of --require. required contains those of its properties that are judged.
	require  properties
	required property.Set
	// least is the minimum number of executions, by --least; 0 means no minimum.
	least int
	// earlier is the result of repeating stored counterexamples of earlier runs; nil if the run has not repeated any.
	earlier *kept.Earlier
	// names chooses the file names of the run's counterexamples.
	names kept.Names
	// findings are the project's known findings; nil until they have been read.
	findings known.Findings
}

func (f *outputFlags) register(cmd *cobra.Command) {
	f.registerReport(cmd)
	cmd.Flags().Lookup("sarif").Usage += ", located in the first file that --exec names"
	cmd.Flags().StringVar(&f.out, "out", "counterexamples", "the `DIRECTORY` of counterexamples and recorded histories; prove begins with those of earlier runs, and moves to its folder passed those that pass now")
}

// registerReport registers the flags for a command that writes a report, but no counterexamples.
func (f *outputFlags) registerReport(cmd *cobra.Command) {
	f.command = cmd
	flags := cmd.Flags()
	flags.BoolVar(&f.json, "json", false, "print the report as JSON instead of the card")
	flags.StringVar(&f.junit, "junit", "", "write the report as JUnit XML to a `FILE`")
	flags.StringVar(&f.html, "html", "", "write the report, diagrams and histories as one HTML `FILE`")
	flags.StringVar(&f.summary, "summary", "", "append the report as Markdown to a `FILE`, such as the page of a job: \"$GITHUB_STEP_SUMMARY\"")
	flags.StringVar(&f.sarif, "sarif", "", "write the findings as SARIF to a `FILE`")
	flags.BoolVar(&f.notes, "annotate", false, "print findings also as commands that GitHub shows at the top of a job")
	flags.Var(orAll{&f.require}, "require", "a run in which one of these properties is not judged is inconclusive; or all")
}

// demand evaluates --require. judged are the properties that the run judges, and kind is its lock type.
func (f *outputFlags) demand(judged property.Set, kind lock.Kind) (err error) {
	f.required, err = f.require.required(judged, kind)
	return err
}

// outputs are the flags that name a file to be written.
var outputs = []string{"junit", "html", "summary", "sarif", "markdown", "tables", "graph", "checkpoint", "jsonl"}

// within is the key of an annotation of flags that the file of flags has set. Its value is the folder that must contain
// the flag's output.
const within = "within"

// placeOf returns the path of the file or folder that a flag names, and the folder that must contain it. A typed path
// may be anywhere. A path from a file of flags must be inside that file's folder, and a default path inside the current
// folder.
func placeOf(flag *pflag.Flag) outfile.Place {
	p := outfile.Place{Path: flag.Value.String()}
	if folder := flag.Annotations[within]; len(folder) > 0 {
		p.Folder = folder[0]
	} else if !flag.Changed {
		p.Folder = "."
	}
	return p
}

// inFolder returns the path of a file in the folder that a flag names. lockproof has chosen the file's name.
func inFolder(flag *pflag.Flag, name string) outfile.Place {
	folder := placeOf(flag)
	return outfile.Place{Path: filepath.Join(folder.Path, name), Folder: cmp.Or(folder.Folder, folder.Path)}
}

// tryOutputs checks before the run that a command's output files can be written.
func tryOutputs(c *cobra.Command) error {
	for _, name := range outputs {
		if flag := c.Flags().Lookup(name); flag != nil && flag.Value.String() != "" {
			if err := cmp.Or(placeOf(flag).Try(), writesOver(flag)); err != nil {
				return fmt.Errorf("--%s: %w", name, err)
			}
		}
	}
	if flag := c.Flags().Lookup("out"); flag != nil && flag.Value.String() != "" {
		if err := placeOf(flag).TryFolder(); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	return nil
}

// write writes the result of a run. It writes counterexamples first, so that later errors cannot lose them. The
// returned error says how the run ended and what could not be written. It also contains the errors in also.
func (f *outputFlags) write(c *cobra.Command, res *engine.Result, also ...error) error {
	res.Report.Required, res.Report.Least, res.Report.Command, res.Report.At = f.required, f.least, commandLine(), time.Now()
	findings, unread := f.known()
	if also = append(also, unread); f.earlier != nil {
		also = append(also, f.earlier.Err)
	}
	res.Accept(findings, time.Now())
	unsaved := f.save(res)
	unprinted := f.print(c.OutOrStdout(), res.Report)
	if f.notes {
		unprinted = all(unprinted, report.WriteAnnotations(ciguard.Commands(c.OutOrStdout()), res.Report, f.source()))
	}
	return all(append(also, ended(res.Report), unsaved, unprinted, f.files(c, res))...)
}

// save writes the counterexamples, and adds to the report the commands that replay them.
func (f *outputFlags) save(res *engine.Result) error {
	var errs []error
	for _, ce := range res.Counterexamples("") {
		found := res.Report.Result(ce.Property).Violation
		if found.Earlier { // the counterexample has a file already
			continue
		}
		path, err := f.keep(ce)
		if err != nil {
			errs = append(errs, err)
		} else {
			found.File, found.Command = path, replaying(ce, path)
		}
	}
	return all(errs...)
}

// replaying returns the command line that replays a counterexample. It contains --run-exec for a program, because the
// user has just run that program.
func replaying(ce *histories.Counterexample, path string) string {
	if ce.Exec != "" {
		return "lockproof replay --run-exec " + quote(path)
	}
	return "lockproof replay " + quote(path)
}

// bounds are the flags that bound the executions of a run. They are part of the names of counterexample files, so that
// runs with different bounds have different files.
var bounds = []string{
	"clients", "admins", "slots", "start", "most-slots", "rounds", "calls", "admin-calls", "lock",
	"crashes", "crash-share", "drops", "channel-errors", "lost", "lapses", "restarts", "clocks", "late", "strict", "servers",
}

// name returns the file name for a property's counterexample. It depends on the target, its options, and the given
// flags in bounds.
func (f *outputFlags) name(p property.Property, target string, options []string) string {
	named := slices.Clone(options)
	for _, name := range bounds {
		if flag := f.command.Flags().Lookup(name); flag != nil && flag.Changed {
			named = append(named, name+"="+flag.Value.String())
		}
	}
	return histories.FileName(p, target, named...)
}

// known returns the project's known findings, for commands that find violations.
func (f *outputFlags) known() (_ known.Findings, err error) {
	if f.findings != nil || !slices.Contains(judging, f.command.Name()) {
		return f.findings, nil
	}
	f.findings, err = known.Load(known.FileName)
	return f.findings, err
}

// folder is the folder in which counterexamples are stored.
func (f *outputFlags) folder() kept.Folder {
	return kept.Folder{At: placeOf(f.command.Flags().Lookup("out"))}
}

// keep stores a counterexample at the end of the run.
func (f *outputFlags) keep(ce *histories.Counterexample) (path string, err error) {
	name, err := f.names.AtLast(f.folder(), ce, f.name(ce.Property, ce.Scenario.Target, ce.Origin.Options))
	if err != nil {
		return "", err
	}
	return f.saveAs(ce, name)
}

// found stores a counterexample as soon as the run has found it, unless an earlier run's file has its name. Errors are
// ignored here, because the counterexample is written again at the end.
func (f *outputFlags) found(ce *histories.Counterexample) {
	if name := f.names.Now(f.folder(), ce, f.name(ce.Property, ce.Scenario.Target, ce.Origin.Options)); name != "" {
		_, _ = f.saveAs(ce, name)
	}
}

// saveAs writes a counterexample of the run to a file with the given name.
func (f *outputFlags) saveAs(ce *histories.Counterexample, name string) (path string, err error) {
	ce.Origin.Command = commandLine()
	return saveIn(f.command.Flags().Lookup("out"), name, ce)
}

// saveIn writes a counterexample to a file in the folder that a flag names.
func saveIn(flag *pflag.Flag, name string, ce *histories.Counterexample) (path string, err error) {
	at := inFolder(flag, name)
	if err := placeOf(flag).Make(); err != nil {
		return at.Path, fmt.Errorf("counterexamples: %w; --out names another directory", err)
	}
	return at.Path, ce.SaveAt(at)
}

func (f *outputFlags) files(c *cobra.Command, res *engine.Result) error {
	return all(
		writeFile(c, "junit", func(w io.Writer) error { return report.WriteJUnit(w, res.Report) }),
		writePage(c, res.Page),
		writeFile(c, "sarif", func(w io.Writer) error { return report.WriteSARIF(w, res.Report, f.source()) }),
		f.summarize(res.Report),
	)
}

// source returns the source file to which findings refer: the first file that the command of --exec names. If FILE.go
// exists beside a program FILE, it is FILE.go.
func (f *outputFlags) source() string {
	flag := f.command.Flags().Lookup("exec")
	if flag == nil {
		return ""
	}
	for _, word := range strings.Fields(flag.Value.String()) {
		word = strings.Trim(word, `'"`)
		for _, name := range []string{word + ".go", word} {
			if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && filepath.IsLocal(name) {
				return name
			}
		}
	}
	return ""
}

// summarize appends the report to the file of --summary. If a command has several runs, their reports follow each
// other.
func (f *outputFlags) summarize(r *report.Report) error {
	if f.summary == "" {
		return nil
	}
	err := placeOf(f.command.Flags().Lookup("summary")).Append(func(w io.Writer) error { return report.WriteSummary(w, r) })
	if err != nil {
		return fmt.Errorf("--summary: %w", err)
	}
	return nil
}

// writeFile writes the file that a flag names, if the flag is set.
func writeFile(c *cobra.Command, name string, write func(io.Writer) error) error {
	flag := c.Flags().Lookup(name)
	if flag.Value.String() == "" {
		return nil
	}
	if err := placeOf(flag).Write(write); err != nil {
		return fmt.Errorf("--%s: %w", name, err)
	}
	return nil
}

func (f *outputFlags) print(w io.Writer, r *report.Report) error {
	if f.json {
		return report.WriteJSON(w, r)
	}
	return report.WriteCard(w, r, outputStyle())
}

// commandLine returns the command line for a shell, without passwords, to be stored in counterexamples. An address that
// equals an environment variable is replaced by the variable; in any other address the password is replaced by ***.
func commandLine() string {
	words, last := []string{"lockproof"}, ""
	for _, arg := range os.Args[1:] {
		words = append(words, withoutSecret(last, arg))
		last = arg
	}
	return strings.Join(words, " ")
}

// addressVariables are environment variables with addresses of servers.
var addressVariables = []string{"LOCKPROOF_AMQP_URL", "LOCKPROOF_REDIS_URL", "LOCKPROOF_MYSQL_URL", "LOCKPROOF_POSTGRES_URL", "CONSUL_HTTP_ADDR"}

// withoutSecret quotes a word of the command line for a shell, with its password replaced. before is the preceding
// word, for example --password.
func withoutSecret(before, word string) string {
	head, value, assigned := strings.Cut(word, "=")
	if !assigned || !strings.HasPrefix(head, "--") {
		head, value = "", word
	} else {
		head += "="
	}
	for _, name := range addressVariables {
		if value != "" && value == os.Getenv(name) {
			return head + `"$` + name + `"`
		}
	}
	if strings.HasPrefix(before, "-") && secret.HideCommand(before+" "+word) != secret.Hide(before+" "+word) && !strings.ContainsAny(word, "= ") {
		return quote("***")
	}
	return quote(secret.HideCommand(word))
}

// quote quotes a word for a shell.
func quote(word string) string {
	special := func(r rune) bool {
		return !strings.ContainsRune("%+,-./:=@_", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}
	if word == "" || strings.ContainsFunc(word, special) {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

// pairs splits options of the form name=value.
func pairs(options []string) ([][2]string, error) {
	var out [][2]string
	for _, o := range options {
		name, value, ok := strings.Cut(o, "=")
		if !ok {
			return nil, fmt.Errorf("--option %q: expected name=value", o)
		}
		out = append(out, [2]string{name, value})
	}
	return out, nil
}
