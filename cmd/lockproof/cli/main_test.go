package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCommandLines checks the exit codes and the output of command lines. An error must be one line: what is wrong,
// where, and what was expected.
func TestCommandLines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	held := write("held.jsonl", `{"type":"invoke","process":1,"f":"acquire"}
{"type":"ok","process":1,"f":"acquire","value":{"slot":1,"held":true}}
`)
	precious := write("precious", "not a counterexample")
	kept, err := os.ReadFile("../../../testdata/counterexamples/locked-is-success.mutual-exclusion.json")
	if err != nil {
		t.Fatal(err)
	}
	ofTest := write("of-a-test.json", strings.Replace(string(kept), `"target": "locked-is-success"`, `"target": "TestMine"`, 1))
	page := filepath.Join(t.TempDir(), "page.html")
	for _, test := range []struct {
		args string
		code int
		says string // part of standard output, or of the one line on standard error
	}{
		{"version", exitHolds, "lockproof 0."},
		{"list properties", exitHolds, "mutual-exclusion"},
		{"list options", exitHolds, "verify-first"},
		{"list targets", exitHolds, "locked-is-success"},
		{"prove --scenarios 300 --out " + dir, exitHolds, "19 properties: "},
		{"prove mutex --scenarios 300 --json", exitHolds, `"mutual-exclusion"`},
		{"prove locked-is-success --scenarios 300 --out " + dir, exitViolated, "lockproof replay "},
		{"replay " + filepath.Join(dir, "locked-is-success.mutual-exclusion.json"), exitViolated, " hold slot 1 at once"},
		{"replay " + ofTest, exitCannot, "--html draws what was recorded"},
		{"replay --html " + page + " " + ofTest, exitHolds, "It was not carried out again"},
		{"mutants release-forgets", exitHolds, "1 killed"},
		{"mutants admin-mutex-early --scenarios 1", exitViolated, "survives"},

		{"compare mutex --scenarios 50 --on simulated", exitHolds, "1 lock side by side"},
		{"compare mutex mutex-release-forgets --scenarios 50 --on simulated", exitViolated, "violated: linearizable, effective-release"},
		{"compare priority-lock --scenarios 50 --time 1ms --on redis://127.0.0.1:1/0", exitCannot, "127.0.0.1:1"},
		{"compare consul-semaphore --scenarios 50 --time 1ms", exitHolds, "left out: the real Consul: "},
		{"compare mutex --on sofa://here", exitCannot, "--on: expected addresses that begin with amqp://, redis://"},
		{"compare mutex --clients 0", exitCannot, "--clients 0: expected numbers from 1 to 1000"},
		{"compare sofa", exitCannot, "target \"sofa\" is not known"},

		{"check " + write("empty.jsonl", ""), exitInconclusive, "inconclusive: nothing was judged: the history has no operations"},
		{"check " + write("empty.edn", ""), exitInconclusive, "inconclusive: nothing was judged: the history has no operations"},
		{"check --require linearizable " + held, exitHolds, "2 passed"},
		{"check --require no-leak " + held, exitInconclusive, "inconclusive: no-leak is required and was skipped: not shown by a history alone"},
		{"check --require all --json " + held, exitInconclusive, `"outcome": "inconclusive"`},
		{"prove --scenarios 1 --require survives-restart", exitInconclusive, "survives-restart is required and was skipped: never exercised"},
		{"prove --scenarios 2000 --require all", exitHolds, "19 passed"},
		{"explore --strict --clients 3 --admins 0 --crashes 0", exitInconclusive, "inconclusive: linearizable is undecided: no linearization was constructed"},
		{"explore --clients 1 --admins 0 --crashes 0 --property no-false-hold", exitInconclusive, "nothing was judged: every property was skipped"},
		{"prove --require sofa", exitCannot, `property "sofa" is not known`},
		{"prove mutex --require no-phantom-slot", exitCannot, "--require no-phantom-slot: it means nothing for a mutex"},
		{"explore --property linearizable --require no-leak", exitCannot, "--require no-leak: it is not judged here"},
		{"prove --exec cat --lock-type semaphore --property removal-drains", exitCannot, "--property removal-drains: it is not judged of this target"},
		{"explore mutex --admins 0 --property no-phantom-slot", exitCannot, "--property no-phantom-slot: it means nothing for a mutex"},

		{"adapter-check --exec cat", exitViolated, "expected answers only"},

		{"adapter-check", exitCannot, "--exec is missing"},
		{"adapter-check --exec cat --lock-type sofa", exitCannot, `lock type "sofa"`},
		{"--version", exitHolds, "lockproof 0."},
		{"frobnicate", exitCannot, `unknown command "frobnicate"`},
		{"properties", exitCannot, `unknown command "properties" for "lockproof": lockproof list properties has them`},
		{"prov", exitCannot, `unknown command "prov" for "lockproof"; did you mean prove?`},
		{"help prove", exitHolds, "What is judged:"},
		{"help campaign run", exitHolds, "lockproof campaign run"},
		{"help prov", exitCannot, "did you mean prove?"},
		{"help campaign staus", exitCannot, "did you mean status?"},
		{"campaign staus", exitCannot, "did you mean status?"},
		{"list targts", exitCannot, `"targts": expected one of targets, properties, options; did you mean targets?`},
		{"prove locked-is-sucess", exitCannot, "did you mean locked-is-success?"},
		{"prove --property linearisable", exitCannot, "did you mean linearizable?"},
		{"prove -o verify-frist=false", exitCannot, "did you mean verify-first?"},
		{"prove --scenaris 3", exitCannot, "unknown flag: --scenaris; did you mean --scenarios?"},
		{"prove --frobnicate", exitCannot, "unknown flag: --frobnicate; lockproof prove --help-all shows"},
		{"prove nothing-like-it", exitCannot, `target "nothing-like-it" is not known`},
		{"prove --seed x", exitCannot, `invalid argument "x" for "--seed" flag: expected a whole number`},
		{"prove --clients many", exitCannot, `"many" for "--clients" flag: expected a whole number`},
		{"prove --crash-share few", exitCannot, `"few" for "--crash-share" flag: expected a number`},
		{"atlas --question=one", exitCannot, `"one" for "--question" flag: expected a whole number`},
		{"prove --html " + dir + "/both --junit " + dir + "/./both", exitCannot, "--junit and --html name one file"},
		{"prove --scenarios 300 --html /dev/null --junit /dev/null", exitHolds, "19 properties: "},
		{"prove --scenarios 0", exitCannot, `invalid argument "0" for "--scenarios"`},
		{"prove --option colour=red", exitCannot, `option "colour" is not known`},
		{"explore priority-lock -o entry=single", exitCannot, "option entry=single: priority-lock is a lock with entry=claims"},
		{"prove consul-semaphore -o delete-keys=false", exitCannot, "consul-semaphore is a lock with delete-keys=true"},
		{"prove --option order", exitCannot, "expected name=value"},
		{"prove --option order=sideways", exitCannot, "expected one of descending, ascending"},
		{"prove --strategy fair", exitCannot, "expected random or pct"},
		{"prove --time soon", exitCannot, "expected a length of time such as 30s"},
		{"prove --on http://127.0.0.1/", exitCannot, "amqp"},
		{"prove --on amqp://guest:guest@127.0.0.1:1/", exitCannot, "connecting to amqp://"},
		{"prove --on=", exitCannot, "--on is empty"},
		{"prove --exec=", exitCannot, "--exec is empty"},
		{"explore --lock=", exitCannot, "--lock is empty"},
		{"explore --lock jobs --lock jobs", exitCannot, "--lock jobs given twice"},
		{"explore --lock a --lock b --lock c", exitCannot, "--lock given 3 times"},
		{"explore --clients 0 --admins 0", exitCannot, "0 clients: expected 1 to 8"},
		{"explore --clients 2147483647", exitCannot, `"2147483647" for "--clients"`},
		{"explore --rounds 2147483647", exitCannot, `"2147483647" for "--rounds"`},
		{"explore --slots 2147483647", exitCannot, `"2147483647" for "--slots"`},
		{"explore --crashes 2147483647", exitCannot, `"2147483647" for "--crashes"`},
		{"explore --storage bits --array 9007199254740993", exitCannot, `"--array"`},
		{"explore --storage bits --array 1000000", exitCannot, "--array 1000000: expected at most"},
		{"explore --memory 9223372036854775807", exitCannot, `"--memory"`},
		{"explore --workers 2147483647", exitCannot, `"--workers"`},
		{"explore mutex --slots 2", exitCannot, "--slots 2: a mutex has one"},
		{"explore mutex --crashes 0", exitHolds, "13 properties"},
		{"explore --admins 0 --admin-calls count", exitCannot, "--admin-calls without administrators"},
		{"atlas --question 99", exitCannot, "--question 99: expected 1 to 19"},
		{"atlas --server nobody --on mariadb", exitCannot, `--server "nobody" is not known: expected one of amqp`},
		{"atlas --server mariadb --on mariadb --question 99", exitCannot, "--question 99: expected 1 to "},
		{"atlas --server mariadb --on redis", exitCannot, "what --server mariadb asks about stands on MariaDB: expected --on mariadb"},
		{"atlas --on postgres://somebody@127.0.0.1:1/", exitCannot, "what --server amqp asks about stands on a broker: expected --server postgres as well"},
		{"atlas --server consul --on redis", exitCannot, "what --server consul asks about stands on Consul: expected --on consul"},
		{"replay --on amqp://127.0.0.1:1/ ../../../testdata/counterexamples/consul/consul-two-reads.mutual-exclusion.json", exitCannot, "consul-two-reads stands on Consul: expected --on consul, an image such as consul:1.20, or an address such as http://127.0.0.1:8500"},
		{"replay --on redis:7.4 ../../../testdata/counterexamples/consul/consul-two-reads.mutual-exclusion.json", exitCannot, "consul-two-reads stands on Consul: expected --on consul, an image such as consul:1.20"},
		{"prove --on redis:7.4", exitCannot, `"redis:7.4" is not the address of a broker`},
		{"prove mariadb-slots --on mariadb:11", exitCannot, "mariadb-slots stands on MariaDB, and prove puts locks on a broker alone under stress"},
		{"compare mutex --on mysql:8", exitCannot, "or images such as redis:7.4"},
		{"compare mutex --on rabbitmq:4.1,amqp://127.0.0.1:1/", exitCannot, "--on names two of RabbitMQ"},
		{"prove mariadb-slots --on mariadb", exitCannot, "--on mariadb: mariadb-slots stands on MariaDB, and prove puts locks on a broker alone under stress"},
		{"prove consul-semaphore --on amqp://127.0.0.1:1/", exitCannot, "consul-semaphore stands on Consul, and prove"},
		{"prove --exec true --on mysql://root@127.0.0.1:1/", exitCannot, "with --exec: expected --server mariadb"},
		{"prove --exec true --on http://127.0.0.1:1", exitCannot, "expected --server consul, which starts servers here"},
		{"prove --workers -1", exitCannot, `"-1" for "--workers"`},
		{"prove --workers 0", exitCannot, `"0" for "--workers"`},
		{"prove --least 100000 --time 20ms", exitInconclusive, "at least 100,000 were to be"},
		{"prove --time 0s", exitCannot, `"0s" for "--time" flag: expected more than nothing`},
		{"prove --clients 2147483647", exitCannot, "--clients 2147483647: expected 1 to 8"},
		{"prove --clients 7 --slots 5 --admins 0 --scenarios 300", exitHolds, "300 executions of 7 clients, 0 administrators, 5 slots sampled"},
		{"prove --slots 2147483647", exitCannot, "--slots 2147483647"},
		{"prove --rounds 2147483647", exitCannot, "--rounds 2147483647"},
		{"prove --restarts 2147483647", exitCannot, "--restarts 2147483647"},
		{"prove --pct-depth 2147483647", exitCannot, `"--pct-depth"`},
		{"prove mutex --admins 1", exitCannot, "--admins 1: a mutex has no administration"},
		{"prove --strategy random --pct-depth 3", exitCannot, "--pct-depth with --strategy random"},
		{"prove --on rabbitmq --clients 2147483647", exitCannot, "--clients 2147483647: expected 1 to 1000"},
		{"prove mutex --on rabbitmq --slots 2", exitCannot, "--slots 2"},
		{"prove --on rabbitmq --rounds 2147483647", exitCannot, "--rounds 2147483647"},
		{"prove --crashes 0.1", exitCannot, "lockproof: --crashes is called --crash-share now\n"},
		{"prove --depth=3", exitCannot, "lockproof: --depth is called --pct-depth now\n"},
		{"replay --broker amqp://127.0.0.1/ x", exitCannot, "lockproof: --broker is called --on now\n"},
		{"mutants --scenarios 0", exitCannot, `"0" for "--scenarios"`},
		{"check --slots -1 " + held, exitCannot, `"-1" for "--slots"`},
		{"prove --lock-type mutex", exitCannot, "--lock-type without --exec"},
		{"prove --stress proxy", exitCannot, "--stress without --exec"},
		{"prove --exec cat --on redis", exitCannot, "--on redis with --exec: expected --server redis, which starts servers here"},
		{"prove --exec cat --server amqp --servers 2", exitCannot, "--servers 2 without --server redis"},
		{"prove --exec cat --server redi", exitCannot, "the kind of server \"redi\": expected amqp or consul or etcd or mariadb or postgres or redis or tcp or zookeeper"},
		{"__complete prove --server=", exitHolds, "amqp consul etcd mariadb postgres redis tcp zookeeper"},
		{"__complete adapter-check --server=r", exitHolds, "redis"},
		{"prove --exec cat --stress proxy", exitCannot, "--stress without a real broker"},
		{"prove --exec cat --stress fast --on rabbitmq", exitCannot, "expected straight or proxy"},
		{"prove --exec cat --stress straight --on rabbitmq --restarts 1", exitCannot, "expected none"},
		{"explore --exec cat --restarts 1", exitCannot, "--restarts with --exec: the broker does not restart"},
		{"explore --clocks 1", exitCannot, "the clients of semaphore look at no clock"},
		{"explore --exec cat --depth 5", exitCannot, "--depth with --exec: no states are kept"},
		{"explore --exec cat --simulate 5", exitCannot, "--simulate with --exec: nothing is drawn"},
		{"explore --exec cat --executions 0", exitCannot, `invalid argument "0" for "--executions"`},
		{"explore --exec cat --lock-type sofa", exitCannot, `lock type "sofa"`},
		{"explore --exec cat --lock-type mutex --admins 1", exitCannot, "a mutex has no administration"},
		{"explore --exec cat semaphore", exitCannot, "beside --exec"},
		{"explore --exec cat", exitCannot, "expected answers only"},
		{"explore --executions 5", exitCannot, "--executions without --exec"},
		{"mutants semaphore", exitCannot, "is no mutant"},
		{"replay " + filepath.Join(dir, "missing.json"), exitCannot, "no such file"},
		{"replay " + precious, exitCannot, "precious:1"},
		{"check " + write("cut.jsonl", `{"type":"invoke","process":1,"f":"acq`), exitCannot, "cut.jsonl:1"},
		{"check " + write("f.jsonl", `{"type":"invoke","process":1,"f":"grab"}`), exitCannot, "grab"},
		{"check --lock-type sofa " + precious, exitCannot, `lock type "sofa"`},
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
			if said := out.String() + errs.String(); !strings.Contains(said, test.says) && !strings.Contains(strings.Join(strings.Fields(said), " "), test.says) {
				t.Errorf("does not say %q:\n%s%s", test.says, out.String(), errs.String())
			}
		})
	}
	if data, err := os.ReadFile(precious); err != nil || string(data) != "not a counterexample" {
		t.Errorf("a file that is no counterexample was changed: %q %v", data, err)
	}
}
