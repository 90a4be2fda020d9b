package cli

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/recorded"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/shares"
)

// checkFlags are the flags of `check`.
type checkFlags struct {
	kind   string
	slots  int
	others string
	failed string
	order  string
	values string
	// clockError is the maximum difference between the clocks of two machines.
	clockError time.Duration
	judging    recorded.CheckOptions // options that flags set directly; see the method options
	outputFlags
}

func checkCommand() *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check FILE...",
		Short: "judge a recorded history: JSON Lines, an array of JSON, or Jepsen's EDN",
		Long: `Judges a recorded history: lockproof's own JSON Lines, the same as one JSON array,
or the EDN that Jepsen writes of a mutex or semaphore; FILE - is standard input. Linearizability is decided, and the
other properties as far as a history alone can show them broken.

A history that does not say what it is of is taken for that of a mutex; --lock-type,
--slots and --permits say otherwise.

A release by another client than the holder has two readings. The reading
--release-by-others reject is that of the owner-aware, reentrant and fenced mutexes and the
semaphore of Jepsen's tests of Hazelcast. A release by another than the holder, or by
another than a client with a permit, breaks the history. The reading --release-by-others
allow is that of Knossos' mutex, which has no owner. Any release gives back what any client
holds, and only a release of a lock that no client holds breaks the history. A release that
failed has no effect. The flag --failed-release says whether its client goes on believing
that it holds the lock, which matters to mutual-exclusion only.

Where every value is a pair [key value], as in Jepsen's independent tests, each key is a lock of
its own. The card says how the history was read.

OpenTelemetry's spans are read as well, as OTLP in JSON: those with the attribute lock.name.

An acquire may take several permits of a semaphore at once (:permits 2), and a mutex may be held to
read (:mode :read, or :read-lock).

Several files are those of several machines, whose events are ordered by their times. Clocks
differ: --clock-error 50ms says by how much at most. Operations nearer than that count as
concurrent, and holds that may have been shorter are not judged; the card counts them. A file
whose events name a host has the events of several machines.

With --audit the history ends with an audit, and recovery is judged as well. From an event
{"type":"info","process":"nemesis","f":"audit"} on, all is at rest and one client after the
other is at work. Clients that still hold the lock give it back, fresh clients acquire each
slot, the next is refused, all release, survivors acquire and release. A free slot that is
refused then breaks a property that is named by what came before: a restart, a crash, a lost
connection, changed slots, a release.`,
		Example: `  lockproof check history.jsonl
  lockproof check --lock-type semaphore --slots 2 --html page.html jepsen.edn`,
		GroupID: "judge", Args: cobra.MinimumNArgs(1),
		RunE: f.run,
	}
	flags := cmd.Flags()
	flags.StringVar(&f.kind, "lock-type", "mutex", "the `TYPE` of lock that a history without a header is of: mutex, semaphore or persistent-mutex")
	f.slots = 1
	flags.Var(number[int]{&f.slots, 0, 1<<16 - 1}, "slots", "how many slots it begins with")
	flags.Var(number[int]{&f.judging.Permits, 1, 1 << 30}, "permits", "how many permits a lock has whose history names no slots (default the slots)")
	f.judging.Reentrant = 1
	flags.Var(number[int]{&f.judging.Reentrant, 1, 1 << 30}, "reentrant", "how many `TIMES` the holder of a mutex may acquire it, to release it as often")
	registerStrict(cmd, &f.judging.FailedAcquire)
	flags.StringVar(&f.others, "release-by-others", "reject", "the `READING` of a release by another than the holder: reject or allow")
	flags.StringVar(&f.failed, "failed-release", "ends", "the `READING` of a release that failed: it ends its client's belief, or keeps it")
	flags.StringVar(&f.order, "order", "both", "the `ORDER` of events: lines, time, or both, so that nothing is decided where times contradict the lines")
	flags.StringVar(&f.values, "values", "keys", "the `READING` of values that are all pairs [key value]: keys, so that each key is a lock, or plain")
	flags.Var(clockError{span{&f.clockError}}, "clock-error", "the `TIME` by which clocks of two machines may differ: what is nearer counts as concurrent")
	flags.BoolVar(&f.judging.Audit, "audit", false, "judge recovery as well, by the audit that the history ends with")
	f.registerReport(cmd)
	section(cmd, "What is judged", "lock-type slots permits reentrant require audit", "strict")
	section(cmd, "How the history is read", "", "release-by-others failed-release order values clock-error")
	section(cmd, "What is written", "html json", "junit summary sarif annotate")
	return cmd
}

func (f *checkFlags) run(c *cobra.Command, args []string) error {
	kind, err := lock.KindNamed(f.kind)
	if err != nil {
		return fmt.Errorf("--lock-type: %w", err)
	}
	assumed := histories.Header{Kind: kind, Locks: []histories.Named{{Name: "lock", Slots: f.slots}}}
	switch f.values {
	case "keys":
	case "plain":
		assumed.PlainValues = true
	default:
		return fmt.Errorf("--values: %q: expected keys or plain", f.values)
	}
	o, err := f.options(sourceOf(args))
	if err != nil {
		return err
	}
	if len(args) > 1 || c.Flags().Changed("clock-error") {
		return f.several(c, args, assumed, o)
	}
	recording, done, err := recordingOf(c, args[0], assumed)
	if err != nil {
		return err
	}
	defer done()
	if n := recording.Hosts(); n > 1 {
		return fmt.Errorf("%s: spans of %d hosts, which their clocks order: say by how much these differ, as --clock-error 50ms; --clock-error 0s is not at all", args[0], n)
	}
	h := recording.History()
	if err := f.fit(c, args[0], recording, kind); err != nil {
		return err
	}
	if err := f.demand(property.Applicable(h.Kind), h.Kind); err != nil {
		return err
	}
	report, err := recorded.CheckRecording(recording, o)
	if err != nil {
		return err
	}
	if said := recording.Notes().String(); said != "" {
		tell(args[0] + ": " + said)
	}
	drawn, err := f.drawn(args[0], recording)
	if err != nil {
		return err
	}
	if drawn != nil {
		drawn = o.Arranged(drawn)
	}
	return f.write(c, &engine.Result{Report: report, History: drawn, Reading: o.Reading()})
}

// options returns the options for checking, according to the flags.
func (f *checkFlags) options(source string) (o recorded.CheckOptions, err error) {
	o = f.judging
	o.Source = source
	if o.Releases, err = linear.ReleasesNamed(f.others); err != nil {
		return o, fmt.Errorf("--release-by-others: %w", err)
	}
	if o.Releases == linear.ByAnyone && f.judging.Reentrant > 1 {
		return o, errors.New("--reentrant: whose count a release by anyone lowers is not known; expected --release-by-others reject")
	}
	if o.FailedRelease, err = linear.FailedReleaseNamed(f.failed); err != nil {
		return o, fmt.Errorf("--failed-release: %w", err)
	}
	if o.Order, err = recorded.OrderNamed(f.order); err != nil {
		return o, fmt.Errorf("--order: %w", err)
	}
	return o, nil
}

// inputOf opens a history's file. "-" and /dev/stdin mean standard input. done closes the file.
func inputOf(c *cobra.Command, path string) (in io.Reader, done func(), err error) {
	if path == "-" || path == "/dev/stdin" {
		return histories.HistoryInput.Stream("standard input", c.InOrStdin()), func() {}, nil
	}
	file, err := histories.HistoryInput.Open(path)
	if err != nil {
		return nil, nil, err
	}
	return file, func() { _ = file.Close() }, nil
}

// recordingOf begins to read a history from a file, or from standard input for "-" and /dev/stdin. The caller must call
// done when it has been read.
func recordingOf(c *cobra.Command, path string, assumed histories.Header) (r *histories.Recording, done func(), err error) {
	in, closed, err := inputOf(c, path)
	if err != nil {
		return nil, nil, err
	}
	if r, err = histories.NewRecording(in, path, assumed); err != nil {
		closed()
		return nil, nil, err
	}
	return r, func() { _ = r.Close(); closed() }, nil
}

// mostDrawn is the maximum number of events of a history that a page shows.
const mostDrawn = 1 << 19

// drawn returns the history for a page; nil if no page is requested.
func (f *checkFlags) drawn(file string, recording *histories.Recording) (*history.History, error) {
	if f.html == "" {
		return nil, nil
	}
	h, err := recording.Whole(mostDrawn)
	if h == nil && err == nil {
		tell(fmt.Sprintf("%s: the page does not show the history, which has more than %s events", file, style.Grouped(mostDrawn)))
	} else if h != nil && shares.Taken(h) {
		tell(file + ": the page does not show the history, in which clients take several permits at once, or read")
		return nil, nil
	}
	return h, err
}

// fit returns an error for flags that contradict a history or have no effect for it.
func (f *checkFlags) fit(c *cobra.Command, file string, recording *histories.Recording, kind lock.Kind) error {
	h := recording.History()
	if h.Kind != kind {
		if err := given(c, fmt.Sprintf("%s: %s says that it is of a %s; leave it out", kind, file, h.Kind), "lock-type"); err != nil {
			return err
		}
	}
	names := false
	if f.judging.Permits > 0 {
		var err error
		names, err = recording.Some(func(e *history.Event) bool { return e.Held && e.Slot != history.AnySlot })
		if err != nil {
			return err
		}
	}
	switch {
	case h.Kind == lock.Semaphore && f.judging.Reentrant > 1:
		return given(c, ofSemaphore, "reentrant")
	case h.Kind == lock.Mutex:
		return given(c, "of a mutex: a mutex has one; leave it out, or say with --lock-type what it is of", "slots", "permits")
	case names:
		return fmt.Errorf("--permits %d: %s names slots, which are counted; leave it out", f.judging.Permits, file)
	case len(h.Slots) > 0 && h.Slots[0] != f.slots:
		return given(c, fmt.Sprintf("%d: %s says that there are %d; leave it out", f.slots, file, h.Slots[0]), "slots")
	}
	return nil
}
