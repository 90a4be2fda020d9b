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

// refused maps tests of amqp091-go that pass on RabbitMQ but fail on the simulated broker to the feature that the
// simulated broker reports as missing. There are none at present.
var refused = map[string]string{}

// leftOut are tests of amqp091-go that are run on no broker, with the reason.
var leftOut = []struct{ tests, reason string }{
	{"TestConnectionRecovery", "ends connections by RabbitMQ's management plugin, which is not there"},
	{"TestConnection_Close_WhenMemoryAlarmIsActive", "has RabbitMQ run out of memory"},
	{"TestChannelCounterShouldNotPanicIssue136", "opens 65,536 channels one after the other, for half a minute"},
}

// TestAMQP091 runs amqp091-go's own tests on RabbitMQ and on the simulated broker. A test that passes on RabbitMQ must
// pass on the simulated broker, unless refused lists it.
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

// verdict is the outcome of a test. The zero value means that the test did not end.
type verdict struct {
	outcome string // PASS, FAIL or SKIP
	output  string
}

// suite is the compiled tests of a module: dir has its sources, and binary is the test program.
type suite struct{ dir, binary string }

// buildAMQP091 compiles amqp091-go's tests from a copy of the module, because the module cache is read-only.
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

// suiteLimit is the maximum time for one run of all tests.
const suiteLimit = 3 * time.Minute

// run runs the compiled tests on the broker at url, with further test flags in args. Without args it runs all tests.
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
	out, _ := cmd.CombinedOutput() // the output shows which tests failed, so the error is not needed
	return verdicts(string(out))
}

// testEnd matches the line with a test's outcome. testBegin matches a line that names the test whose output follows. go
// test writes the byte \x16 in front of such lines.
var (
	testEnd   = regexp.MustCompile(`\x16--- (PASS|FAIL|SKIP): (\S+) `)
	testBegin = regexp.MustCompile(`\x16=== (?:RUN|CONT|NAME) +(\S*)`)
)

// verdicts parses the output of go test. The output of subtests is added to that of their test.
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

// settled returns a test's last verdict. If the test has neither passed nor been skipped, settled first runs it again,
// alone and at most twice: it may have failed only because the machine was too slow.
func (s suite) settled(t *testing.T, url, name string, v verdict) verdict {
	for tries := 0; tries < 2 && v.outcome != "PASS" && v.outcome != "SKIP"; tries++ {
		v = s.run(t, url, "-test.run", "^"+regexp.QuoteMeta(name)+"$")[name]
	}
	return v
}

// unlike describes how a test's outcome on the simulated broker differs from RabbitMQ in a way that refused does not
// list; "" if it does not.
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

// unlike accepts a test that fails on the simulated broker alone only if the list gives the right reason. A listed test
// must fail.
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
		{"TestDeadLetters", verdict{}, verdict{}, false}, // the test does not exist
		{"TestOther", passed, failed, false},
		{"TestOther", passed, verdict{}, false}, // the test did not end
		{"TestOther", passed, passed, true},
		{"TestOther", failed, failed, true},
	} {
		if got := unlike(c.name, c.real, c.simulated, list); (got == "") != c.right {
			t.Errorf("%s, %v on RabbitMQ and %v on the simulated broker: %q", c.name, c.real, c.simulated, got)
		}
	}
}

// clocked is the URL of a simulated broker that runs like `lockproof broker`: in real time, and with one confirm for
// messages that arrive together.
func clocked(t *testing.T) string {
	b := wire.NewSimulated(wire.SimulatedOptions{})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { b.FollowClock(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return serve(t, wire.Config{Backend: b, Gate: wire.Together{}}).URL()
}

// sortedKeys are the keys of all three maps, sorted and without duplicates.
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
