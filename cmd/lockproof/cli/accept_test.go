package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/histories/known"
)

// TestAccept checks that an accepted violation is shown in every format of the report, but is no failure until it
// expires. Other violations remain failures.
func TestAccept(t *testing.T) {
	data := recordedOf(t, "locked-is-success")
	t.Chdir(lay(t, map[string]string{"ce.json": data}))
	const prove = "prove locked-is-success --scenarios 200 --seed 5 --property mutual-exclusion --out out --junit j.xml --sarif s.json --annotate --summary s.md"
	for _, step := range []struct {
		command string
		code    int
		says    []string // texts in the command's output or in its files
	}{
		{"accept ce.json", exitCannot, []string{"--reason is missing"}},
		{"accept ce.json --reason x --expires soon", exitCannot, []string{`expires "soon": expected a day`}},
		{"accept missing.json --reason x", exitCannot, []string{"missing.json"}},
		{prove, exitViolated, []string{`"lockproof/v1"`, `"counterexample/v1"`, `failures="1"`, "::error"}},
		{"accept ce.json --reason ticket-17 --owner ops", exitHolds, []string{"mutual-exclusion of locked-is-success, fingerprint ", "is accepted without an end"}},
		{prove, exitHolds, []string{
			"✗ violated", "known, and no failure: ticket-17 (owner: ops)", "nothing new is violated: all that is, lockproof.known.yaml knows",
			`failures="0"`, `<skipped message="c2 and c1 hold slot 1 at once`, `"suppressions": [`, `"status": "accepted"`, "::notice", "mutual-exclusion is violated%2C which is known", "nothing new is violated",
		}},
		// The file of the counterexample exists.
		{prove, exitHolds, []string{"violated again, of an earlier run", "known, and no failure"}},
		{prove + " --json", exitHolds, []string{`"outcome": "known"`, `"holds": false`, `"reason": "ticket-17"`}},
		{"prove locked-is-success --scenarios 200 --out all", exitViolated, []string{"known, and no failure: ticket-17"}},
		{"prove semaphore --scenarios 50 --seed 5 --property mutual-exclusion", exitHolds, []string{"mutual-exclusion of lockproof.known.yaml, fingerprint ", "was not seen and stays accepted: delete it if it is mended"}},
		{"accept ce.json --reason ticket-18 --expires 2020-01-31", exitHolds, []string{"is accepted until 2020-01-31 is over"}},
		{prove, exitViolated, []string{"was known until 2020-01-31, which is over: it is a failure again: ticket-18", `failures="1"`}},
	} {
		var out bytes.Buffer
		_ = os.Remove("s.md")
		code := run(strings.Fields(step.command), &out, &out)
		said := out.String()
		for _, name := range []string{"j.xml", "s.json", "s.md"} {
			text, _ := os.ReadFile(name)
			said += string(text)
		}
		if code != step.code {
			t.Errorf("%s: exit code %d, expected %d", step.command, code, step.code)
		}
		plain := strings.Join(strings.Fields(said), " ")
		for _, want := range step.says {
			if !strings.Contains(plain, want) {
				t.Errorf("%s: it does not say %q: %s", step.command, want, said)
			}
		}
	}
	if err := os.WriteFile(known.FileName, []byte("- colour: red\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"prove --scenarios 1", "explore --clients 1 --admins 0", "accept ce.json --reason x"} {
		var out bytes.Buffer
		if code := run(strings.Fields(command), &out, &out); code != exitCannot || !strings.Contains(out.String(), `lockproof.known.yaml:1: key "colour" is not known`) {
			t.Errorf("%s: exit code %d: %s", command, code, out.String())
		}
	}
}
