package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// TestExploreExec explores adapters from the command line. The correct one is visited completely. The counterexample of
// the wrong one must replay.
func TestExploreExec(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out what takes programs")
	}
	t.Parallel()
	dir := t.TempDir()
	found := filepath.Join(dir, "adapter.mutual-exclusion.json")
	for _, step := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"explore", "--exec", adapter("")}, exitHolds, "every execution visited"},
		{[]string{"explore", "--exec", adapter(""), "--executions", "5"}, exitHolds, "only 5 executions were allowed, so that nothing is proved"},
		{[]string{"explore", "--exec", adapter("locked-is-success")}, exitViolated, "lockproof replay --run-exec " + found},
		{[]string{"replay", "--run-exec", found}, exitViolated, "mutual-exclusion is violated on the simulated broker"},
	} {
		var out, errs bytes.Buffer
		if step.args[0] == "explore" {
			step.args = append(step.args, "--out", dir)
		}
		if code := run(step.args, &out, &errs); code != step.code || !strings.Contains(out.String(), step.says) {
			t.Errorf("%q: exit code %d, expected %d and %q\n%s%s", step.args, code, step.code, step.says, out.String(), errs.String())
		}
	}
}

// TestExploreAnyClients checks that with any number of clients the number of crashes is unbounded by default.
func TestExploreAnyClients(t *testing.T) {
	for args, says := range map[string]string{
		"explore mutex --clients any":             "proved for     any number of clients, any number of rounds, any number of crashes",
		"explore mutex --clients any --crashes 1": "proved for     any number of clients, any number of rounds, 1 crash",
	} {
		var out, errs bytes.Buffer
		if code := run(strings.Fields(args), &out, &errs); code != exitHolds || !strings.Contains(out.String(), says) {
			t.Errorf("%s: exit code %d, without %q\n%s%s", args, code, says, out.String(), errs.String())
		}
	}
}

// TestExploreAnyResume checks that a search which stopped at its first violation can be resumed from its checkpoint.
// Another exploration must not resume from it.
func TestExploreAnyResume(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "checkpoint")
	line := "explore no-admin-mutex --clients any --slots 1 --crashes 0 --admins 2 --admin-calls add:1 --most-slots 1 --property admin-exclusion,mutual-exclusion --out " + dir
	for _, step := range []struct {
		args string
		code int
		says string
	}{
		{line + " --first --checkpoint " + file, exitViolated, "✗ violated   admin-exclusion"},
		{line + " --resume " + file, exitViolated, "mutual-exclusion"},
		{line + " --strict --resume " + file, exitCannot, "another search's: Strength"},
		{strings.Replace(line, "admin-exclusion,", "", 1) + " --resume " + file, exitCannot, "another exploration's"},
	} {
		var out, errs bytes.Buffer
		if code := run(strings.Fields(step.args), &out, &errs); code != step.code || !strings.Contains(out.String()+errs.String(), step.says) {
			t.Errorf("%s: exit code %d, expected %d and %q\n%s%s", step.args, code, step.code, step.says, out.String(), errs.String())
		}
	}
}
