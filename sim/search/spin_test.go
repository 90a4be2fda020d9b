//go:build linux

package search

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
)

// These tests compare the search with the model checker Spin on testdata/promela/semaphore.pml. For both they measure a
// whole process: its time from start to end, and its peak memory. Translating and compiling Spin's verifier is not
// counted.

var (
	spinBench = flag.Bool("spin", false, "compare with Spin at length")
	spinLong  = flag.Bool("spin-long", false, "and in the configuration that takes minutes as well")
)

// room is a configuration as five numbers: clients, rounds, administrators, slots, crashes.
type room [5]int

func (r room) String() string { return fmt.Sprintf("%d/%d/%d/%d/%d", r[0], r[1], r[2], r[3], r[4]) }

// bounds returns the configuration that lockproof and Spin search: no pipelining, two retries of each kind, crashes
// only between two commands, and only mutual exclusion judged.
func (r room) bounds() sim.Bounds {
	b := standard(r[0], r[1], r[2], r[3], r[4])
	b.Options = amqplock.Table.Edit(b.Options, func(o *amqplock.Options) { o.Pipeline, o.Retries, o.AdminRetries = 0, 2, 2 })
	b.Faults.CleanCrashes = true
	b.Properties = 1 << property.MutualExclusion
	return b
}

// run is the result of one process that searched.
type run struct {
	name                string
	states, transitions int64
	wall, cpu           time.Duration
	memory              int64
	violated            bool
}

// TestSpin compares the numbers of states and transitions of lockproof and Spin. With -spin it also compares their
// speed.
func TestSpin(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out Spin")
	}
	for _, tool := range []string{"spin", "gcc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("NOT COMPARED: there is no %s on this machine (Debian: apt-get install spin gcc)", tool)
		}
	}
	rooms := []room{{2, 1, 1, 2, 1}, {3, 1, 1, 2, 1}}
	if *spinBench || *spinLong {
		rooms = append(rooms, room{4, 1, 1, 2, 1}, room{4, 1, 1, 3, 1})
	}
	if *spinLong {
		rooms = append(rooms, room{3, 2, 2, 3, 1})
	}
	for _, r := range rooms {
		t.Run(strings.ReplaceAll(r.String(), "/", "-"), func(t *testing.T) { compare(t, r) })
	}
	if bug := spin(t, "BUG", rooms[1], 0, "-DBUG=1"); !bug.violated {
		t.Error("Spin finds nothing wrong with taking RESOURCE_LOCKED for success")
	}
}

// compare lets lockproof and Spin search a configuration, and compares the results.
func compare(t *testing.T, r room) {
	unreduced := ours(t, "lockproof, unreduced, 1 core", r, 1, Reductions{})
	same := spin(t, "Spin, unreduced, same states", r, unreduced.states, "-o2", "-DNOREDUCE")
	// Spin counts a transition to the initial state; lockproof does not.
	if same.states != unreduced.states || same.transitions != unreduced.transitions+1 {
		t.Errorf("%v: Spin visits %d states by %d transitions; want %d by %d+1",
			r, same.states, same.transitions, unreduced.states, unreduced.transitions)
	}
	if !*spinBench && !*spinLong {
		return
	}
	runs := []run{
		same,
		// Without -o2, Spin resets variables that are not read again. It then has fewer states, and misses no
		// violation.
		spin(t, "Spin, unreduced", r, same.states, "-DNOREDUCE"),
		spin(t, "Spin, partial order reduction", r, same.states),
		spin(t, "Spin, unreduced, COLLAPSE", r, same.states, "-DNOREDUCE", "-DCOLLAPSE"),
		unreduced,
		ours(t, "lockproof, unreduced, 2 cores", r, 2, Reductions{}),
		ours(t, "lockproof, all reductions, 1 core", r, 1, AllReductions),
		ours(t, "lockproof, all reductions, 2 cores", r, 2, AllReductions),
	}
	t.Log("\n" + table(r, runs))
}

// spinRuns is the number of Spin's runs, which come first among the compared runs.
const spinRuns = 4

// table formats the runs, with their ratios to Spin's run with the least processor time.
func table(r room, runs []run) string {
	best := slices.MinFunc(runs[:spinRuns], func(a, b run) int { return cmp.Compare(a.cpu, b.cpu) })
	out := new(strings.Builder)
	fmt.Fprintf(out, "clients/rounds/administrators/slots/crashes %v\n", r)
	fmt.Fprintf(out, "%-36s %9s %11s %9s %10s %10s %8s   times as good as %q:\n",
		"", "states", "transitions", "wall", "processor", "states/s", "bytes/", best.name)
	fmt.Fprintf(out, "%-36s %9s %11s %9s %10s %10s %8s %8s %10s %9s %7s\n",
		"", "", "", "", "", "", "state", "wall", "processor", "states/s", "memory")
	for _, x := range runs {
		fmt.Fprintf(out, "%-36s %9d %11d %8.2fs %9.2fs %10.0f %8.1f %8.2f %10.2f %9.2f %7.2f\n",
			x.name, x.states, x.transitions, x.wall.Seconds(), x.cpu.Seconds(), x.rate(), x.bytes(),
			best.wall.Seconds()/x.wall.Seconds(), best.cpu.Seconds()/x.cpu.Seconds(), x.rate()/best.rate(),
			float64(best.memory)/float64(x.memory))
	}
	return out.String()
}

func (x run) rate() float64  { return float64(x.states) / x.wall.Seconds() }
func (x run) bytes() float64 { return float64(x.memory) / float64(x.states) }

// measure executes a command, stores its time and memory in x, and returns its output.
func (x *run) measure(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	cmd.Stderr = os.Stderr
	start := time.Now()
	out, err := cmd.Output()
	x.wall = time.Since(start)
	if err != nil {
		t.Fatalf("%s: %v: %v\n%s", x.name, cmd, err, out)
	}
	x.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	x.memory = cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss * 1024
	return string(out)
}

// spin lets Spin search a configuration. states is the expected number of states; Spin makes its hash table large
// enough for them at the start.
func spin(t *testing.T, name string, r room, states int64, flags ...string) run {
	t.Helper()
	dir := t.TempDir()
	model, err := filepath.Abs("../../testdata/promela/semaphore.pml")
	if err != nil {
		t.Fatal(err)
	}
	translate, compile := []string{"-a"}, []string{"-O2", "-DSAFETY", "-w"}
	for _, f := range flags {
		if f == "-o2" || f == "-DBUG=1" {
			translate = append(translate, f)
		} else {
			compile = append(compile, f)
		}
	}
	for i, macro := range []string{"NC", "NK", "NA", "NS", "NF"} {
		translate = append(translate, fmt.Sprintf("-D%s=%d", macro, r[i]))
	}
	in(t, dir, "spin", append(translate, model)...)
	in(t, dir, "gcc", append(compile, "-o", "pan", "pan.c")...)
	x := run{name: name}
	cmd := exec.Command(filepath.Join(dir, "pan"), "-m100000", "-w"+strconv.Itoa(max(16, bits.Len64(uint64(states)))))
	cmd.Dir = dir
	out := x.measure(t, cmd)
	x.states, x.transitions = figure(t, out, "states, stored"), figure(t, out, "transitions")
	x.violated = strings.Contains(out, "assertion violated")
	if !x.violated && (!strings.Contains(out, "errors: 0") || strings.Contains(out, "search not completed")) {
		t.Fatalf("%s, %v: Spin has not visited everything:\n%s", name, r, out)
	}
	return x
}

// in runs a command in a directory.
func in(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
}

// figure returns the number that precedes the given words in the output.
func figure(t *testing.T, out, words string) int64 {
	t.Helper()
	m := regexp.MustCompile(`(\d+) ` + words).FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("Spin does not tell the number of %s:\n%s", words, out)
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// errand is the task of a separate process: the configuration to search, and how.
type errand struct {
	Room       room
	Workers    int
	Reductions Reductions
}

const errandVariable = "LOCKPROOF_SEARCH"

// ours lets a separate process search a configuration on the given number of cores.
func ours(t *testing.T, name string, r room, cores int, red Reductions) run {
	t.Helper()
	x := run{name: name}
	what, err := json.Marshal(errand{r, cores, red})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestErrand$")
	cmd.Env = append(os.Environ(), errandVariable+"="+string(what), "GOMAXPROCS="+strconv.Itoa(cores))
	out := x.measure(t, cmd)
	var res Result
	if err := json.NewDecoder(strings.NewReader(out)).Decode(&res.Stats); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	x.states, x.transitions = res.States, res.Transitions
	return x
}

// TestErrand is the main function of the separate process that ours starts. In a normal test run it is skipped.
func TestErrand(t *testing.T) {
	what := os.Getenv(errandVariable)
	if what == "" {
		t.Skip("run by TestSpin, in a process of its own")
	}
	var e errand
	if err := json.Unmarshal([]byte(what), &e); err != nil {
		t.Fatal(err)
	}
	res := Run(context.Background(), e.Room.bounds(), Options{Workers: e.Workers, Reductions: e.Reductions})
	if res.Stop != Finished || res.Found != 0 {
		t.Fatalf("stopped %d, found %b", res.Stop, res.Found)
	}
	if err := json.NewEncoder(os.Stdout).Encode(&res.Stats); err != nil {
		t.Fatal(err)
	}
}
