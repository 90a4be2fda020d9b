package cli

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commands returns a command and all its subcommands.
func commands(c *cobra.Command) (all []*cobra.Command) {
	all = append(all, c)
	for _, sub := range c.Commands() {
		all = append(all, commands(sub)...)
	}
	return all
}

// exampleWords splits an example line into words as a shell does.
func exampleWords(line string) (words []string) {
	line, _, _ = strings.Cut(line, "  ") // drops the explanation
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
			continue
		}
		words = append(words, strings.Fields(part)...)
	}
	return words
}

// TestHelp checks the help of each command. It must have a group and examples, which the command accepts. Placeholders
// must not look like values, and lines must fit a usual terminal.
func TestHelp(t *testing.T) {
	root := rootCommand()
	for _, c := range commands(root) {
		if c.Parent() == root && c.GroupID == "" {
			t.Errorf("%s is in no group", c.CommandPath())
		}
		if c.Example == "" {
			t.Errorf("%s has no example", c.CommandPath())
		}
		for line := range strings.Lines(c.Example) {
			words := exampleWords(strings.TrimSpace(line))
			command, rest, err := root.Find(words[1:])
			if err == nil {
				err = command.ParseFlags(rest)
			}
			if err == nil {
				err = command.ValidateArgs(command.Flags().Args())
			}
			if words[0] != "lockproof" || err != nil {
				t.Errorf("%s: %q: %v", c.CommandPath(), words, err)
			}
		}
		c.Flags().VisitAll(func(flag *pflag.Flag) {
			shown := *flag
			shown.Value = shownAs{flag.Value}
			if name, _ := pflag.UnquoteUsage(&shown); name != strings.ToUpper(name) && name != "MiB" {
				t.Errorf("%s --%s %s: expected a placeholder in capitals", c.CommandPath(), flag.Name, name)
			}
		})
		var help bytes.Buffer
		c.SetOut(&help)
		if err := c.Flags().Set(helpAllName, "true"); err != nil {
			t.Error(err)
		}
		if err := c.Help(); err != nil {
			t.Error(err)
		}
		for line := range strings.Lines(help.String()) {
			if utf8.RuneCountInString(line) > 101 || strings.Contains(line, "default [") {
				t.Errorf("%s: %q", c.CommandPath(), line)
			}
		}
	}
}

// TestHelpAll checks that --help shows at most fifteen of a command's own flags, and says how many more --help-all
// shows. --help-all must show all.
func TestHelpAll(t *testing.T) {
	for _, c := range commands(rootCommand()) {
		shown := func(flag string) map[string]bool {
			var out bytes.Buffer
			if code := run(append(strings.Fields(c.CommandPath())[1:], flag), &out, &out); code != exitHolds {
				t.Fatalf("%s %s: exit code %d: %s", c.CommandPath(), flag, code, out.String())
			}
			names := make(map[string]bool)
			for _, found := range regexp.MustCompile(`(?m)^ {2,6}(?:-., )?--([a-z-]+)`).FindAllStringSubmatch(out.String(), -1) {
				names[found[1]] = true
			}
			return names
		}
		everyday, all := shown("--help"), shown("--help-all")
		own := 0
		c.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			if !all[flag.Name] {
				t.Errorf("%s --help-all does not show --%s", c.CommandPath(), flag.Name)
			}
			if common := flag.Name == "help" || flag.Name == helpAllName; !common && everyday[flag.Name] {
				own++
			}
		})
		if own > 15 {
			t.Errorf("%s --help shows %d flags", c.CommandPath(), own)
		}
		if told := strings.Contains(c.Flags().Lookup(helpAllName).Usage, fmt.Sprintf(": %d more", len(all)-len(everyday))); told != (len(all) > len(everyday)) {
			t.Errorf("%s --help shows %d of %d flags, and says %q", c.CommandPath(), len(everyday), len(all), c.Flags().Lookup(helpAllName).Usage)
		}
	}
}

// TestRenamed checks that a renamed flag exists only under its new name.
func TestRenamed(t *testing.T) {
	root := rootCommand()
	for _, r := range renamed {
		c, _, err := root.Find([]string{r.of})
		if strings.HasPrefix(r.of, "/") {
			continue // a member of a campaign's file: TestRenamedMembers tests it
		}
		name, _, _ := strings.Cut(r.now, "=")
		if err != nil || c.Flags().Lookup(r.was) != nil || c.Flags().Lookup(name) == nil {
			t.Errorf("%v: %v", r, err)
		}
	}
}

// TestHelpDefaults checks the defaults that help shows if they depend on other flags.
func TestHelpDefaults(t *testing.T) {
	for command, flags := range map[string]map[string]string{
		"prove":   {"scenarios": "100000; 2000 with --exec", "clients": "drawn; 5 under stress", "crash-share": "drawn; 0.02 under stress"},
		"explore": {"clients": "2", "admins": "1; none with --exec", "slots": "2; 1 with --exec", "crashes": "1; any with --clients any, none with --exec"},
	} {
		c, _, err := rootCommand().Find([]string{command})
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range flags {
			if got := c.Flags().Lookup(name).DefValue; got != want {
				t.Errorf("%s --%s: %q, expected %q", command, name, got, want)
			}
		}
	}
}

// TestListsFit checks that lists are as wide as COLUMNS says, and that mutants are listed separately from correct
// locks.
func TestListsFit(t *testing.T) {
	for columns, wide := range map[string]int{"80": 80, "200": 160, "": 100, "many": 100} {
		t.Setenv("COLUMNS", columns)
		var out, errs bytes.Buffer
		if code := run([]string{"list"}, &out, &errs); code != exitHolds {
			t.Fatal(errs.String())
		}
		longest := 0
		for line := range strings.Lines(out.String()) {
			longest = max(longest, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")))
		}
		if longest > wide || longest < wide-20 {
			t.Errorf("COLUMNS=%q: the longest line has %d columns", columns, longest)
		}
		references, mutants, found := strings.Cut(out.String(), "mutants, which are a reference with one bug each:\n")
		if !found || !strings.Contains(references, "  persistent-mutex  ") || strings.Contains(references, "locked-is-success") || !strings.Contains(mutants, "  locked-is-success ") {
			t.Error(out.String())
		}
	}
}

// TestMeant checks that similar names are suggested for a misspelt word, and none for a word that is unlike all.
func TestMeant(t *testing.T) {
	names := []string{"prove", "explore", "replay", "mutual-exclusion", "no-leak"}
	for word, want := range map[string]string{
		"prov": "prove", "porve": "prove", "proove": "prove", "expl": "explore", "reply": "replay", "mutal-exclusoin": "mutual-exclusion",
		"no-leaks": "no-leak", "sofa": "", "": "", "x": "", "frobnicate": "", "mutual": "mutual-exclusion",
	} {
		if got := meant(word, names); got != want {
			t.Errorf("%q: %q, expected %q", word, got, want)
		}
	}
}

// TestProgress checks progress messages. On a terminal one line changes ten times a second; elsewhere a line is printed
// every ten seconds. The remaining time is shown when it can be estimated, and never exceeds the run's time limit.
func TestProgress(t *testing.T) {
	var out strings.Builder
	clock := time.Unix(0, 0)
	p := &progress{out: &out, now: func() time.Time { return clock }, began: clock, last: clock}
	after := func(wait time.Duration, done int, want string) {
		t.Helper()
		out.Reset()
		clock = clock.Add(wait)
		p.part(done, 100, "%d of 100", done)
		if out.String() != want {
			t.Errorf("after %v: %q, expected %q", wait, out.String(), want)
		}
	}
	after(9*time.Second, 10, "")
	after(time.Second, 10, "lockproof: 10 of 100, about 1m30s left\n")
	after(9*time.Second, 90, "")
	p.limit = 21 * time.Second
	after(time.Second, 50, "lockproof: 50 of 100, at most 1s left\n")
	after(10*time.Second, 60, "lockproof: 60 of 100, at most 0s left\n")
	p.limit, p.width = 0, func() int { return 80 }
	after(50*time.Millisecond, 60, "")
	after(70*time.Second, 100, "\r\x1b[K100 of 100, about 0s left")
	p.width = func() int { return 12 }
	after(time.Second, 100, "\r\x1b[K100 of 100…")
	p.began = clock
	p.width = func() int { return 80 }
	after(500*time.Millisecond, 50, "\r\x1b[K50 of 100")
}

// TestWidths checks that help, lists, reports and tables are no wider than the terminal, except for commands that users
// copy.
func TestWidths(t *testing.T) {
	lines := [][]string{
		{"list"}, {"prove", "locked-is-success", "--scenarios", "60", "--out", ""}, {"explore", "--clients", "2", "--slots", "1", "--admins", "0"},
		{"atlas", "--question", "1"}, {"compare", "mutex", "waiting-token-semaphore", "--scenarios", "20", "--on", "simulated"}, {"mutants", "locked-is-success"}, {"adapter-check", "--exec", "echo what is this"},
		{"replay", repository + "/testdata/counterexamples/gives-up-silently.no-false-hold.json"},
		{"check", repository + "/testdata/histories/jepsen-mutex-two-holders.edn"},
	}
	for _, c := range commands(rootCommand()) {
		lines = append(lines, append(strings.Fields(c.CommandPath())[1:], "--help-all"))
	}
	dir := t.TempDir()
	for _, args := range lines {
		if n := len(args) - 1; args[n] == "" {
			args[n] = dir
		}
		widths := []int{80, 200}
		if testing.Short() {
			widths = widths[:1]
		}
		for _, width := range widths {
			t.Setenv("COLUMNS", strconv.Itoa(width))
			var out, errs bytes.Buffer
			run(args, &out, &errs)
			for line := range strings.Lines(out.String()) {
				line = strings.TrimSuffix(line, "\n")
				copied := strings.Contains(line, "see it: ") || strings.HasPrefix(line, "repeat it: ") || strings.Contains(line, repository) || args[0] == "completion" || len(args) > 1 && args[1] == "completion"
				if utf8.RuneCountInString(line) > width && !copied {
					t.Errorf("%q at %d columns: %d in %q", args, width, utf8.RuneCountInString(line), line)
				}
			}
			if out.Len() == 0 {
				t.Errorf("%q prints nothing: %s", args, errs.String())
			}
		}
	}
}
