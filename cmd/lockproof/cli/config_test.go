package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestConfig checks that flags in a project's file work like typed ones, and that typed flags win. An unknown setting
// must give an error that names the line.
func TestConfig(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, test := range []struct {
		file, args string
		code       int
		says       string
	}{
		{"prove:\n  target: locked-is-success\n  scenarios: 300\n", "prove", exitViolated, "300 executions sampled"},
		{"prove:\n  target: locked-is-success\n  scenarios: 300\n", "prove semaphore --scenarios 200", exitHolds, "200 executions sampled"},
		{"prove:\n  scenarios: 200\n  option: [order=ascending, retries=0]\n", "prove", exitViolated, "with order=ascending · retries=0"},
		{"prove:\n  scenarios: 200\n  strict: true\n  property: [no-leak, progress]\n", "prove", exitHolds, "2 properties: 2 passed"},
		{"prove:\n  scenarios: 200\n", "prove", exitHolds, ".lockproof.yaml gives scenarios"},
		{"prove:\n  scenarios: 1\n  require: [survives-restart]\n", "prove", exitInconclusive, "survives-restart is required"},
		{"prove:\n  scenarios: 200\n  require: [survives-restart]\n", "prove --property mutual-exclusion", exitHolds, "left out of .lockproof.yaml, as it does not go with what is typed: require"},
		{"prove:\n  scenarios: 5\n  exec: exec cat\n  require: [no-leak]\n", "prove --exec cat --stress proxy", exitCannot, "typed: scenarios, require"},
		{"prove:\n  scenarios: 1\n  require: [survives-restart]\n", "prove --scenarios 300 --unset require", exitHolds, "300 executions sampled"},
		{"prove:\n  target: locked-is-success\n  scenarios: 300\n", "prove --unset target", exitHolds, "300 executions sampled"},
		{"prove:\n  scenarios: 1\n", "prove --unset seed", exitCannot, "--unset seed: expected what a file gives to prove"},
		{"prove:\n  scenarios: 1\n", "prove --unset scenarios --config none", exitCannot, "--unset scenarios: expected what a file gives to prove"},
		{"prove:\n  scenarios: 1\n", "prove --scenarios 300 --config none", exitHolds, "300 executions sampled"},
		{"prove: [broken\n", "prove --scenarios 300 --config none", exitHolds, "300 executions sampled"},
		{"explore:\n  target: mutex\n  crashes: 0\n  admins: 0\n", "explore", exitHolds, "13 properties"},
		{"prove:\n  exec: exec cat\n", "prove semaphore --scenarios 100", exitHolds, "100 executions"},
		{"prove:\n  exec: exec cat\n", "prove --scenarios 100", exitCannot, "is not run unless you say so: exec cat; if you trust it, type: lockproof prove --config .lockproof.yaml"},
		{"prove:\n  exec: exec cat\n", "prove --scenarios 100 --config .lockproof.yaml", exitCannot, "expected answers only"},
		{"prove:\n  exec: exec cat\n  server: redis\n  servers: 3\n", "prove semaphore --scenarios 100", exitHolds, "100 executions"},
		{"prove:\n  exec: exec cat\n  server: mongodb\n", "prove --config .lockproof.yaml", exitCannot, "--server: the kind of server \"mongodb\": expected amqp or consul or etcd or mariadb or postgres or redis or tcp or zookeeper"},
		{"# nothing\n", "prove --scenarios 100", exitHolds, "100 executions"},
		{"prove:\n", "prove --scenarios 100", exitHolds, "100 executions"},

		{"prove:\n  scenarios: 100\n  scenaris: 5\n", "prove", exitCannot, `.lockproof.yaml:3: prove: key "scenaris" is not known; did you mean scenarios?`},
		{"explore:\n  clients: 2\n  runs: 5\n", "prove", exitCannot, ".lockproof.yaml:3: explore: runs is called executions now"},
		{"prove:\n  seed: []\n", "prove", exitCannot, ".lockproof.yaml:2: seed: expected a value, or a list of values, found an empty list"},
		{"prove:\n  seed: 1\n  seed: 2\n", "prove", exitCannot, ".lockproof.yaml:3: seed is there twice"},
		{"prove:\n  seed: 1\nprov:\n  seed: 2\n", "prove", exitCannot, `.lockproof.yaml:3: command "prov" is not known; did you mean prove?`},
		{"explore:\n  sed: 1\n", "prove", exitCannot, `.lockproof.yaml:2: explore: key "sed" is not known; did you mean seed?`},
		{"prove:\n  seed: many\n", "prove", exitCannot, ".lockproof.yaml:2: invalid argument \"many\" for \"--seed\" flag: expected a whole number"},
		{"prove:\n  seed: {a: 1}\n", "prove", exitCannot, ".lockproof.yaml:2: seed: expected a value, or a list of values"},
		{"prove:\n  target: [a, b]\n", "prove", exitCannot, ".lockproof.yaml:2: target: expected one name"},
		{"check:\n  target: a\n", "prove", exitCannot, `key "target" is not known`},
		{"replay:\n  run-exec: true\n", "replay x", exitCannot, `key "run-exec" is not known`},
		{"prove: [seed]\n", "prove", exitCannot, ".lockproof.yaml:1: expected flags by their names"},
		{"- prove\n", "prove", exitCannot, ".lockproof.yaml:1: expected commands"},
		{"prove: {seed: 1", "prove", exitCannot, ".lockproof.yaml: yaml: line 1"},
		{"prove:\n  seed: 1\n---\nprove:\n", "prove", exitCannot, "expected one document"},
		{"prove:\n  junit: /missing/x\n", "prove", exitCannot, ".lockproof.yaml:2: junit: /missing/x is outside the folder"},
		{"", "prove --config other.yaml", exitCannot, "other.yaml: no such file"},
	} {
		if err := os.WriteFile(configFile, []byte(test.file), 0o644); err != nil {
			t.Fatal(err)
		}
		args := strings.Fields(test.args)
		if args[0] != "replay" {
			args = append(args, "--out", filepath.Join(t.TempDir(), "ce"))
		}
		var out bytes.Buffer
		var code int
		errs := capture(t, func() { code = run(args, &out, &out) })
		if said := out.String() + errs; code != test.code || !strings.Contains(said, test.says) {
			t.Errorf("%q %s: exit code %d, expected %d and %q:\n%s", test.file, test.args, code, test.code, test.says, said)
		}
	}
}

// capture returns what do writes to standard error.
func capture(t *testing.T, do func()) string {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	kept := os.Stderr
	os.Stderr = f
	defer func() { os.Stderr = kept }()
	do()
	said, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(said)
}

// FuzzConfig checks that any text is either read as a file of flags, or refused with an error of one line.
func FuzzConfig(f *testing.F) {
	for _, seed := range []string{
		"", "#", "prove:\n  seed: 1\n", "prove: &a\n  seed: *a\n", "? [a]\n: b\n", "prove:\n  <<: {seed: 1}\n", "--- \n...\n---", "a: !!binary x", "\t", "prove: null", "\xff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseConfig("f", []byte(text))
		if (c == nil) == (err == nil) {
			t.Errorf("%q: %v and %v", text, c, err)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %q", text, err)
		}
		if err == nil {
			_ = c.check(rootCommand())
		}
	})
}
