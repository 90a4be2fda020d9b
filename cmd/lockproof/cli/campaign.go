package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
	"github.com/lockproof/lockproof/histories/outfile"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/histories/safetext"
	"github.com/lockproof/lockproof/histories/secret"
)

func campaignCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "campaign",
		Short: "spread a long run over many workers and machines",
		Long: `A campaign is a long run that is spread over workers: in this process, or on many
machines. A file says what is judged, which scenarios there are, how long it may take, and
when it stops. The work is cut into shards; whoever dies, and whatever is killed, each
shard counts once, and the card is the one that a single machine would have printed.

The queue is NATS JetStream: a server in this process without a port, or with --queue a
server or cluster of yours.`,
		Example: `  lockproof campaign run night.json
  lockproof campaign status night --watch`,
		GroupID: "study", Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	cmd.AddCommand(campaignRunCommand(), campaignWorkCommand(), campaignStatusCommand(), campaignDeleteCommand())
	if campaigns == nil {
		for _, sub := range cmd.Commands() {
			sub.RunE = campaignProgram.handOver
		}
	}
	return cmd
}

// queueFlags say where a campaign's queue is.
type queueFlags struct {
	queue, creds, nkey, cert, key, ca string
}

func (f *queueFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.queue, "queue", "", "the `URL` of a NATS server with JetStream, such as nats://host:4222; with commas where there are several")
	flags.StringVar(&f.creds, "creds", "", "with --queue, a user's credentials `FILE`")
	flags.StringVar(&f.nkey, "nkey", "", "with --queue, a `FILE` with an NKey's seed")
	flags.StringVar(&f.cert, "tlscert", "", "with --queue, a client's certificate `FILE`")
	flags.StringVar(&f.key, "tlskey", "", "with --queue, the key `FILE` of --tlscert")
	flags.StringVar(&f.ca, "tlsca", "", "with --queue, a `FILE` with the certificate authority that has signed the server's")
	section(cmd, "Where the queue is", "queue creds", "nkey tlscert tlskey tlsca")
}

// check returns an error for flags that have no effect.
func (f *queueFlags) check(c *cobra.Command) error {
	if f.queue == "" {
		return given(c, "without --queue: the queue is in this process; leave it out, or name a server", "creds", "nkey", "tlscert", "tlskey", "tlsca")
	}
	if f.cert == "" {
		return given(c, "without --tlscert: a key belongs to a certificate; give both", "tlskey")
	}
	if f.key == "" {
		return given(c, "without --tlskey: a certificate takes its key; give both", "tlscert")
	}
	return nil
}

// server says where the queue is. typed is the folder that the user has typed; if it is "", the folder has the
// campaign's name.
func (f *queueFlags) server(typed, name string) campaign.Server {
	s := campaign.Server{URL: f.queue, Dir: typed, Creds: f.creds, NKey: f.nkey, Cert: f.cert, Key: f.key, CA: f.ca}
	if typed == "" {
		s.Dir, s.Within = name+".campaign", "."
	}
	return s
}

// campaignRunFlags are the flags of `campaign run`.
type campaignRunFlags struct {
	dir       string
	workers   int
	allowExec string
	queueFlags
	outputFlags
	plan *campaign.Plan
}

func campaignRunCommand() *cobra.Command {
	f := campaignRunFlags{workers: runtime.GOMAXPROCS(0)}
	cmd := &cobra.Command{
		Use:   "run FILE",
		Short: "run a campaign, or go on with it",
		Long: `Runs the campaign that a file describes, and prints its card at the end. If it was ended
before, however that was, the same command goes on where it was left.

Without --queue the campaign runs in this process, with its files in a directory. With
--queue workers elsewhere take part as well: lockproof campaign work --queue URL.

A target that is somebody else's command is run with all that you may do. On a terminal you
are asked the first time; elsewhere --allow-exec says it. With --workers 0 the command is
run only with --allow-exec: to see again what workers say.`,
		Example: `  lockproof campaign run night.json
  lockproof campaign run night.json --queue nats://host:4222 --html night.html`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.dir, "dir", "", "the `DIRECTORY` in which a campaign in this process keeps its files (default NAME.campaign)")
	flags.Var(number[int]{&f.workers, 0, manyWorkers}, "workers", "how many work here at once (default one a processor); the result is the same. With --queue it may be 0")
	flags.StringVar(&f.allowExec, "allow-exec", "", "the `COMMAND` that the file names, or the SHA-256 of its text: it may be run here")
	f.queueFlags.register(cmd)
	f.outputFlags.register(cmd)
	section(cmd, "What is written", "out html json", "junit summary sarif annotate")
	return cmd
}

// check returns an error for flags that have no effect.
func (f *campaignRunFlags) check(c *cobra.Command) error {
	if f.queue != "" {
		return cmp.Or(given(c, "beside --queue: the server keeps the campaign's files; leave it out", "dir"), f.queueFlags.check(c))
	}
	if f.workers == 0 {
		return errors.New("--workers 0 without --queue: nobody would work; give a number, or a server where others do")
	}
	return f.queueFlags.check(c)
}

func (f *campaignRunFlags) run(c *cobra.Command, path string) error {
	if err := f.check(c); err != nil {
		return err
	}
	plan, err := campaign.Load(path)
	if err != nil {
		return err
	}
	if err := cmp.Or(f.fit(c, plan), f.permit(c, path, plan)); err != nil {
		return err
	}
	f.plan = plan
	line := newProgress()
	out, err := campaigns.Run(c.Context(), campaign.RunConfig{
		Plan: plan, Server: f.server(f.dir, plan.Name), Workers: f.workers, AllowExec: f.allowExec,
		Options: campaign.Options{Stderr: c.ErrOrStderr(), Found: f.found, Said: tell},
		Watch:   func(s *campaign.Status) { line.say("%s", s) },
		Page:    f.page,
	})
	line.done()
	if err != nil {
		return err
	}
	if c.Context().Err() != nil {
		tell("the same command goes on with the campaign")
	}
	switch {
	case out.Table != nil:
		return f.writeTable(c, out)
	case out.Mutants != nil:
		m := out.Mutants
		return all(printKilled(c, m.Killed, len(m.Killed), m.Seed, m.Limit), writeFile(c, "html", func(w io.Writer) error { return f.writePage(w, out, nil) }))
	}
	return f.write(c, out.Result)
}

// permit returns an error unless the user has allowed a plan's command to run here.
func (f *campaignRunFlags) permit(c *cobra.Command, path string, plan *campaign.Plan) error {
	command, hash := plan.Target.Exec, campaign.ExecHash(plan.Target.Exec)
	switch {
	case command == "":
		return given(c, "with a target of lockproof's: no command is run; leave it out", "allow-exec")
	case f.allowExec == "" && f.workers == 0:
		return nil
	case f.allowExec == "":
		return permitOnce(c, path, command, "lockproof campaign run "+quote(path)+" --allow-exec "+hash)
	case f.allowExec != hash && secret.HideCommand(f.allowExec) != secret.HideCommand(command):
		return fmt.Errorf("--allow-exec is another command than %s names, %q: if you trust it, give --allow-exec %s", path, secret.Command(command), hash)
	}
	return nil
}

// fit returns an error for flags that have no effect for a plan.
func (f *campaignRunFlags) fit(c *cobra.Command, plan *campaign.Plan) error {
	if plan.Mutants != nil {
		return given(c, "with mutants: there is a line for each, and nothing else; leave it out", "json", "junit", "summary", "sarif", "annotate", "require", "out")
	}
	if plan.Sample == nil {
		return given(c, "with a table of configurations: it has verdicts for each; leave it out", "junit", "summary", "sarif", "annotate", "require")
	}
	return f.demand(plan.Judged())
}

// page makes the page of a campaign's outcome, and writes it to its file while the campaign runs. Errors of writing are
// ignored here, because the page is written again at the end.
func (f *campaignRunFlags) page(out *campaign.Outcome, s *campaign.Status) []byte {
	var b bytes.Buffer
	if err := f.writePage(&b, out, s); err != nil {
		return nil
	}
	if f.html != "" && s != nil {
		_ = outfile.Write(f.html, func(w io.Writer) error { _, err := w.Write(b.Bytes()); return err })
	}
	return b.Bytes()
}

// writePage writes the page of a campaign's outcome. s is the campaign's status; nil at the end.
func (f *campaignRunFlags) writePage(w io.Writer, out *campaign.Outcome, s *campaign.Status) error {
	said := ""
	if s != nil {
		said = fmt.Sprintf("so far, on %s: %s", s.At.Format(time.DateTime+" MST"), s)
	}
	switch {
	case out.Table != nil:
		out.Table.Command, out.Table.At, out.Table.Status = commandLine(), time.Now(), said
		return report.WriteSweepPage(w, out.Table)
	case out.Mutants != nil:
		return report.WritePage(w, mutantsPage(f.plan.Name, out.Mutants, said))
	}
	out.Result.Report.Command, out.Result.Report.At, out.Result.Report.Required = commandLine(), time.Now(), f.required
	if s == nil {
		return out.Result.WritePage(w)
	}
	return report.WritePage(w, &report.Page{Report: out.Result.Report, Status: said})
}

// mutantsPage returns a page of mutants, each with the execution that showed its bug.
func mutantsPage(name string, m *campaign.MutantsOutcome, said string) *report.Page {
	var text bytes.Buffer
	tellKilled(&text, m.Killed, len(m.Killed), m.Seed, m.Limit)
	page := &report.Page{
		Title: name, Text: text.String(), Status: said,
		Made: report.Made{Tool: engine.Version, At: time.Now(), Command: commandLine(), Server: "the simulated servers"},
	}
	for _, k := range m.Killed {
		if k.Trace != nil {
			page.Executions = append(page.Executions, report.Execution{Trace: k.Trace})
		}
	}
	return page
}

// writeTable writes the counterexamples of a table of configurations, and then the table.
func (f *campaignRunFlags) writeTable(c *cobra.Command, out *campaign.Outcome) error {
	t := out.Table
	t.Command, t.At = commandLine(), time.Now()
	var errs []error
	for i := range t.Examples {
		e := &t.Examples[i]
		path, err := f.keep(out.Counterexamples[e.Property])
		if err != nil {
			errs = append(errs, err)
			continue
		}
		e.File, e.Command = path, "lockproof replay "+quote(path)
	}
	print := report.WriteSweepJSON
	if !f.json {
		print = func(w io.Writer, t *report.Sweep) error { return report.WriteSweep(w, t, outputStyle()) }
	}
	errs = append(errs, print(c.OutOrStdout(), t), writeFile(c, "html", func(w io.Writer) error { return report.WriteSweepPage(w, t) }))
	switch {
	case t.Interrupted:
		errs = append(errs, errInterrupted)
	case !t.Complete():
		errs = append(errs, errInconclusive)
	}
	return all(errs...)
}

// campaignWorkFlags are the flags of `campaign work`.
type campaignWorkFlags struct {
	workers   int
	allowExec string
	queueFlags
}

func campaignWorkCommand() *cobra.Command {
	f := campaignWorkFlags{workers: runtime.GOMAXPROCS(0)}
	cmd := &cobra.Command{
		Use:   "work [NAME]",
		Short: "take part in a campaign",
		Long: `Carries out shards of a campaign that runs elsewhere, until it is over. The name may be
left out where there is one campaign on the server. This must be the same build of
lockproof, and a target that is somebody else's command must be the same here, under the
same name.

Any user who may write to the queue says which command that is. So a worker runs none,
unless you name the campaign, and allow the command by its text or by its hash, which the
refusal tells.

It may be killed at any moment: what it was at is done by another.`,
		Example: `  lockproof campaign work --queue nats://host:4222
  lockproof campaign work night --queue nats://host:4222 --allow-exec ./adapter`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	cmd.Flags().Var(number[int]{&f.workers, 1, manyWorkers}, "workers", "how many work here at once (default one a processor)")
	cmd.Flags().StringVar(&f.allowExec, "allow-exec", "", "the `COMMAND` that the named campaign may run here, or the SHA-256 of its text")
	f.queueFlags.register(cmd)
	return cmd
}

func (f *campaignWorkFlags) run(c *cobra.Command, args []string) error {
	if f.queue == "" {
		return errors.New("--queue is missing: expected the URL of the campaign's server")
	}
	if err := f.queueFlags.check(c); err != nil {
		return err
	}
	if f.allowExec != "" && len(args) == 0 {
		return errors.New("--allow-exec without a campaign's name: anybody's campaign could run it; name the campaign")
	}
	line, done := newProgress(), 0
	err := campaigns.Work(c.Context(), campaign.WorkConfig{
		Server: f.server("", ""), Name: first(args), AllowExec: f.allowExec, Workers: f.workers, Options: campaign.Options{Stderr: c.ErrOrStderr(), Said: tell},
		Done: func(n int) {
			done = n
			line.say("%d shards done", n)
		},
	})
	line.done()
	if err == nil {
		fmt.Fprintf(c.OutOrStdout(), "the campaign is over: %d shards were done here\n", done)
	}
	return err
}

// first returns the first of args; "" if there is none.
func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// campaignStatusFlags are the flags of `campaign status`.
type campaignStatusFlags struct {
	dir         string
	json, watch bool
	html        string
	shown       bool // a page was written already
	queueFlags
}

func campaignStatusCommand() *cobra.Command {
	var f campaignStatusFlags
	cmd := &cobra.Command{
		Use:   "status [NAME]",
		Short: "tell how far a campaign is",
		Long: `Tells how far a campaign is: shards done, running and given out again, executions a
second, violations so far, time left. The name may be left out where there is one campaign
on the server. With --html it writes the campaign's page. The runner of the campaign makes
the page every ten seconds, and when the campaign is over. Looking changes nothing, and
neither does it to stop looking.`,
		Example: `  lockproof campaign status night
  lockproof campaign status --queue nats://host:4222 --watch --html night.html`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.dir, "dir", "", "the `DIRECTORY` of a campaign without --queue (default NAME.campaign)")
	flags.BoolVar(&f.json, "json", false, "print the status as JSON")
	flags.BoolVar(&f.watch, "watch", false, "go on until the campaign is over, with a line that changes on a terminal, and one whenever something has changed elsewhere")
	flags.StringVar(&f.html, "html", "", "write what the campaign has come to as one HTML `FILE`; with --watch, again and again")
	f.queueFlags.register(cmd)
	return cmd
}

// looking is the interval at which a watched campaign is looked at.
const looking = time.Second

// where returns the server of the campaign and the campaign's name, which may be "".
func (f *campaignStatusFlags) where(c *cobra.Command, args []string) (campaign.Server, string, error) {
	name := first(args)
	var err error
	switch {
	case f.queue != "":
		err = given(c, "beside --queue: the server has the campaign; leave it out", "dir")
	case f.dir == "" && name == "":
		err = errors.New("--queue is missing: expected a campaign's name, its --dir, or the URL of its server")
	case f.dir != "" && name != "":
		err = fmt.Errorf("%q beside --dir: a directory has one campaign; leave one of them out", name)
	}
	return f.server(f.dir, name), name, cmp.Or(err, f.queueFlags.check(c))
}

func (f *campaignStatusFlags) run(c *cobra.Command, args []string) error {
	server, name, err := f.where(c, args)
	if err != nil {
		return err
	}
	w, err := campaigns.Watch(c.Context(), server, name)
	if err != nil {
		return err
	}
	defer w.Close()
	live := newProgress()
	changing := live.width != nil && f.watch && !f.json && term.IsTerminal(int(os.Stdout.Fd()))
	for last := ""; ; {
		s, err := w.Look(c.Context())
		if err == nil {
			err = f.page(c, w, s)
		}
		if err != nil {
			live.done()
			return err
		}
		over := !f.watch || s.Reported
		if changing && !over {
			live.say("%s: %s", s.Name, s)
		} else if said := s.String(); said != last {
			live.done()
			if err := f.print(c.OutOrStdout(), s); err != nil {
				return err
			}
			last = said
		}
		if over {
			return nil
		}
		select {
		case <-time.After(looking):
		case <-c.Context().Done():
			live.done()
			return errInterrupted
		}
	}
}

// page writes the campaign's page to its file, if the page has changed.
func (f *campaignStatusFlags) page(c *cobra.Command, w campaign.Watcher, s *campaign.Status) error {
	if f.html == "" {
		return nil
	}
	page, err := w.Page(c.Context())
	if err != nil {
		return err
	}
	if page == nil && !f.shown && (!f.watch || s.Reported) {
		return fmt.Errorf("campaign %s has no page yet: look again in some seconds", s.Name)
	}
	if page == nil {
		return nil
	}
	f.shown = true
	return writeFile(c, "html", func(w io.Writer) error { _, err := w.Write(page); return err })
}

// print prints a status in one line, as JSON or as text.
func (f *campaignStatusFlags) print(w io.Writer, s *campaign.Status) error {
	if f.json {
		return campaign.WriteStatus(w, s)
	}
	_, err := fmt.Fprintf(w, "%s: %s\n", safetext.OneLine(s.Name), s)
	return err
}

func campaignDeleteCommand() *cobra.Command {
	var f queueFlags
	cmd := &cobra.Command{
		Use:   "delete NAME",
		Short: "delete what a campaign has left on a server",
		Long: `Deletes a campaign's shards and results from a server. Until then the campaign can be
gone on with, or its card printed again, with lockproof campaign run. A campaign without
--queue has a directory: delete that.`,
		Example: `  lockproof campaign delete night --queue nats://host:4222`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if f.queue == "" {
				return errors.New("--queue is missing: expected the URL of the campaign's server")
			}
			if err := f.check(c); err != nil {
				return err
			}
			return campaigns.Delete(c.Context(), f.server("", ""), args[0])
		},
	}
	f.register(cmd)
	return cmd
}
