package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCommandLines: the exit code of command lines, and what they print. What is wrong is said in one
// line: what, where, what was expected.
func TestCommandLines(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	precious := write("precious", "not a counterexample")
	for _, test := range []struct {
		args string
		code int
		says string // in standard output, or in the one line of standard error
	}{
		{"version", exitHolds, "lockproof 0."},
		{"list properties", exitHolds, "mutual-exclusion"},
		{"list options", exitHolds, "verify-first"},
		{"list targets", exitHolds, "locked-is-success"},
		{"prove --scenarios 300 --out " + dir, exitHolds, "19 properties: "},
		{"prove mutex --scenarios 300 --json", exitHolds, `"mutual-exclusion"`},
		{"prove locked-is-success --scenarios 300 --out " + dir, exitViolated, "lockproof replay "},
		{"replay " + filepath.Join(dir, "locked-is-success.mutual-exclusion.json"), exitViolated, " hold slot 1 at once"},
		{"mutants release-forgets", exitHolds, "1 killed"},
		{"mutants admin-mutex-early --scenarios 1", exitViolated, "survives"},

		{"adapter-check --exec cat", exitViolated, "expected answers only"},

		{"adapter-check", exitCannot, "--exec is missing"},
		{"adapter-check --exec cat --lock-type sofa", exitCannot, `lock type "sofa"`},
		{"frobnicate", exitCannot, `unknown command "frobnicate"`},
		{"prove nothing-like-it", exitCannot, `target "nothing-like-it" is not known`},
		{"prove --seed x", exitCannot, `invalid argument "x" for "--seed"`},
		{"prove --scenarios 0", exitCannot, "expected at least 1"},
		{"prove --option colour=red", exitCannot, `option "colour" is not known`},
		{"prove --option order", exitCannot, "expected name=value"},
		{"prove --option order=sideways", exitCannot, "expected one of descending, ascending"},
		{"prove --strategy fair", exitCannot, "expected random or pct"},
		{"prove --time soon", exitCannot, "invalid duration"},
		{"prove --on http://127.0.0.1/", exitCannot, "amqp"},
		{"prove --on amqp://guest:guest@127.0.0.1:1/", exitCannot, "connecting to amqp://"},
		{"prove --lock-type mutex", exitCannot, "--lock-type without --exec"},
		{"prove --exec cat --rounds 5", exitCannot, "--rounds with --exec: expected --stress"},
		{"prove --stress proxy", exitCannot, "--stress without --exec"},
		{"prove --exec cat --stress proxy", exitCannot, "--stress without a real broker"},
		{"prove --exec cat --stress fast --on rabbitmq", exitCannot, "expected straight or proxy"},
		{"prove --exec cat --stress straight --on rabbitmq --restarts 1", exitCannot, "expected none"},
		{"explore --exec cat --crashes 1", exitCannot, "--crashes with --exec: faults are no part"},
		{"explore --exec cat --depth 5", exitCannot, "--depth with --exec: no states are kept"},
		{"explore --exec cat --property linearizable", exitCannot, "--property with --exec: all properties"},
		{"explore --exec cat --simulate 5", exitCannot, "--simulate with --exec: nothing is drawn"},
		{"explore --exec cat --runs 0", exitCannot, "--runs 0: expected at least 1"},
		{"explore --exec cat --lock-type sofa", exitCannot, `lock type "sofa"`},
		{"explore --exec cat --lock-type mutex --admins 1", exitCannot, "a mutex has no administration"},
		{"explore --exec cat semaphore", exitCannot, "beside --exec"},
		{"explore --exec cat", exitCannot, "expected answers only"},
		{"explore --runs 5", exitCannot, "--runs without --exec"},
		{"mutants semaphore", exitCannot, "is no mutant"},
		{"replay " + filepath.Join(dir, "missing.json"), exitCannot, "no such file"},
		{"replay " + precious, exitCannot, "precious:1"},
		{"check " + write("cut.jsonl", `{"type":"invoke","process":1,"f":"acq`), exitCannot, "cut.jsonl:1"},
		{"check " + write("f.jsonl", `{"type":"invoke","process":1,"f":"grab"}`), exitCannot, "grab"},
		{"check --lock sofa " + precious, exitCannot, `lock type "sofa"`},
	} {
		t.Run(test.args, func(t *testing.T) {
			var out, errs bytes.Buffer
			code := run(strings.Fields(test.args), &out, &errs)
			if code != test.code {
				t.Errorf("exit code %d, expected %d; %s", code, test.code, errs.String())
			}
			if code == exitCannot && strings.Count(errs.String(), "\n") != 1 {
				t.Errorf("not one line: %q", errs.String())
			}
			if !strings.Contains(out.String()+errs.String(), test.says) {
				t.Errorf("does not say %q:\n%s%s", test.says, out.String(), errs.String())
			}
		})
	}
	if data, err := os.ReadFile(precious); err != nil || string(data) != "not a counterexample" {
		t.Errorf("a file that is no counterexample was changed: %q %v", data, err)
	}
}
