package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/served"
	"github.com/lockproof/lockproof/adapters/explorer"
	"github.com/lockproof/lockproof/cmd/lockproof/explorer/program"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/scenario"
)

// registerExplorer registers the flag --explorer, which puts the explorer into a page.
func registerExplorer(cmd *cobra.Command) {
	cmd.Flags().Bool("explorer", false, "have the explorer in the page that --html writes: its executions can be walked and changed in any browser, offline")
}

// withPage returns an error if the explorer is requested but no page is written.
func withPage(c *cobra.Command) error {
	if explores(c) && c.Flags().Lookup("html").Value.String() == "" {
		return errors.New("--explorer without --html: it is part of a page; say where that is to be written")
	}
	return nil
}

// explores reports whether the user has requested the explorer by --explorer.
func explores(c *cobra.Command) bool {
	flag := c.Flags().Lookup("explorer")
	return flag != nil && flag.Value.String() == "true"
}

// writePage writes the page of a command, with the explorer if the user has requested it.
func writePage(c *cobra.Command, make func() *report.Page) error {
	if c.Flags().Lookup("html").Value.String() == "" {
		return nil
	}
	page := make()
	unexplored := explorable(c, page)
	return all(unexplored, writeFile(c, "html", func(w io.Writer) error { return report.WritePage(w, page) }))
}

// explorable adds the explorer to a page if the user has requested it.
func explorable(c *cobra.Command, page *report.Page) error {
	if !explores(c) {
		return nil
	}
	p, err := program.Get(c.Context(), tell)
	if err != nil {
		return err
	}
	if page.Explorer == nil {
		page.Explorer = new(report.Explorer)
	}
	page.Explorer.Wasm, page.Explorer.Runtime = p.Wasm, p.Runtime
	if page.Explorer.Start != "" {
		return nil
	}
	for i := range page.Executions {
		if page.Executions[i].File != "" {
			return nil
		}
	}
	tell("--explorer: the page has no execution that can be explored; lockproof serve begins a new one, of a lock of this module")
	return nil
}

// serveFlags are the flags of `serve`.
type serveFlags struct {
	listen  string
	clients int
	admins  int
	slots   int
	start   scenario.SlotSet
	options []string
}

func serveCommand() *cobra.Command {
	f := serveFlags{clients: 2, slots: 1}
	cmd := &cobra.Command{
		Use:   "serve [TARGET]",
		Short: "explore a lock in the browser: choose step by step what happens",
		Long: `serve opens the explorer for a target, the reference semaphore unless another is named, on
this machine until it is interrupted. It prints the address.

Clients acquire, verify and release; administrators add and remove a slot. The reader of the
page chooses what happens next, faults included, and every step is judged. Findings are
saved as a counterexample, which lockproof replay carries out again.`,
		Example: `  lockproof serve
  lockproof serve locked-is-success --clients 3
  lockproof serve --admins 2 -o admin-mutex=false`,
		GroupID: "beside", Args: cobra.MaximumNArgs(1), ValidArgsFunction: completeTargets,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", "127.0.0.1:0", "the `ADDRESS` to listen on; port 0 picks a free one")
	flags.Var(number[int]{&f.clients, 0, lock.MaxClients - 2}, "clients", "how many clients acquire")
	flags.Var(number[int]{&f.admins, 0, 2}, "admins", "how many clients administer")
	flags.Var(number[int]{&f.slots, 0, monitor.Slots - 2}, "slots", "how many slots the lock begins with")
	flags.Var(startFlag{&f.start}, "start", "begin with these slots, such as slots=1,3")
	flags.StringArrayVarP(&f.options, "option", "o", nil, "fix an option, as `NAME=VALUE`; the command list shows them")
	return cmd
}

// run serves the page until it is interrupted. An interrupt is the normal end and no error.
func (f *serveFlags) run(c *cobra.Command, args []string) error {
	page, err := f.page(c, args)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", f.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	server := http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: served.Handler(page, explorer.World{Named: lock.TargetNamed}.Explore)}
	fmt.Fprintf(c.OutOrStdout(), "http://%s/\n", listener.Addr())
	over := make(chan error, 1)
	go func() { over <- server.Serve(listener) }()
	select {
	case err = <-over:
		return err
	case <-c.Context().Done():
		return server.Close()
	}
}

// page returns the page with the explorer, which begins with a new execution.
func (f *serveFlags) page(c *cobra.Command, args []string) (*report.Page, error) {
	name := "semaphore"
	if len(args) == 1 {
		name = args[0]
	}
	b := served.Begin{Clients: f.clients, Admins: f.admins, Slots: f.start}
	var err error
	if b.Target, err = engine.TargetNamed(name); err != nil {
		return nil, err
	}
	if f.clients+f.admins == 0 {
		return nil, errors.New("--clients 0 --admins 0: nobody is left to do anything")
	}
	if b.Options, err = pairs(f.options); err != nil {
		return nil, err
	}
	if b.Target.Kind != lock.Semaphore {
		err = given(c, fmt.Sprintf("of a %s: it has one slot; leave it out", b.Target.Kind), "start")
	}
	if !c.Flags().Changed("start") {
		b.Slots = scenario.Lock{Slots: uint8(f.slots)}.Existing()
	} else {
		err = cmp.Or(err, given(c, "with --start: that says which slots there are; leave it out", "slots"))
	}
	if err != nil {
		return nil, err
	}
	page, err := b.Page()
	if errors.Is(err, served.ErrMutex) {
		return nil, fmt.Errorf("--admins: %w; leave it out", err)
	}
	if err != nil {
		return nil, err
	}
	page.Made = report.Made{Tool: engine.Version, At: time.Now(), Command: commandLine(), Options: f.options, Server: lock.BackendOf(b.Target).Simulated()}
	return page, nil
}
