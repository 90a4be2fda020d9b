//go:build unix

package cli

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockproof/lockproof/internal/rabbitmqtest"
	"github.com/lockproof/lockproof/internal/redistest"
)

// use says how to try a flag in one kind of run.
type use struct {
	args    string // the words that give the flag
	refused string // part of the error if the flag is refused; "" if the flag must make a difference
	base    string // command line to compare with; "" means the base of the kind of run
	same    bool   // the flag is accepted, but its effect is not visible in this test
}

// sort is a kind of run with its command line. In the command line, DIR stands for a folder, ADAPTER for a program to
// judge, REDIS for a program with a lock on Redis, and URL for a broker.
type sort struct {
	base   string
	need   string // what the run needs: "adapter", "broker" or "redis"; "" if nothing
	long   bool   // each run takes long
	flags  map[string]use
	report bool   // the run also has the flags of all reports
	like   string // name of a kind of run that tries the remaining flags, because they work in the same way there
}

// reporting says how to try the flags that all commands with a report have.
var reporting = map[string]use{
	"json": {args: "--json"}, "junit": {args: "--junit DIR/j.xml"}, "html": {args: "--html DIR/h.html"},
	// TestAction tests --annotate with findings.
	"summary": {args: "--summary DIR/s.md"}, "sarif": {args: "--sarif DIR/s.sarif"}, "annotate": {args: "--annotate", same: true},
}

const (
	ofExec      = "without --exec"
	noSchedule  = "on a real broker without a schedule"
	noStates    = "with --exec: no states are kept"
	noRestarts  = "with --exec: the broker does not restart"
	walking     = "with --simulate: random executions"
	ofAny       = "without --clients any"
	forEver     = "with --clients any"
	noQueue     = "without --queue"
	noServers   = "without --server redis"
	beside      = "beside --server redis"
	noRabbitMQ  = "has no rabbitmq-server"
	unreachable = "amqp://127.0.0.1:1"
)

// sorts are all kinds of runs, by name.
var sorts = map[string]sort{
	"prove": {base: "prove reconnects --scenarios 600 --out DIR/ce", report: true, flags: map[string]use{
		"seed": {args: "--seed 2"}, "scenarios": {args: "--scenarios 300"}, "least": {args: "--least 601", refused: "only 600 are run"}, "time": {args: "--time 1ns"}, "strategy": {args: "--strategy pct"},
		"pct-depth": {args: "--pct-depth 1"}, "strict": {args: "--strict"}, "option": {args: "-o order=ascending"}, "workers": {args: "--workers 3", same: true},
		"property": {args: "--property linearizable"}, "first": {args: "--first"}, "require": {args: "--require survives-restart", base: "prove --scenarios 1"},
		"clients": {args: "--clients 6"}, "admins": {args: "--admins 3"}, "slots": {args: "--slots 1"}, "rounds": {args: "--rounds 1"},
		"crash-share": {args: "--crash-share 0"}, "restarts": {args: "--restarts 2"}, "out": {args: "--out DIR/other"},
		"on":   {args: "--on " + unreachable, base: "prove", refused: "--on: "},
		"exec": {args: "--exec cat", refused: "beside --exec"}, "lock-type": {args: "--lock-type mutex", refused: ofExec},
		"contract": {args: "--contract mutex", refused: ofExec}, "holding": {args: "--holding 'queue jobs-{slot}'", refused: ofExec}, "patience": {args: "--patience 1s", refused: ofExec}, "server": {args: "--server redis", refused: ofExec}, "servers": {args: "--servers 3", refused: ofExec}, "limit": {args: "--limit 5s", refused: "--limit without --stress"}, "stress": {args: "--stress proxy", refused: ofExec},
		"start": {args: "--start slots=1,3"},
	}},
	"prove --exec": {base: "prove --exec ADAPTER --workers 1 --scenarios 2 --out DIR/ce", need: "adapter", report: true, flags: map[string]use{
		"seed": {args: "--seed 2"}, "scenarios": {args: "--scenarios 1"}, "least": {args: "--least 3", refused: "only 2 are run"}, "time": {args: "--time 1ns"}, "strategy": {args: "--strategy pct"},
		"pct-depth": {args: "--pct-depth 1 --strategy pct", base: "prove --exec ADAPTER --workers 1 --scenarios 2 --strategy pct"}, "strict": {args: "--strict"},
		"option": {args: "-o colour=red"}, "workers": {args: "--workers 2", same: true}, "property": {args: "--property linearizable"},
		"first": {args: "--first", base: "prove --exec BUGGY --workers 1 --property mutual-exclusion --seed 7 --scenarios 5 --out DIR/ce"}, "require": {args: "--require survives-restart", base: "prove --exec ADAPTER --workers 1 --scenarios 1"},
		"clients": {args: "--clients 6"}, "admins": {args: "--admins 3"}, "slots": {args: "--slots 1"}, "rounds": {args: "--rounds 1"},
		"crash-share": {args: "--crash-share 0"}, "restarts": {args: "--restarts 2"}, "out": {args: "--out DIR/other", same: true},
		"on":   {args: "--on " + unreachable, base: "prove", refused: "--on: "},
		"exec": {args: "--exec cat"}, "lock-type": {args: "--lock-type mutex", base: "prove --exec ADAPTER --workers 1 --scenarios 1"}, "contract": {args: "--contract mutex"}, "holding": {args: "--holding 'queue jobs-{slot}'"}, "patience": {args: "--patience 1s", same: true},
		"server": {args: "--server mongodb", refused: "expected amqp or consul or etcd or mariadb or postgres or redis or tcp or zookeeper"}, "servers": {args: "--servers 3", refused: noServers},
		"limit": {args: "--limit 5s", refused: "--limit without --stress"}, "stress": {args: "--stress proxy", refused: "--stress without a real broker"},
		"start": {args: "--start slots=1,3"},
	}},
	"prove --server": {like: "prove --exec", base: "prove --exec REDIS --server redis --workers 1 --scenarios 2 --out DIR/ce", need: "redis", report: true, flags: map[string]use{
		"server": {args: "--server amqp"}, "servers": {args: "--servers 3"}, "on": {args: "--on rabbitmq", refused: beside}, "holding": {args: "--holding 'queue jobs-{slot}'", refused: beside},
		"stress": {args: "--stress proxy", refused: beside}, "restarts": {args: "--restarts 2"}, "lock-type": {args: "--lock-type semaphore"}, "contract": {args: "--contract lease", same: true},
		"start": {args: "--start slots=1,3", refused: "a mutex"},
	}},
	"prove --exec --on": {like: "prove --exec", base: "prove --exec ADAPTER --workers 1 --scenarios 1 --out DIR/ce --on URL", need: "broker", report: true, flags: map[string]use{
		"seed": {args: "--seed 2"}, "scenarios": {args: "--scenarios 2"}, "least": {args: "--least 1", same: true}, "time": {args: "--time 1ns"},
		"pct-depth": {args: "--pct-depth 3 --strategy random", refused: "with --strategy random"}, "workers": {args: "--workers 2", same: true},
		"restarts": {args: "--restarts 2", refused: "it is not restarted"}, "out": {args: "--out DIR/other", same: true}, "on": {args: "--on simulated"},
		"exec": {args: "--exec cat"}, "holding": {args: "--holding 'queue jobs-{slot}'"}, "patience": {args: "--patience 1s", same: true},
		"limit": {args: "--limit 5s", refused: "--limit without --stress"}, "stress": {args: "--stress slow", refused: "expected straight or proxy"},
		"start": {args: "--start slots=1,3", refused: "from the simulated one alone"},
	}},
	"prove --on": {base: "prove --on URL --rounds 2 --out DIR/ce", need: "broker", report: true, flags: map[string]use{
		"seed": {args: "--seed 2", same: true}, "scenarios": {args: "--scenarios 2", refused: noSchedule}, "least": {args: "--least 2", refused: noSchedule}, "time": {args: "--time 1s", refused: noSchedule},
		"strategy": {args: "--strategy pct", refused: noSchedule}, "pct-depth": {args: "--pct-depth 3", refused: noSchedule}, "strict": {args: "--strict", same: true},
		"option": {args: "-o connection=shared", refused: "expected own"}, "workers": {args: "--workers 1", refused: noSchedule},
		"property": {args: "--property linearizable"}, "first": {args: "--first", refused: noSchedule}, "require": {args: "--require no-leak"},
		"clients": {args: "--clients 0", refused: "--clients 0"}, "admins": {args: "--admins -1", refused: "--admins -1"}, "slots": {args: "--slots 300", refused: "--slots 300"},
		"rounds": {args: "--rounds 0", refused: "--rounds 0"}, "crash-share": {args: "--crash-share 2", refused: "--crash-share 2"},
		"restarts": {args: "--restarts 3", refused: "--restarts 3"}, "out": {args: "--out DIR/other"}, "on": {args: "--on simulated"},
		"exec": {args: "--exec cat"}, "lock-type": {args: "--lock-type mutex", refused: ofExec},
		"contract": {args: "--contract mutex", refused: ofExec}, "holding": {args: "--holding 'queue jobs-{slot}'", refused: ofExec}, "patience": {args: "--patience 1s", refused: ofExec}, "server": {args: "--server redis", refused: ofExec}, "servers": {args: "--servers 3", refused: ofExec}, "limit": {args: "--limit 5s", refused: "--limit without --stress"}, "stress": {args: "--stress proxy", refused: ofExec},
		"start": {args: "--start slots=1,3", refused: "on a real broker without a schedule"},
	}},
	"prove --stress": {base: "prove --exec ADAPTER --on URL --stress proxy --rounds 2 --out DIR/ce", need: "broker", report: true, flags: map[string]use{
		"seed": {args: "--seed 2", same: true}, "scenarios": {args: "--scenarios 2", refused: noSchedule}, "least": {args: "--least 2", refused: noSchedule}, "time": {args: "--time 1s", refused: noSchedule},
		"strategy": {args: "--strategy pct", refused: noSchedule}, "pct-depth": {args: "--pct-depth 3", refused: noSchedule}, "strict": {args: "--strict", same: true},
		"option": {args: "-o colour=red"}, "workers": {args: "--workers 1", refused: noSchedule},
		"property": {args: "--property linearizable"}, "first": {args: "--first", refused: noSchedule}, "require": {args: "--require no-leak"},
		"clients": {args: "--clients 0", refused: "--clients 0"}, "admins": {args: "--admins -1", refused: "--admins -1"}, "slots": {args: "--slots 300", refused: "--slots 300"},
		"rounds": {args: "--rounds 0", refused: "--rounds 0"}, "crash-share": {args: "--crash-share 2", refused: "--crash-share 2"},
		"restarts": {args: "--restarts 3", refused: "--restarts with --exec"}, "out": {args: "--out DIR/other"}, "on": {args: "--on simulated", refused: "without a real broker"},
		"exec": {args: "--exec cat"}, "lock-type": {args: "--lock-type mutex --limit 1s"},
		"contract": {args: "--contract mutex"}, "holding": {args: "--holding 'queue jobs-{slot}'", refused: "with --stress"}, "patience": {args: "--patience 5s", refused: "with --stress: clients wait at no gate"}, "server": {args: "--server redis", refused: "--on beside --server redis"}, "servers": {args: "--servers 3", refused: noServers}, "limit": {args: "--limit 5s", same: true}, "stress": {args: "--stress straight"},
		"start": {args: "--start slots=1,3", refused: "on a real broker without a schedule"},
	}},
	"explore": {base: "explore no-admin-mutex --slots 1 --crashes 0 --admins 2 --clients 1 --admin-calls add:1 --out DIR/ce", report: true, flags: map[string]use{
		"clients": {args: "--clients 2"}, "rounds": {args: "--rounds 2"}, "admins": {args: "--admins 1"}, "slots": {args: "--slots 2"},
		"lock": {args: "--lock mails"}, "calls": {args: "--calls acquire"}, "admin-calls": {args: "--admin-calls remove:1"}, "option": {args: "-o pipeline=0"},
		"crashes": {args: "--crashes 1"}, "drops": {args: "--drops 1"}, "channel-errors": {args: "--channel-errors 1"}, "lost": {args: "--lost 1"},
		"clocks": {args: "--clocks 1", base: "explore priority-lock --crashes 0"}, "restarts": {args: "--restarts 1"}, "late": {args: "--late=false", base: "explore --clients 2 --admins 0"}, "property": {args: "--property linearizable"}, "strict": {args: "--strict"},
		"reduce": {args: "--reduce none"}, "workers": {args: "--workers 3", same: true}, "depth": {args: "--depth 3"},
		"memory": {args: "--memory 1", same: true}, "storage": {args: "--storage exact"}, "array": {args: "--array 1", refused: "without --storage bits"},
		"first": {args: "--first"}, "checkpoint": {args: "--checkpoint DIR/cp --depth 3", base: "explore --depth 3"}, "every": {args: "--every 1m", refused: "without --checkpoint"},
		"resume": {args: "--resume DIR/none", refused: "no such file"}, "simulate": {args: "--simulate 5"}, "seed": {args: "--seed 2", refused: "without --simulate"}, "graph": {args: "--graph DIR/g.dot", same: true},
		"exec": {args: "--exec cat", refused: "beside --exec"}, "lock-type": {args: "--lock-type mutex", refused: ofExec}, "contract": {args: "--contract mutex", refused: ofExec}, "holding": {args: "--holding 'queue jobs-{slot}'", refused: ofExec}, "patience": {args: "--patience 1s", refused: ofExec}, "server": {args: "--server redis", refused: ofExec}, "servers": {args: "--servers 3", refused: ofExec}, "lapses": {args: "--lapses 1", refused: ofExec},
		"executions": {args: "--executions 5", refused: ofExec}, "preemptions": {args: "--preemptions 1", refused: ofExec}, "require": {args: "--require survives-restart", base: "explore --clients 1 --admins 0"}, "out": {args: "--out DIR/other"},
		"most-slots": {args: "--most-slots 2", refused: ofAny},
		"start":      {args: "--start slots=1,3", base: "explore no-admin-mutex --crashes 0 --clients 1 --admin-calls add:1 --out DIR/ce"},
	}},
	"explore --clients any": {long: true, base: "explore no-admin-mutex --clients any --slots 1 --crashes 0 --admins 2 --calls acquire,release --admin-calls add:1 --property admin-exclusion --first --out DIR/ce", report: true, flags: map[string]use{
		"clients": {args: "--clients 1"}, "rounds": {args: "--rounds 2", refused: forEver}, "admins": {args: "--admins 1"}, "slots": {args: "--slots 2"},
		"lock": {args: "--lock mails", same: true}, "calls": {args: "--calls acquire"}, "admin-calls": {args: "--admin-calls remove:1"}, "option": {args: "-o pipeline=0"},
		"crashes": {args: "--crashes any"}, "drops": {args: "--drops 1"}, "channel-errors": {args: "--channel-errors 1"}, "lost": {args: "--lost 1"},
		"clocks": {args: "--clocks 1", refused: "with --clients any"}, "restarts": {args: "--restarts 1"}, "late": {args: "--late=false --crashes 1"}, "property": {args: "--property no-leak"}, "strict": {args: "--strict", same: true},
		"reduce": {args: "--reduce none", refused: forEver}, "workers": {args: "--workers 3", same: true}, "depth": {args: "--depth 3", refused: forEver},
		"memory": {args: "--memory 100", same: true}, "storage": {args: "--storage exact", refused: forEver}, "array": {args: "--array 1", refused: forEver},
		"first": {args: "--first", base: "explore no-admin-mutex --clients any --slots 1 --crashes 0 --admins 2 --calls acquire --admin-calls add:1 --property admin-exclusion --out DIR/ce", same: true}, "checkpoint": {args: "--checkpoint DIR/cp"}, "every": {args: "--every 1m", refused: "without --checkpoint"},
		"resume": {args: "--resume DIR/none", refused: "no such file"}, "simulate": {args: "--simulate 5", refused: forEver}, "seed": {args: "--seed 2", refused: forEver}, "graph": {args: "--graph DIR/g.dot", refused: "more states than can be drawn"},
		"exec": {args: "--exec cat", refused: "beside --exec"}, "lock-type": {args: "--lock-type mutex", refused: ofExec}, "contract": {args: "--contract mutex", refused: ofExec}, "holding": {args: "--holding 'queue jobs-{slot}'", refused: ofExec}, "patience": {args: "--patience 1s", refused: ofExec}, "server": {args: "--server redis", refused: ofExec}, "servers": {args: "--servers 3", refused: ofExec}, "lapses": {args: "--lapses 1", refused: ofExec},
		"executions": {args: "--executions 5", refused: ofExec}, "preemptions": {args: "--preemptions 1", refused: ofExec}, "require": {args: "--require admin-exclusion", same: true}, "out": {args: "--out DIR/other"},
		"most-slots": {args: "--most-slots 2"},
		"start":      {args: "--start slots=1,3", base: "explore --clients any --admins 0 --crashes 0 --property progress --out DIR/ce"},
	}},
	"explore --simulate": {long: true, base: "explore no-admin-mutex --simulate 50 --admins 2 --json --out DIR/ce", report: true, flags: map[string]use{
		"json":    {args: "--json=false"},
		"clients": {args: "--clients 3"}, "rounds": {args: "--rounds 2"}, "admins": {args: "--admins 1"}, "slots": {args: "--slots 3"},
		"lock": {args: "--lock mails --lock jobs"}, "calls": {args: "--calls acquire"}, "admin-calls": {args: "--admin-calls remove:1"}, "option": {args: "-o pipeline=0"},
		"crashes": {args: "--crashes 2"}, "drops": {args: "--drops 1"}, "channel-errors": {args: "--channel-errors 1"}, "lost": {args: "--lost 1"},
		"clocks": {args: "--clocks 1", base: "explore priority-lock --simulate 5"}, "restarts": {args: "--restarts 1"}, "late": {args: "--late=false"}, "property": {args: "--property linearizable"}, "strict": {args: "--strict"},
		"reduce": {args: "--reduce none", refused: walking}, "workers": {args: "--workers 3", same: true}, "depth": {args: "--depth 3", refused: walking},
		"memory": {args: "--memory 1", refused: walking}, "storage": {args: "--storage bits", refused: walking}, "array": {args: "--array 1", refused: walking},
		"first": {args: "--first", refused: walking}, "checkpoint": {args: "--checkpoint DIR/cp", refused: walking}, "every": {args: "--every 1m", refused: walking},
		"resume": {args: "--resume DIR/none", refused: walking}, "simulate": {args: "--simulate 6"}, "seed": {args: "--seed 2"}, "graph": {args: "--graph DIR/g.svg", same: true},
		"exec": {args: "--exec cat", refused: "beside --exec"}, "lock-type": {args: "--lock-type mutex", refused: ofExec}, "contract": {args: "--contract mutex", refused: ofExec}, "holding": {args: "--holding 'queue jobs-{slot}'", refused: ofExec}, "patience": {args: "--patience 1s", refused: ofExec}, "server": {args: "--server redis", refused: ofExec}, "servers": {args: "--servers 3", refused: ofExec}, "lapses": {args: "--lapses 1", refused: ofExec},
		"executions": {args: "--executions 5", refused: ofExec}, "preemptions": {args: "--preemptions 1", refused: ofExec}, "require": {args: "--require survives-restart", base: "explore --simulate 1"}, "out": {args: "--out DIR/other"},
		"most-slots": {args: "--most-slots 2", refused: ofAny},
		"start":      {args: "--start slots=1,3"},
	}},
	"explore --exec": {base: "explore --exec BUGGY --calls acquire --clients 1 --out DIR/ce", need: "adapter", report: true, flags: map[string]use{
		"clients": {args: "--clients 2 --executions 5"}, "rounds": {args: "--rounds 2 --executions 5"}, "admins": {args: "--admins 1 --executions 5"}, "slots": {args: "--slots 2"},
		"lock": {args: "--lock mails", same: true}, "calls": {args: "--calls acquire,release"}, "admin-calls": {args: "--admin-calls remove:1", refused: "without administrators"},
		"option": {args: "-o colour=red"}, "crashes": {args: "--crashes 1"}, "drops": {args: "--drops 1"},
		"channel-errors": {args: "--channel-errors 1"}, "lost": {args: "--lost 1"}, "clocks": {args: "--clocks 1", refused: "the clock of somebody's program"}, "restarts": {args: "--restarts 1", refused: noRestarts},
		"late": {args: "--late=false", base: "explore --exec BUGGY --calls acquire --crashes 1 --clients 1"}, "preemptions": {args: "--preemptions 0"}, "property": {args: "--property linearizable"}, "strict": {args: "--strict"},
		"reduce": {args: "--reduce none", refused: noStates}, "workers": {args: "--workers 3", refused: noStates}, "depth": {args: "--depth 3", refused: noStates},
		"memory": {args: "--memory 1", refused: noStates}, "storage": {args: "--storage exact", refused: noStates}, "array": {args: "--array 1", refused: noStates},
		"first": {args: "--first", base: "explore --exec BUGGY --calls acquire --property mutual-exclusion"}, "checkpoint": {args: "--checkpoint DIR/cp", refused: noStates}, "every": {args: "--every 1m", refused: noStates},
		"resume": {args: "--resume DIR/none", refused: noStates}, "simulate": {args: "--simulate 5", refused: "nothing is drawn"}, "seed": {args: "--seed 2", refused: "nothing is drawn"}, "graph": {args: "--graph DIR/g.svg", refused: noStates},
		"exec": {args: "--exec cat"}, "lock-type": {args: "--lock-type mutex"}, "contract": {args: "--contract mutex"}, "holding": {args: "--holding 'queue jobs-{slot}'"}, "patience": {args: "--patience 1s", same: true},
		"server": {args: "--server mongodb", refused: "expected amqp or consul or etcd or mariadb or postgres or redis or tcp or zookeeper"}, "servers": {args: "--servers 3", refused: noServers}, "lapses": {args: "--lapses 1", refused: "it has no leases"},
		"executions": {args: "--executions 5"}, "require": {args: "--require no-leak --property linearizable", refused: "it is not judged here"}, "out": {args: "--out DIR/other", base: "explore --exec BUGGY --calls acquire --property mutual-exclusion --first --out DIR/ce"},
		"most-slots": {args: "--most-slots 2", refused: ofAny},
		"start":      {args: "--start slots=1,3"},
	}},
	"explore --server": {like: "explore --exec", base: "explore --exec REDIS --server redis --calls acquire --clients 1 --out DIR/ce", need: "redis", report: true, flags: map[string]use{
		"server": {args: "--server amqp"}, "servers": {args: "--servers 3", refused: "expected one"}, "lapses": {args: "--lapses 1"}, "holding": {args: "--holding 'queue jobs-{slot}'", refused: beside},
		"channel-errors": {args: "--channel-errors 1", refused: beside}, "crashes": {args: "--crashes 1"}, "start": {args: "--start slots=1,3", refused: "a mutex"},
	}},
	"adapter-check --server": {base: "adapter-check --exec REDIS --server redis", need: "redis", flags: map[string]use{
		"exec": {args: "--exec cat"}, "lock-type": {args: "--lock-type semaphore"}, "limit": {args: "--limit 5s", same: true}, "server": {args: "--server amqp"}, "servers": {args: "--servers 3"},
	}},
	"check": {base: "check ../../../testdata/histories/jepsen-mutex-two-holders.edn", report: true, flags: map[string]use{
		"lock-type": {args: "--lock-type persistent-mutex"}, "slots": {args: "--slots 2", refused: "a mutex has one"}, "permits": {args: "--permits 2", refused: "a mutex has one"},
		"strict": {args: "--strict", same: true}, "require": {args: "--require no-leak", base: "check DIR/held.jsonl"},
		"release-by-others": {args: "--release-by-others allow"}, "failed-release": {args: "--failed-release keeps"},
		"order": {args: "--order lines", same: true}, "values": {args: "--values plain", base: "check DIR/keys.jsonl"}, "reentrant": {args: "--reentrant 2"}, "clock-error": {args: "--clock-error 50ms", refused: "one machine"},
		"audit": {args: "--audit", refused: "no audit"},
	}},
	"check of a semaphore that does not say so": {base: "check --lock-type semaphore ../../../testdata/histories/jepsen-mutex-two-holders.edn", report: true, flags: map[string]use{
		"lock-type": {args: "--lock-type mutex"}, "slots": {args: "--slots 2"}, "permits": {args: "--permits 2"}, "strict": {args: "--strict", same: true},
		"require":           {args: "--require no-leak", base: "check DIR/held.jsonl"},
		"release-by-others": {args: "--release-by-others allow"}, "failed-release": {args: "--failed-release keeps"},
		"order": {args: "--order lines", same: true}, "values": {args: "--values no", refused: "expected keys or plain"}, "reentrant": {args: "--reentrant 2", refused: "of a semaphore"}, "clock-error": {args: "--clock-error fast", refused: "a length of time"},
		"audit": {args: "--audit", refused: "no audit"},
	}},
	"check of a history that says what it is of": {base: "check DIR/jobs.jsonl", report: true, flags: map[string]use{
		"lock-type": {args: "--lock-type persistent-mutex", refused: "says that it is of a semaphore"}, "slots": {args: "--slots 3", refused: "says that there are 1"},
		"permits": {args: "--permits 2", refused: "names slots"}, "strict": {args: "--strict", same: true}, "require": {args: "--require no-leak"},
		"release-by-others": {args: "--release-by-others allow"}, "failed-release": {args: "--failed-release keeps"},
		"order": {args: "--order lines", same: true}, "values": {args: "--values plain", same: true}, "reentrant": {args: "--reentrant 0", refused: "expected a number"}, "clock-error": {args: "--clock-error 0s DIR/jobs.jsonl", refused: "no time"},
		"audit": {args: "--audit", refused: "no audit"},
	}},
	"replay": {base: "replay ../../../testdata/counterexamples/locked-is-success.mutual-exclusion.json", flags: map[string]use{
		"on":   {args: "--on " + unreachable, refused: "--on"},
		"html": {args: "--html DIR/h.html"}, "run-exec": {args: "--run-exec", same: true}, "option": {args: "-o password=x", refused: "leave -o out"},
	}},
	"serve": {base: "serve --listen nowhere", flags: map[string]use{ // runs until interrupted; see TestExplorer
		"listen": {args: "--listen elsewhere", refused: "elsewhere"}, "clients": {args: "--clients 99", refused: "expected a number"},
		"admins": {args: "--admins 9", refused: "expected a number"}, "slots": {args: "--slots 99", refused: "expected a number"}, "start": {args: "--start slots=0", refused: "--start"},
		"option": {args: "-o no=1", refused: "not known"},
	}},
	"atlas": {long: true, base: "atlas --question 9", flags: map[string]use{
		"question": {args: "--question 17"}, "server": {base: "atlas --question 1", args: "--server consul"}, "json": {args: "--json"}, "markdown": {args: "--markdown DIR/a.md"}, "tables": {args: "--tables DIR/a.tex"}, "html": {args: "--html DIR/a.html"},
		"out": {args: "--out DIR/ce"}, "on": {args: "--on " + unreachable, refused: "--on"},
	}},
	"mutants": {base: "mutants admin-mutex-early", flags: map[string]use{
		"seed": {args: "--seed 2"}, "scenarios": {args: "--scenarios 1"},
	}},
	"compare": {base: "compare mutex --scenarios 50 --on simulated", flags: map[string]use{
		"on": {args: "--on nowhere", refused: "or simulated alone"}, "clients": {args: "--clients 2", refused: "with --on simulated"},
		"seed": {args: "--seed 2"}, "scenarios": {args: "--scenarios 1"}, "time": {args: "--time 1ns"}, "json": {args: "--json"}, "markdown": {args: "--markdown DIR/c.md"}, "tables": {args: "--tables DIR/c.csv"},
		"html": {args: "--html DIR/c.html"},
	}},
	"libraries": {base: "libraries --catalogue DIR/catalogue.yaml --scenarios 2 --out DIR/ce", need: "adapter", flags: map[string]use{
		"catalogue": {args: "--catalogue DIR/none", refused: "name one by --catalogue"}, "seed": {args: "--seed 2", same: true}, "scenarios": {args: "--scenarios 3"},
		"time": {args: "--time 1ns"}, "out": {args: "--out DIR/other", same: true}, "markdown": {args: "--markdown DIR/l.md"}, "tables": {args: "--tables DIR/l.csv"},
		"stock": {args: "--stock 1", same: true},
	}},
	"adapter-check": {base: "adapter-check --exec ADAPTER", need: "adapter", flags: map[string]use{
		"exec": {args: "--exec cat"}, "lock-type": {args: "--lock-type mutex"}, "limit": {args: "--limit 5s", same: true},
		"server": {args: "--server mongodb", refused: "expected amqp or consul or etcd or mariadb or postgres or redis or tcp or zookeeper"}, "servers": {args: "--servers 3", refused: noServers},
	}},
	"campaign": {base: "campaign"},
	"campaign run": {base: "campaign run DIR/night.json --dir DIR/queue --out DIR/ce", report: true, flags: map[string]use{
		"dir": {args: "--dir DIR/other"}, "workers": {args: "--workers 1", same: true}, "out": {args: "--out DIR/other"},
		"allow-exec": {args: "--allow-exec cat", refused: "no command is run"},
		"require":    {args: "--require no-false-hold", base: "campaign run DIR/little.json --dir DIR/queue"}, "queue": {args: "--queue nats://127.0.0.1:1", base: "campaign run DIR/night.json", refused: "no server answers"},
		"creds": {args: "--creds DIR/x", refused: noQueue}, "nkey": {args: "--nkey DIR/x", refused: noQueue}, "tlscert": {args: "--tlscert DIR/x", refused: noQueue},
		"tlskey": {args: "--tlskey DIR/x", refused: noQueue}, "tlsca": {args: "--tlsca DIR/x", refused: noQueue},
	}},
	"campaign run of a table": {long: true, base: "campaign run DIR/table.json --dir DIR/queue --out DIR/ce", report: true, flags: map[string]use{
		"allow-exec": {args: "--allow-exec cat", refused: "no command is run"}, "dir": {args: "--dir DIR/other"}, "workers": {args: "--workers 1", same: true}, "out": {args: "--out DIR/other"},
		"require": {args: "--require no-leak", refused: "with a table"}, "junit": {args: "--junit DIR/j.xml", refused: "with a table"},
		"summary": {args: "--summary DIR/s.md", refused: "with a table"}, "sarif": {args: "--sarif DIR/s.sarif", refused: "with a table"}, "annotate": {args: "--annotate", refused: "with a table"},
		"queue": {args: "--queue nats://127.0.0.1:1", base: "campaign run DIR/table.json", refused: "no server answers"},
		"creds": {args: "--creds DIR/x", refused: noQueue}, "nkey": {args: "--nkey DIR/x", refused: noQueue}, "tlscert": {args: "--tlscert DIR/x", refused: noQueue},
		"tlskey": {args: "--tlskey DIR/x", refused: noQueue}, "tlsca": {args: "--tlsca DIR/x", refused: noQueue},
	}},
	"campaign run of mutants": {long: true, base: "campaign run DIR/mutants.json --dir DIR/queue", flags: map[string]use{
		"allow-exec": {args: "--allow-exec cat", refused: "no command is run"}, "dir": {args: "--dir DIR/other"}, "workers": {args: "--workers 1", same: true}, "out": {args: "--out DIR/other", refused: "with mutants"},
		"require": {args: "--require no-leak", refused: "with mutants"}, "junit": {args: "--junit DIR/j.xml", refused: "with mutants"},
		"json": {args: "--json", refused: "with mutants"}, "summary": {args: "--summary DIR/s.md", refused: "with mutants"}, "sarif": {args: "--sarif DIR/s.sarif", refused: "with mutants"}, "annotate": {args: "--annotate", refused: "with mutants"}, "html": {args: "--html DIR/h.html"},
		"queue": {args: "--queue nats://127.0.0.1:1", base: "campaign run DIR/mutants.json", refused: "no server answers"},
		"creds": {args: "--creds DIR/x", refused: noQueue}, "nkey": {args: "--nkey DIR/x", refused: noQueue}, "tlscert": {args: "--tlscert DIR/x", refused: noQueue},
		"tlskey": {args: "--tlskey DIR/x", refused: noQueue}, "tlsca": {args: "--tlsca DIR/x", refused: noQueue},
	}},
	"campaign run --queue": {base: "campaign run DIR/night.json --queue nats://127.0.0.1:1", report: true, flags: map[string]use{
		"allow-exec": {args: "--workers 0 --allow-exec cat", refused: "no command is run"}, "dir": {args: "--dir DIR/other", refused: "beside --queue"}, "workers": {args: "--workers 0", refused: "no server answers"}, "out": {args: "--out DIR/other", refused: "no server answers"},
		"require": {args: "--require sofa", refused: "sofa"}, "queue": {args: "--queue nats://nowhere.invalid:1", refused: "nowhere.invalid"},
		"creds": {args: "--creds DIR/x", refused: "no such file"}, "nkey": {args: "--nkey DIR/x", refused: "no such file"}, "tlscert": {args: "--tlscert DIR/x", refused: "without --tlskey"},
		"tlskey": {args: "--tlskey DIR/x", refused: "without --tlscert"}, "tlsca": {args: "--tlsca DIR/x", refused: "no such file"},
		"json": {args: "--json", refused: "no server answers"}, "junit": {args: "--junit DIR/j.xml", refused: "no server answers"}, "html": {args: "--html DIR/h.html", refused: "no server answers"},
		"summary": {args: "--summary DIR/s.md", refused: "no server answers"}, "sarif": {args: "--sarif DIR/s.sarif", refused: "no server answers"}, "annotate": {args: "--annotate", refused: "no server answers"},
	}},
	"campaign work": {base: "campaign work --queue nats://127.0.0.1:1", flags: map[string]use{
		"workers": {args: "--workers 0", refused: "expected a number"}, "queue": {args: "--queue nats://nowhere.invalid:1", refused: "nowhere.invalid"},
		"creds": {args: "--creds DIR/x", refused: "no such file"}, "nkey": {args: "--nkey DIR/x", refused: "no such file"}, "tlscert": {args: "--tlscert DIR/x", refused: "without --tlskey"},
		"tlskey": {args: "--tlskey DIR/x", refused: "without --tlscert"}, "tlsca": {args: "--tlsca DIR/x", refused: "no such file"},
		"allow-exec": {args: "--allow-exec cat", refused: "without a campaign's name"},
	}},
	"campaign delete": {base: "campaign delete night --queue nats://127.0.0.1:1", flags: map[string]use{
		"queue": {args: "--queue nats://nowhere.invalid:1", refused: "nowhere.invalid"},
		"creds": {args: "--creds DIR/x", refused: "no such file"}, "nkey": {args: "--nkey DIR/x", refused: "no such file"}, "tlscert": {args: "--tlscert DIR/x", refused: "without --tlskey"},
		"tlskey": {args: "--tlskey DIR/x", refused: "without --tlscert"}, "tlsca": {args: "--tlsca DIR/x", refused: "no such file"},
	}},
	"campaign status": {base: "campaign status --dir DIR/done", flags: map[string]use{
		"dir": {args: "--dir DIR/other", refused: "there is no campaign in"}, "json": {args: "--json"}, "watch": {args: "--watch", same: true},
		"html":  {args: "--html DIR/page.html", refused: "has no page yet"},
		"queue": {args: "--queue nats://127.0.0.1:1", base: "campaign status", refused: "no server answers"},
		"creds": {args: "--creds DIR/x", refused: noQueue}, "nkey": {args: "--nkey DIR/x", refused: noQueue}, "tlscert": {args: "--tlscert DIR/x", refused: noQueue},
		"tlskey": {args: "--tlskey DIR/x", refused: noQueue}, "tlsca": {args: "--tlsca DIR/x", refused: noQueue},
	}},
	"cluster": {base: "cluster"},
	"doctor": {base: "doctor --on " + unreachable, flags: map[string]use{ // TestConcerns tests a server that exists
		"on": {args: "--on nowhere", refused: "is not the address of a broker"}, "mode": {args: "--mode pray", refused: "expected ignore, pause_minority or autoheal"},
		"management": {args: "--management http://127.0.0.1:1", refused: "is a RabbitMQ running there"}, "json": {args: "--json", refused: "is a RabbitMQ running there"},
	}},
	"cluster up": {base: "cluster up --rabbitmq DIR", flags: map[string]use{ // runs until it is interrupted
		"nodes": {args: "--nodes 1", refused: "expected a number, 2 to 7"}, "mode": {args: "--mode pray", refused: "expected ignore, pause_minority or autoheal"}, "rabbitmq": {args: "--rabbitmq DIR/none", refused: "has no rabbitmq-server"},
		"khepri": {args: "--khepri", refused: noRabbitMQ}, "net-ticktime": {args: "--net-ticktime 0", refused: "expected a number"},
	}},
	"cluster prove --on": {like: "cluster prove", base: "cluster prove --on " + unreachable, flags: map[string]use{
		"on": {args: "--on nowhere", refused: "is not the address of a broker"}, "nodes": {args: "--nodes 3", refused: "with --on"}, "mode": {args: "--mode ignore", refused: "with --on"},
		"hook": {args: "--hook flood=true", refused: "expected NAME=COMMAND"}, "net-ticktime": {args: "--net-ticktime 9", refused: "with --on"}, "rabbitmq": {args: "--rabbitmq DIR", refused: "with --on"}, "khepri": {args: "--khepri", refused: "with --on"},
		"fault": {args: "--fault cut --hook cut=true", refused: "--hook 'heal=COMMAND'"},
	}},
	// TestSentinel tests such a run on real Redis servers.
	"cluster prove --server": {like: "cluster prove", base: "cluster prove --server redis", flags: map[string]use{
		"server": {args: "--server redis --nodes 2", base: "cluster prove", refused: "Sentinels decide by majority"}, "nodes": {args: "--nodes 1", refused: "expected a number"},
		"mode": {args: "--mode ignore", refused: "with --server redis"}, "queue-at": {args: "--queue-at 1", refused: "with --server redis"}, "rabbitmq": {args: "--rabbitmq DIR", refused: "with --server redis"},
		"khepri": {args: "--khepri", refused: "with --server redis"}, "net-ticktime": {args: "--net-ticktime 9", refused: "with --server redis"}, "on": {args: "--on " + unreachable, refused: "with --server redis"},
		"hook": {args: "--hook cut=true", refused: "with --server redis"}, "design": {args: "--design classic-token", refused: "expected one of redis-lease"}, "hold": {args: "--hold 1m", refused: "in good time"},
		"exec": {args: "--exec cat --design redis-lease", refused: "beside --exec"},
	}},
	"cluster explore": {base: "cluster explore --design classic-token,mirrored-token --fault kill", flags: map[string]use{
		"design": {args: "--design quorum-token"}, "mode": {args: "--mode ignore"}, "fault": {args: "--fault cut"}, "nodes": {args: "--nodes 4"}, "khepri": {args: "--khepri"},
		"in-turn": {args: "--in-turn", base: "cluster explore --design exclusive-queue --fault terminate,cut"}, "clients-at": {args: "--clients-at 3,2"}, "queue-at": {args: "--queue-at 3", base: "cluster explore --design classic-token --clients-at 1,2"},
	}},
	"cluster prove": {base: "cluster prove --rabbitmq DIR", flags: map[string]use{ // see TestClusterProve
		"server": {args: "--server etcd", refused: "expected rabbitmq or redis"},
		"on":     {args: "--on nowhere", refused: "is not the address of a broker", base: "cluster prove"}, "hook": {args: "--hook cut=true", refused: "without --on"},
		"net-ticktime": {args: "--net-ticktime x", refused: "expected a number"},
		"khepri":       {args: "--khepri", refused: noRabbitMQ},
		"nodes":        {args: "--nodes 1", refused: "expected a number, 2 to 7"}, "mode": {args: "--mode pray", refused: "expected ignore, pause_minority or autoheal"}, "rabbitmq": {args: "--rabbitmq DIR/none", refused: "has no rabbitmq-server"},
		"design": {args: "--design paxos", refused: "expected one of exclusive-queue"}, "exec": {args: "--exec cat --design exclusive-queue", refused: "beside --exec"},
		"lock-type": {args: "--lock-type mutex", refused: ofExec}, "slots": {args: "--slots 2", refused: ofExec}, "option": {args: "-o a=b", refused: ofExec},
		"fault": {args: "--fault flood", refused: "expected one of cut"}, "fault-at": {args: "--fault-at 4", refused: "expected a node from 1 to 3"}, "clients-at": {args: "--clients-at 1,9", refused: "expected nodes from 1 to 3"},
		"queue-at": {args: "--queue-at 4", refused: "expected a node from 1 to 3"}, "seed": {args: "--seed -1", refused: "expected a whole number"}, "length": {args: "--length 0s", refused: "more than nothing"},
		"hold": {args: "--hold 0s", refused: "more than nothing"}, "verify": {args: "--verify 0s", refused: "more than nothing"}, "settle": {args: "--settle 0s", refused: "more than nothing"}, "limit": {args: "--limit 0s", refused: "more than nothing"},
		"jsonl": {args: "--jsonl DIR/none/h.jsonl", refused: "--jsonl"}, "json": {args: "--json", refused: noRabbitMQ}, "junit": {args: "--junit DIR/none/j.xml", refused: "--junit"}, "html": {args: "--html DIR/none/h.html", refused: "--html"},
		"summary": {args: "--summary DIR/none/s.md", refused: "--summary"}, "sarif": {args: "--sarif DIR/none/s.sarif", refused: "--sarif"}, "annotate": {args: "--annotate", refused: noRabbitMQ}, "require": {args: "--require sofa", refused: "sofa"},
	}},
	"cluster prove --exec": {base: "cluster prove --exec cat --rabbitmq DIR", flags: map[string]use{
		"server": {args: "--server etcd", refused: "expected rabbitmq or redis"},
		"on":     {args: "--on nowhere", refused: "is not the address of a broker", base: "cluster prove"}, "hook": {args: "--hook cut=true", refused: "without --on"},
		"net-ticktime": {args: "--net-ticktime x", refused: "expected a number"},
		"khepri":       {args: "--khepri", refused: noRabbitMQ},
		"nodes":        {args: "--nodes 9", refused: "expected a number, 2 to 7"}, "mode": {args: "--mode pray", refused: "expected ignore, pause_minority or autoheal"}, "rabbitmq": {args: "--rabbitmq DIR/none", refused: "has no rabbitmq-server"},
		"design": {args: "--design exclusive-queue", refused: "beside --exec"}, "exec": {args: "--exec dog", refused: noRabbitMQ}, "lock-type": {args: "--lock-type sofa", refused: "sofa"}, "slots": {args: "--slots 0", refused: "expected a number"},
		"option": {args: "-o a", refused: "expected name=value"}, "queue-at": {args: "--queue-at 1", refused: "where its queues are is not known"}, "clients-at": {args: "--clients-at 1", refused: "expected 2 to"},
		"fault": {args: "--fault flood", refused: "expected one of cut"}, "fault-at": {args: "--fault-at 4", refused: "expected a node from 1 to 3"}, "seed": {args: "--seed x", refused: "expected a whole number"}, "length": {args: "--length x", refused: "a length of time"},
		"hold": {args: "--hold x", refused: "a length of time"}, "verify": {args: "--verify x", refused: "a length of time"}, "settle": {args: "--settle x", refused: "a length of time"}, "limit": {args: "--limit x", refused: "a length of time"},
		"jsonl": {args: "--jsonl DIR/none/h.jsonl", refused: "--jsonl"}, "json": {args: "--json", refused: noRabbitMQ}, "junit": {args: "--junit DIR/none/j.xml", refused: "--junit"}, "html": {args: "--html DIR/none/h.html", refused: "--html"},
		"summary": {args: "--summary DIR/none/s.md", refused: "--summary"}, "sarif": {args: "--sarif DIR/none/s.sarif", refused: "--sarif"}, "annotate": {args: "--annotate", refused: noRabbitMQ}, "require": {args: "--require sofa", refused: "sofa"},
	}},
	"cluster table": {base: "cluster table --rabbitmq DIR", flags: map[string]use{
		"khepri": {args: "--khepri", refused: noRabbitMQ},
		"design": {args: "--design paxos", refused: "expected one of exclusive-queue"}, "mode": {args: "--mode pray", refused: "expected ignore, pause_minority or autoheal"}, "fault": {args: "--fault flood", refused: "expected one of cut"},
		"rounds": {args: "--rounds 0", refused: "expected a number"}, "length": {args: "--length 0s", refused: "more than nothing"}, "rabbitmq": {args: "--rabbitmq DIR/none", refused: "has no rabbitmq-server"},
		"markdown": {args: "--markdown DIR/none/t.md", refused: "--markdown"}, "tables": {args: "--tables DIR/t.xls", refused: "ends with .csv or .tex"},
	}},
	// The command writes into the current folder; see TestAccept.
	"accept": {base: "accept ../../../testdata/counterexamples/locked-is-success.mutual-exclusion.json", flags: map[string]use{
		"reason": {args: "--reason ' '", refused: "--reason is empty"}, "owner": {args: "--owner ' '", refused: "--owner is empty"}, "expires": {args: "--reason x --expires soon", refused: "expected a day"},
	}},
	"list": {base: "list properties"}, "init": {base: "init python DIR/new", flags: map[string]use{"ci": {args: "--ci gitlab"}, "server": {args: "--server redis"}}},
	"version": {base: "version"}, "help": {base: "help prove"},
	"consul": {base: "consul", flags: map[string]use{ // runs until it is interrupted; tested by TestConsul
		"listen": {args: "--listen nowhere", refused: "nowhere"}, "listen-anywhere": {args: "--listen-anywhere --listen nowhere", refused: "nowhere"},
	}},
	"broker": {base: "broker", flags: map[string]use{ // runs until it is interrupted; tested by TestBroker
		"listen": {args: "--listen nowhere", refused: "nowhere"}, "listen-anywhere": {args: "--listen-anywhere --listen nowhere", refused: "nowhere"},
		"refuse-transient": {args: "--refuse-transient --listen nowhere", refused: "nowhere"}, "multiple-confirms": {args: "--multiple-confirms --listen nowhere", refused: "nowhere"},
		"route-when-published": {args: "--route-when-published --listen nowhere", refused: "nowhere"},
		"rabbitmq":             {args: "--rabbitmq new", refused: "new"}, "vhost": {args: "--vhost other --listen nowhere", refused: "nowhere"},
		"heartbeat": {args: "--heartbeat 70000", refused: "expected a number"}, "consumer-timeout": {args: "--consumer-timeout never", refused: "expected a number"},
	}},
}

// TestFlags tries every flag of every command in each kind of run. The flag must either make a difference, or be
// refused with an error of one line. It fails for a flag that no table entry mentions.
func TestFlags(t *testing.T) {
	t.Parallel()
	covered := make(map[string]bool)
	for name, s := range sorts {
		covered[commandOf(t, s.base).CommandPath()] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s.run(t)
		})
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, c := range c.Commands() {
			if c.Name() == "completion" { // cobra defines this command
				continue
			}
			if !covered[c.CommandPath()] {
				t.Errorf("no run of %s", c.CommandPath())
			}
			walk(c)
		}
	}
	walk(rootCommand())
}

// commandOf returns the command of a command line.
func commandOf(t *testing.T, line string) *cobra.Command {
	t.Helper()
	command, _, err := rootCommand().Find(exampleWords(line))
	if err != nil {
		t.Fatal(err)
	}
	return command
}

func (s *sort) run(t *testing.T) {
	command := commandOf(t, s.base)
	uses := s.uses(t, command)
	if (s.need != "" || s.long) && testing.Short() {
		t.Skip("skipped: -short leaves out what takes programs, a broker or a while")
	}
	url := ""
	switch s.need {
	case "broker":
		url = rabbitmqtest.URL(t)
	case "redis":
		redistest.Program(t)
	}
	bases := make(map[string]outcome)
	for name, u := range uses {
		t.Run(name, func(t *testing.T) { u.run(t, command, name, s.base, url, bases) })
	}
	if s.together("json") {
		t.Run("reports", func(t *testing.T) { s.reports(t, url) })
	}
}

// uses returns the flags that are tried one by one, with how to try them. It fails for a flag that no table entry
// mentions.
func (s *sort) uses(t *testing.T, command *cobra.Command) map[string]use {
	uses := make(map[string]use)
	if s.report && s.need == "" {
		maps.Copy(uses, reporting)
	}
	maps.Copy(uses, s.flags)
	if command.Flags().Lookup("explorer") != nil {
		uses["explorer"] = use{args: "--explorer", refused: "without --html"} // TestExplorer tests it with --html
	}
	said := []string{"help", helpAllName, "config", unset} // tested by TestHelpAll and TestConfig
	command.Flags().VisitAll(func(flag *pflag.Flag) {
		_, there := uses[flag.Name]
		_, tried := sorts[s.like].flags[flag.Name]
		if !there && !tried && !s.together(flag.Name) && !slices.Contains(said, flag.Name) {
			t.Errorf("nothing is said of --%s", flag.Name)
		}
	})
	return uses
}

// together reports whether a flag is tried together with all other report flags, in one run. This holds for the report
// flags of a kind of run that needs an adapter or a server, because each such run takes long.
func (s *sort) together(flag string) bool {
	_, reports := reporting[flag]
	return s.report && s.need != "" && reports
}

// reports writes all reports in one run.
func (s *sort) reports(t *testing.T, url string) {
	line := s.base
	for _, u := range reporting {
		line += " " + u.args
	}
	got := come(t, line, url)
	if got.code == exitCannot || !strings.HasPrefix(got.out, "{") {
		t.Errorf("%s: exit code %d, %s%s", line, got.code, got.out, got.errs)
	}
	for _, name := range []string{"/j.xml", "/h.html", "/s.md", "/s.sarif"} {
		if !strings.Contains(got.files, name) {
			t.Errorf("%s: %s is missing in %s", line, name, got.files)
		}
	}
}

// run tries a flag as u says.
func (u *use) run(t *testing.T, command *cobra.Command, name, base, url string, bases map[string]outcome) {
	if command.Flags().Lookup(name) == nil {
		t.Fatalf("there is no --%s", name)
	}
	if u.base != "" {
		base = u.base
	}
	got := come(t, base+" "+u.args, url)
	if u.refused != "" {
		if got.code != exitCannot || strings.Count(got.errs, "\n") != 1 || !strings.Contains(got.errs, u.refused) {
			t.Errorf("%s %s: exit code %d, %q; expected it to be refused in a line that says %q", base, u.args, got.code, got.errs, u.refused)
		}
		return
	}
	if u.same {
		if got.code == exitCannot {
			t.Errorf("%s %s: %s", base, u.args, got.errs)
		}
		return
	}
	was, known := bases[base]
	if !known {
		was = come(t, base, url)
		bases[base] = was
	}
	if was.code == exitCannot {
		t.Fatalf("%s: %s", base, was.errs)
	}
	if got == was {
		t.Errorf("%s %s makes no difference to\n%s", base, u.args, was.out)
	}
}

// outcome is the result of a command line, without durations.
type outcome struct {
	code      int
	out, errs string
	files     string
}

var took = regexp.MustCompile(`"seconds": [0-9.e-]+,| in \d+(\.\d+)? m?s\b`)

// come runs a command line in a new folder.
func come(t *testing.T, line, url string) outcome {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"held.jsonl": `{"type":"invoke","process":1,"f":"acquire"}` + "\n" + `{"type":"ok","process":1,"f":"acquire","value":{"slot":1,"held":true}}` + "\n",
		"keys.jsonl": `{"type":"invoke","process":1,"f":"acquire","value":[5,null]}` + "\n" + `{"type":"ok","process":1,"f":"acquire","value":[5,null]}` + "\n",
		"jobs.jsonl": `{"lockproof":"history","version":1,"kind":"semaphore","locks":[{"name":"jobs","slots":1}]}` + "\n" +
			`{"type":"invoke","process":1,"f":"acquire"}` + "\n" + `{"type":"ok","process":1,"f":"acquire","value":{"slot":1,"held":true}}` + "\n",
		"night.json":  `{"lockproof":"campaign","version":1,"name":"night","target":{"name":"reconnects"},"sample":{},"budget":{"executions":300},"shard":100}`,
		"little.json": `{"lockproof":"campaign","version":1,"name":"little","sample":{},"budget":{"executions":1}}`,
		"table.json": `{"lockproof":"campaign","version":1,"name":"table","target":{"name":"mutex"},
			"sweep":{"options":[{"name":"release","values":["delete","close-channel"]}],"sizes":[{"clients":2}]}}`,
		"mutants.json":     `{"lockproof":"campaign","version":1,"name":"mutants","mutants":{"only":["reconnects"]}}`,
		"catalogue.yaml":   fmt.Sprintf("- {library: own, version: 1.0.0, server: amqp, lock: semaphore, exec: %q}", adapter("")),
		"done/status.json": `{"name":"night","shards":3,"done":3,"executions":300,"over":"all shards are done","reported":true}`,
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var args []string
	for _, word := range exampleWords(line) {
		word = strings.ReplaceAll(strings.ReplaceAll(word, "DIR", dir), "URL", url)
		switch word {
		case "ADAPTER":
			word = adapter("")
		case "BUGGY":
			word = adapter("locked-is-success")
		case "REDIS":
			word = onRedis("")
		}
		args = append(args, word)
	}
	if (args[0] == "prove" || args[0] == "explore") && !strings.Contains(line, "--out ") {
		args = append(args, "--out", filepath.Join(dir, "ce")) // keeps files out of the tests' folder
	}
	var out, errs bytes.Buffer
	code := run(args, &out, &errs)
	plain := func(text string) string {
		return strings.Join(strings.Fields(took.ReplaceAllString(strings.ReplaceAll(text, dir, "DIR"), "")), " ")
	}
	var files []string
	if err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		files = append(files, strings.TrimPrefix(path, dir))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return outcome{code, plain(out.String()), errs.String(), fmt.Sprint(files)}
}
