package histories_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/internal/pinned"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
)

// TestPinned reads randomly changed histories and counterexamples, and compares the results with a file. The result is
// an error, or how much was read.
func TestPinned(t *testing.T) {
	f := pinned.New(t)
	for _, form := range []string{"jsonl", "edn", "counterexample"} {
		texts := kept(t, form)
		for i := range max(16, len(texts)) {
			texts = append(texts, written(t, form, i))
		}
		f.Block(form, 4800, func(i int, s *pinned.Seen) {
			r := rand.New(rand.NewPCG(uint64(i/400), uint64(i%400)))
			text := texts[r.IntN(len(texts))]
			if i < len(texts) {
				s.Write(texts[i])
			}
			for range r.IntN(4) {
				text = changed(r, text)
			}
			tell, outcome := s.Printf, read(s, form, text, r)
			if i < 100 && !strings.HasPrefix(outcome, "read") {
				tell = s.Rowf
			}
			tell("%d: %s", i, outcome)
		})
	}
	f.Compare("testdata/pinned.txt")
}

// kept reads the files of testdata in a form, such as "edn". It takes the first 40 lines of a long file.
func kept(t *testing.T, form string) (texts [][]byte) {
	pattern := "../testdata/histories/*." + form
	if form == "counterexample" {
		pattern = "../testdata/histories/bad/*.json"
	}
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatal(pattern, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if lines := bytes.SplitAfter(text, []byte("\n")); form != "counterexample" && len(lines) > 40 {
			text = bytes.Join(lines[:40], nil)
		}
		texts = append(texts, text)
	}
	return texts
}

// written writes the i-th random execution of a reference lock in a form, such as "edn".
func written(t *testing.T, form string, i int) []byte {
	var r sim.Runner
	target := amqplock.References[i%3]
	drawn := sim.NewSource(sim.Space{Target: target}, 41).Scenario(i)
	trace := r.Trace(target, &drawn, property.Weak)
	h := trace.History
	h.GoneLate, h.GoneMayFree = i%5 == 0, i%7 == 0
	var b bytes.Buffer
	var err error
	switch form {
	case "jsonl":
		err = histories.WriteHistory(&b, &h)
	case "edn":
		err = histories.WriteEDN(&b, &h)
	default:
		c := histories.Counterexample{
			Tool: "0.1.0", Property: property.Property(i % int(property.NoCrash+1)), FailedAcquire: property.FailedAcquire(i % 2), Scenario: sim.Replay(trace),
			Origin:    histories.Origin{Seed: uint64(i), Scenario: i / 2, Command: strings.Repeat("x ", i%3), Options: []string{"retries=0"}[:i%2]},
			Suspected: i%4 == 1, Transcript: []string{"one", "two"}[:i%3],
		}
		if i%6 == 2 {
			c.Exec, c.Kind, c.ExecOptions = "python3 lock.py", lock.Kind(i%3), map[string]string{"bug": "yes"}
		}
		c.Tries = histories.Tries{Shown: i % 3, Of: 2 + i%3}
		if c.Suspected {
			c.Tries.Shown = 0
		}
		var data []byte
		data, err = c.Encode()
		b.Write(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// snippets are pieces of text that often change how a history is read.
var snippets = []string{
	"0", "1", "2", "-1", "11", "65536", "70000", "2147483648", "1e3", "0.5", "true", "false", "null", "nil", `""`, `"jobs"`, `"semaphore"`, `"mutex"`,
	"[", "]", "{", "}", ",", ":", "\n", " ", "\"", "#", ";", "\x00", "\xff", "\x1b[31m", ":invoke", ":ok", ":fail", ":info", ":nemesis", ":acquire", ":release",
	`"invoke"`, `"ok"`, `"fail"`, `"info"`, `"acquire"`, `"verify"`, `"release"`, `"add"`, `"remove"`, `"wait"`, `"count"`, `"restart"`, `"drop"`, `"crash"`,
	`"full"`, `"gave-up"`, ":value", ":process", ":index", ":time", ":error", `"slot":1,`, `"slots":2,`, `"held":true,`, `"error":"full",`, `"extra":1,`,
	"#jepsen.history.Op", "#inst ", ":slot 1", ":held true", "\\a", "\u00e4",
}

// changed returns a text that differs from the given one in one random place.
func changed(r *rand.Rand, text []byte) []byte {
	at := func() int { return r.IntN(len(text) + 1) }
	if r.IntN(2) == 0 && len(text) > 400 {
		at = func() int { return r.IntN(400) } // prefer the beginning, since reading stops at the first error
	}
	from, to := at(), at()
	if from > to {
		from, to = to, from
	}
	with := snippets[r.IntN(len(snippets))]
	switch r.IntN(8) {
	case 0: // replace a character
		to = min(len(text), from+1)
		with = string(rune(r.IntN(128)))
	case 1: // insert a snippet
		to = from
	case 2: // drop up to five bytes
		to, with = min(len(text), from+r.IntN(6)), ""
	case 3: // cut the end off
		to, with = len(text), ""
	case 4: // repeat a part
		to = min(to, from+120)
		with = string(text[from:to]) + string(text[from:to])
	default: // replace a word
		from, to = word(text, from)
	}
	return bytes.Join([][]byte{text[:from], []byte(with), text[to:]}, nil)
}

// word finds the first word after a position, and returns where it begins and ends.
func word(text []byte, from int) (int, int) {
	const inside = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-:\"."
	for from < len(text) && !strings.ContainsRune(inside, rune(text[from])) {
		from++
	}
	to := from
	for to < len(text) && strings.ContainsRune(inside, rune(text[to])) && (to == from || text[to-1] != '"' || text[to] != ':') {
		to++
	}
	return from, to
}

// read reads a text in a form, and writes the result again in every form. It returns one line: the error, or how much
// was read.
func read(s *pinned.Seen, form string, text []byte, r *rand.Rand) string {
	refused := func(err error) string {
		s.Count("refused")
		return err.Error()
	}
	if form == "counterexample" {
		c, err := histories.DecodeCounterexample("a.json", text)
		if err != nil {
			return refused(err)
		}
		s.Count("read")
		again, err := c.Encode()
		s.Printf("%s %v", again, err)
		return "read, " + histories.FileName(c.Property, c.Scenario.Target, c.Origin.Options...)
	}
	assumed := histories.Unnamed
	if r.IntN(3) == 0 {
		assumed = histories.Header{Kind: lock.Semaphore, Locks: []histories.Named{{Name: "jobs", Slots: 2}}, GoneLate: true}
	}
	h, notes, err := histories.ReadHistory(bytes.NewReader(text), "a."+form, assumed)
	s.Printf("%s|", notes)
	if err != nil {
		return refused(err)
	}
	s.Count("read")
	var b bytes.Buffer
	s.Printf("%v %v ", histories.WriteHistory(&b, h), histories.WriteEDN(&b, h))
	s.Write(b.Bytes())
	return fmt.Sprintf("read, %d events of %d clients", len(h.Events), h.Clients)
}
