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

// outputFlags say what to write in addition to the printed report.
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
	// require is the value of --require. required is its properties among those that are judged.
	require  properties
	required property.Set
	// least is the minimum number of executions; 0 is none.
	least int
	// earlier is the result of repeating the counterexamples of earlier runs, if the run has done that.
	earlier *kept.Earlier
	// names are the names of the run's counterexamples.
	names kept.Names
	// findings are the project's known findings, once they were read.
	findings known.Findings
}

func (f *outputFlags) register(cmd *cobra.Command) {
	f.registerReport(cmd)
	cmd.Flags().Lookup("sarif").Usage += ", located in the first file that --exec names"
	cmd.Flags().StringVar(&f.out, "out", "counterexamples", "the `DIRECTORY` of counterexamples and recorded histories; prove begins with those of earlier runs, and moves to its folder passed those that pass now")
}

// registerReport registers the flags of a run that writes no counterexamples.
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

// demand evaluates --require. judged are the properties that a run with that lock type judges.
func (f *outputFlags) demand(judged property.Set, kind lock.Kind) (err error) {
	f.required, err = f.require.required(judged, kind)
	return err
}

// outputs are the flags that name a file to be written.
var outputs = []string{"junit", "html", "summary", "sarif", "markdown", "tables", "graph", "checkpoint", "jsonl"}

// within is the annotation of a flag that a file of flags has set: the folder that must contain the flag's files.
const within = "within"

// placeOf is the place of a file or folder that a flag names. A place that the user typed may be anywhere. A place from a
// file of flags must be in the file's folder, and a default place in the current folder.
func placeOf(flag *pflag.Flag) outfile.Place {
	p := outfile.Place{Path: flag.Value.String()}
	if folder := flag.Annotations[within]; len(folder) > 0 {
		p.Folder = folder[0]
	} else if !flag.Changed {
		p.Folder = "."
	}
	return p
}

// inFolder is the place of a file whose name we choose, in the folder that a flag names.
func inFolder(flag *pflag.Flag, name string) outfile.Place {
	folder := placeOf(flag)
	return outfile.Place{Path: filepath.Join(folder.Path, name), Folder: cmp.Or(folder.Folder, folder.Path)}
}

// tryOutputs checks that a command's files can be written, before the run.
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

// write writes the result of a run, counterexamples first, so that they are stored whatever happens next. The error says how
// the run ended, and what could not be written; also are further errors.
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

// save writes the counterexamples, and adds to the report the commands that show them.
func (f *outputFlags) save(res *engine.Result) error {
	var errs []error
	for _, ce := range res.Counterexamples("") {
		found := res.Report.Result(ce.Property).Violation
		if found.Earlier { // its file exists
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

// replaying is the command that shows a counterexample. If the target is a program, its command is the one that was just
// typed.
func replaying(ce *histories.Counterexample, path string) string {
	if ce.Exec != "" {
		return "lockproof replay --run-exec " + quote(path)
	}
	return "lockproof replay " + quote(path)
}

// bounds are the flags that distinguish the runs of one target by what may happen in them.
var bounds = []string{
	"clients", "admins", "slots", "start", "most-slots", "rounds", "calls", "admin-calls", "lock",
	"crashes", "crash-share", "drops", "channel-errors", "lost", "lapses", "restarts", "clocks", "late", "strict", "servers",
}

// name is the file name of a property's counterexample. It depends on the target, its options, and the given bounds.
func (f *outputFlags) name(p property.Property, target string, options []string) string {
	named := slices.Clone(options)
	for _, name := range bounds {
		if flag := f.command.Flags().Lookup(name); flag != nil && flag.Changed {
			named = append(named, name+"="+flag.Value.String())
		}
	}
	return histories.FileName(p, target, named...)
}

// known are the project's known findings, for a command that finds violations.
func (f *outputFlags) known() (_ known.Findings, err error) {
	if f.findings != nil || !slices.Contains(judging, f.command.Name()) {
		return f.findings, nil
	}
	f.findings, err = known.Load(known.FileName)
	return f.findings, err
}

// folder is the folder of counterexamples.
func (f *outputFlags) folder() kept.Folder {
	return kept.Folder{At: placeOf(f.command.Flags().Lookup("out"))}
}

// keep writes a counterexample to the folder of the run's counterexamples.
func (f *outputFlags) keep(ce *histories.Counterexample) (path string, err error) {
	name, err := f.names.AtLast(f.folder(), ce, f.name(ce.Property, ce.Scenario.Target, ce.Origin.Options))
	if err != nil {
		return "", err
	}
	return f.saveAs(ce, name)
}

// found writes a counterexample that a run has just found, so that it is stored however the run ends, unless a file of an
// earlier run has its name. If it can't be written now, it is written again at the end, and the error is reported then.
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

// saveIn writes a counterexample to the folder that a flag names.
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

// source is the file in which findings are located: the first file that the command of --exec names or, for a Go program
// beside its source, the source.
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

// summarize appends to the summary: if a command has several runs, their summaries follow each other.
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

// writeFile writes the file that a flag names, if there is one.
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

// commandLine is the command line, for the record of a counterexample, in a form for a shell. Passwords are removed: an
// address from an environment variable is replaced by the variable, and in any other the password is replaced by ***.
func commandLine() string {
	words, last := []string{"lockproof"}, ""
	for _, arg := range os.Args[1:] {
		words = append(words, withoutSecret(last, arg))
		last = arg
	}
	return strings.Join(words, " ")
}

// addressVariables are the environment variables with addresses of servers.
var addressVariables = []string{"LOCKPROOF_AMQP_URL", "LOCKPROOF_REDIS_URL", "LOCKPROOF_MYSQL_URL", "LOCKPROOF_POSTGRES_URL", "CONSUL_HTTP_ADDR"}

// withoutSecret is a word of a command line in a form for a shell, without its password. before is the word before it, which
// may name it.
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

// pairs are options as name=value.
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
