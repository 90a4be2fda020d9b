package wire_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
)

// refused are tests of amqp091-go that pass on RabbitMQ and fail on the simulated broker, and what that says
// it does not have when they do. There are none at present.
var refused = map[string]string{}

// leftOut are tests that are run on neither, with the reason.
var leftOut = []struct{ tests, reason string }{
	{"TestConnectionRecovery", "ends connections by RabbitMQ's management plugin, which is not there"},
	{"TestConnection_Close_WhenMemoryAlarmIsActive", "has RabbitMQ run out of memory"},
	{"TestChannelCounterShouldNotPanicIssue136", "opens 65,536 channels one after the other, for half a minute"},
}

// TestAMQP091: amqp091-go's own tests pass on the simulated broker as they do on RabbitMQ, but for those that
// are refused by name.
func TestAMQP091(t *testing.T) {
	if testing.Short() {
		t.Skip("amqp091-go's own tests take half a minute")
	}
	real := rabbitmqtest.Private(t).URL
	simulated := clocked(t)
	suite := buildAMQP091(t)
	var onReal, onSimulated map[string]verdict
	var both sync.WaitGroup
	both.Go(func() { onReal = suite.run(t, real) })
	both.Go(func() { onSimulated = suite.run(t, simulated) })
	both.Wait()
	if len(onReal) < 200 {
		t.Fatalf("only %d tests ended on RabbitMQ: %v", len(onReal), onReal)
	}
	for _, name := range sortedKeys(onReal, onSimulated, refused) {
		if why := unlike(name, suite.settled(t, real, name, onReal[name]), suite.settled(t, simulated, name, onSimulated[name]), refused); why != "" {
			t.Error(why)
		}
	}
}

// verdict is what became of a test. The zero value is a test that did not end.
type verdict struct {
	outcome string // PASS, FAIL or SKIP
	output  string
}

// suite is a module's tests, compiled.
type suite struct{ dir, binary string }

// buildAMQP091 compiles amqp091-go's tests from a copy of the module: where modules are kept nothing can be
// written.
func buildAMQP091(t *testing.T) suite {
	t.Helper()
	const module = "github.com/rabbitmq/amqp091-go"
	from, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Skipf("the sources of %s are not found: %v; is Go installed?", module, err)
	}
	s := suite{dir: t.TempDir(), binary: t.TempDir() + "/amqp091.test"}
	must(t, os.CopyFS(s.dir, os.DirFS(strings.TrimSpace(string(from)))))
	build := exec.Command("go", "test", "-c", "-tags", "integration", "-o", s.binary, ".")
	build.Dir, build.Env = s.dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		if os.Getenv(rabbitmqtest.EnvRequire) != "1" {
			t.Skipf("the tests of %s don't compile here: %v; they need a module that is downloaded\n%s", module, err, out)
		}
		t.Fatalf("compiling the tests of %s: %v\n%s", module, err, out)
	}
	return s
}

// suiteLimit bounds one run of all tests.
const suiteLimit = 3 * time.Minute

// run runs tests, all without arguments, on a broker.
func (s suite) run(t *testing.T, url string, args ...string) map[string]verdict {
	ctx, cancel := context.WithTimeout(t.Context(), suiteLimit)
	defer cancel()
	var skip []string
	for _, l := range leftOut {
		skip = append(skip, l.tests)
	}
	args = append([]string{"-test.v=test2json", "-test.timeout", suiteLimit.String(), "-test.skip", strings.Join(skip, "|")}, args...)
	cmd := exec.CommandContext(ctx, s.binary, args...)
	cmd.Dir, cmd.Env = s.dir, append(os.Environ(), "AMQP_URL="+url)
	out, _ := cmd.CombinedOutput() // what failed is in there
	return verdicts(string(out))
}

// testEnd is the line that says what became of a test, and testBegin one that says whose output follows. The
// byte before them is go test's mark.
var (
	testEnd   = regexp.MustCompile(`\x16--- (PASS|FAIL|SKIP): (\S+) `)
	testBegin = regexp.MustCompile(`\x16=== (?:RUN|CONT|NAME) +(\S*)`)
)

// verdicts reads what tests have printed. Those within a test are part of it.
func verdicts(out string) map[string]verdict {
	all := make(map[string]verdict)
	output, current := make(map[string]*strings.Builder), ""
	for line := range strings.Lines(out) {
		if m := testBegin.FindStringSubmatch(line); m != nil {
			current, _, _ = strings.Cut(m[1], "/")
		}
		if output[current] == nil {
			output[current] = new(strings.Builder)
		}
		output[current].WriteString(line)
		if m := testEnd.FindStringSubmatch(line); m != nil && !strings.Contains(m[2], "/") {
			all[m[2]] = verdict{outcome: m[1]}
		}
	}
	for name, v := range all {
		if v.output = ""; output[name] != nil {
			v.output = output[name].String()
		}
		all[name] = v
	}
	return all
}

// settled is a test's verdict, or that of running it again alone if it did not pass: the machine may have been
// too slow for it.
func (s suite) settled(t *testing.T, url, name string, v verdict) verdict {
	for tries := 0; tries < 2 && v.outcome != "PASS" && v.outcome != "SKIP"; tries++ {
		v = s.run(t, url, "-test.run", "^"+regexp.QuoteMeta(name)+"$")[name]
	}
	return v
}

// unlike says how a test ends on the simulated broker otherwise than on RabbitMQ and than refused says, "" where
// it does not.
func unlike(name string, real, simulated verdict, refused map[string]string) string {
	reason, isRefused := refused[name]
	switch {
	case isRefused && (real.outcome != "PASS" || simulated.outcome == "PASS"):
		return fmt.Sprintf("%s is listed as refused by the simulated broker alone, but it is %q on RabbitMQ and %q there: take it off the list",
			name, real.outcome, simulated.outcome)
	case isRefused && !strings.Contains(simulated.output, "lockproof's simulated broker does not have "+reason):
		return fmt.Sprintf("%s does not fail for want of %s:\n%s", name, reason, simulated.output)
	case !isRefused && real.outcome == "PASS" && simulated.outcome != "PASS":
		return fmt.Sprintf("%s passes on RabbitMQ and not on the simulated broker:\n%s", name, simulated.output)
	}
	return ""
}

// TestRefusalsAreChecked: a test that fails on the simulated broker alone has to be listed with the right reason,
// and one that is listed has to fail.
func TestRefusalsAreChecked(t *testing.T) {
	list := map[string]string{"TestDeadLetters": "dead letters"}
	passed, failed := verdict{outcome: "PASS"}, verdict{outcome: "FAIL", output: "lockproof's simulated broker does not have dead letters"}
	for _, c := range []struct {
		name            string
		real, simulated verdict
		right           bool
	}{
		{"TestDeadLetters", passed, failed, true},
		{"TestDeadLetters", passed, verdict{outcome: "FAIL", output: "something else"}, false},
		{"TestDeadLetters", passed, passed, false},
		{"TestDeadLetters", failed, failed, false},
		{"TestDeadLetters", verdict{}, verdict{}, false}, // no such test
		{"TestOther", passed, failed, false},
		{"TestOther", passed, verdict{}, false}, // did not end
		{"TestOther", passed, passed, true},
		{"TestOther", failed, failed, true},
	} {
		if got := unlike(c.name, c.real, c.simulated, list); (got == "") != c.right {
			t.Errorf("%s, %v on RabbitMQ and %v on the simulated broker: %q", c.name, c.real, c.simulated, got)
		}
	}
}

// clocked is the address of a simulated broker as `lockproof broker` has it: its time is real, and messages that
// come together are confirmed together.
func clocked(t *testing.T) string {
	b := wire.NewSimulated(wire.SimulatedOptions{})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { b.FollowClock(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return serve(t, wire.Config{Backend: b, Gate: wire.Together{}}).URL()
}

// sortedKeys are the names in maps.
func sortedKeys(a, b map[string]verdict, c map[string]string) []string {
	var names []string
	for _, m := range []map[string]verdict{a, b} {
		for name := range m {
			names = append(names, name)
		}
	}
	for name := range c {
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
