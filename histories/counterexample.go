package histories

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/lockproof/lockproof/histories/infile"
	"github.com/lockproof/lockproof/histories/outfile"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// Counterexample is an execution that violates a property, in one file that suffices for a replay.
type Counterexample struct {
	Tool     string // lockproof's version
	Property property.Property
	// FailedAcquire says what "full" was assumed to mean: each slot was taken at some moment of the call (weak), or all
	// were taken at one moment (strong).
	FailedAcquire property.FailedAcquire
	// Scenario has the target, its options, the workload, and the execution as a list of actions.
	Scenario scenario.Scenario
	// Violation is the violation and its step. Steps count from 0. If the violation shows at the end of the execution,
	// the step is the number of actions. Detail describes the event in one line.
	Violation scenario.Violation
	Origin    Origin
	// Suspected and Tries have the same meaning as in report.Found.
	Suspected bool
	Tries     Tries
	// Exec is the command of an external target; "" for a simulated target or a Go program. Kind is the lock type that
	// was assumed of an external target.
	Exec string
	Kind lock.Kind
	// ExecOptions are the options of the external program, which are passed at its start.
	ExecOptions map[string]string
	// Holding says how the server's state shows which client holds a lock; "" if this was not declared. See package
	// holding.
	Holding string
	// Servers is the number of servers behind the gate. 0 means one.
	Servers int
	// Transcript describes the execution for readers, one step in each line. A replay ignores it.
	Transcript []string
	// Shown has what was shown of an external lock's execution when it was recorded, such as its diagram. It is for
	// readers who do not have the lock and so cannot replay it. For a simulated lock it is zero.
	Shown Shown
}

// Shown is a record of how an execution was shown, for readers. A replay ignores it.
type Shown struct {
	Cause    string   `json:"cause,omitzero"`    // how the violation came about
	Expected string   `json:"expected,omitzero"` // what a correct lock does instead
	Line     int      `json:"line,omitzero"`     // transcript line that shows the violation, from 1; 0 if unknown
	Diagram  []string `json:"diagram,omitempty"` // the execution's diagram in plain text
}

// Origin identifies the run and the execution that found a counterexample.
type Origin struct {
	Seed     uint64   `json:"seed"`
	Scenario int      `json:"scenario,omitzero"` // first execution that showed the violation, counted from 1
	Command  string   `json:"command,omitzero"`  // the command line as typed
	Broker   string   `json:"broker,omitzero"`   // the server on which the target ran, as in report.Report
	Bounds   string   `json:"bounds,omitzero"`   // the bounds of the executions, as in report.Report
	Options  []string `json:"options,omitempty"` // options that the user has fixed, as name=value
}

// The format of counterexamples, and its bounds. Files with another version number are refused.
const (
	counterexampleFormat  = "counterexample"
	counterexampleVersion = 1
	maxCounterexample     = 4 << 20 // largest size in bytes: ten times that of the largest execution
)

var counterexampleInput = infile.Input{Noun: "counterexample", Most: maxCounterexample}

// counterexampleFile is a counterexample as JSON. Steps, clients and slots count from 1, and locks from 0.
type counterexampleFile struct {
	Lockproof     string            `json:"lockproof"`
	Version       int               `json:"version"`
	Tool          string            `json:"tool"`
	Property      string            `json:"property"`
	Own           bool              `json:"own,omitzero"` // the property is the user's own
	Sentence      string            `json:"sentence"`
	FailedAcquire string            `json:"strength,omitzero"` // "weak" or "strong"; weak if omitted
	Violation     violationFile     `json:"violation"`
	Found         Origin            `json:"found"`
	Suspected     bool              `json:"suspected,omitzero"`
	Tries         Tries             `json:"tries,omitzero"`
	Exec          string            `json:"exec,omitzero"`
	Lock          string            `json:"lock,omitzero"` // type of the external lock; omitted for a semaphore
	ExecOpts      map[string]string `json:"exec_options,omitempty"`
	Holding       string            `json:"holding,omitzero"`
	Servers       int               `json:"servers,omitzero"`
	GivenAgain    []string          `json:"given_again,omitempty"` // how to give each hidden secret again
	Scenario      scenario.Scenario `json:"scenario"`
	Transcript    []string          `json:"transcript,omitempty"`
	Shown         Shown             `json:"shown,omitzero"`
}

type violationFile struct {
	Step   int    `json:"step"` // counted from 1; the number of actions + 1 is the end
	Client uint8  `json:"client,omitzero"`
	Other  uint8  `json:"other,omitzero"`
	Lock   uint8  `json:"lock,omitzero"`
	Slot   uint8  `json:"slot,omitzero"`
	Detail string `json:"detail"`
}

// FileName is the file name for a counterexample. It depends only on the property, the target and the options that the
// user has fixed.
func FileName(property property.Property, target string, options ...string) string {
	return fileName(property.String(), target, options)
}

// FileName is the file name for this counterexample, if its target has the given name.
func (c *Counterexample) FileName(target string) string {
	return fileName(c.Violation.Name(), target, nil)
}

func fileName(property, target string, options []string) string {
	name := safeName(target) + "."
	if len(options) > 0 {
		name += optionsName(options) + "."
	}
	return name + cut(property, property, maxFileNamePart) + ".json"
}

// maxFileNamePart is the largest length, in bytes, of the target's or the property's part of a file name. File names
// may have 255 bytes, and a number may be added to tell equal names apart.
const maxFileNamePart = 80

// cut shortens a name to at most most bytes. The end becomes a hash of said, the full text, so that names with equal
// beginnings differ.
func cut(name, said string, most int) string {
	if len(name) <= most {
		return name
	}
	h := fnv.New32a()
	_, _ = io.WriteString(h, said) // never fails: it writes to memory
	end := fmt.Sprintf("-%08x", h.Sum32())
	return strings.ToValidUTF8(name[:most-len(end)], "") + end
}

// maxOptionsName is the largest length in bytes of the options in a file name.
const maxOptionsName = 40

// optionsName writes options as a part of a file name. If the name cannot contain all of their text, a hash is added.
func optionsName(options []string) string {
	said := strings.Join(options, "_")
	name := safeName(said)
	if len(name) <= maxOptionsName && name == strings.ReplaceAll(said, "=", "-") {
		return name
	}
	h := fnv.New32a()
	fmt.Fprintf(h, "%q", options)
	return fmt.Sprintf("%.*s-%08x", maxOptionsName, name, h.Sum32())
}

// HistoryName is the name of the file for a target's history.
func HistoryName(target string) string { return safeName(target) + ".history.jsonl" }

// safeName writes a target's name with characters that are allowed in file names on every system.
func safeName(target string) string {
	safe := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '-'
	}
	return cut(strings.Map(safe, target), target, maxFileNamePart)
}

// Save writes the counterexample atomically to a file that the user has named. It may replace another counterexample,
// but no other file.
func (c *Counterexample) Save(path string) error { return c.SaveAt(outfile.Place{Path: path}) }

// SaveAt writes the counterexample like Save, but to an [outfile.Place]. A place can name a folder that must contain
// the file.
func (c *Counterexample) SaveAt(at outfile.Place) error {
	if err := at.Check(); err != nil {
		return err
	}
	path := at.Path
	if old, err := counterexampleInput.Read(path); err == nil && !isCounterexample(old) || err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: not written, since the file that is there is no counterexample: move it away", path)
	}
	data, err := c.Encode()
	if err != nil {
		return fmt.Errorf("counterexample %s: %w", path, err)
	}
	return at.Write(func(w io.Writer) error { _, err := w.Write(data); return err })
}

// Encode returns the content of the counterexample's file. Secrets in the program's command and options are hidden.
func (c *Counterexample) Encode() ([]byte, error) {
	v := c.Violation
	failedAcquire := ""
	if c.FailedAcquire != property.Weak {
		failedAcquire = c.FailedAcquire.String()
	}
	kind := ""
	if c.Exec != "" || c.Kind != lock.Semaphore {
		kind = c.Kind.String()
	}
	hidden := c.withoutSecrets()
	data, err := json.Marshal(counterexampleFile{
		FailedAcquire: failedAcquire, Exec: hidden.Exec, Lock: kind, ExecOpts: hidden.ExecOptions, Holding: c.Holding, Servers: c.Servers, GivenAgain: hidden.givenAgain(),
		Lockproof: counterexampleFormat, Version: counterexampleVersion, Tool: c.Tool,
		Property: v.Name(), Own: v.Own != "", Sentence: c.Property.SentenceOn(lock.WordsOf(c.Scenario.Target, c.Scenario.Server), v.Kind),
		Violation: violationFile{Step: v.Step + 1, Client: v.Client, Other: v.Other, Lock: v.Lock, Slot: v.Slot, Detail: v.Detail},
		Found:     c.Origin, Suspected: c.Suspected, Tries: c.Tries, Scenario: c.Scenario, Transcript: c.Transcript, Shown: c.Shown,
	}, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err == nil {
		data, err = Pretty(data)
	}
	return data, err
}

// LoadCounterexample reads a counterexample's file.
func LoadCounterexample(path string) (*Counterexample, error) {
	data, err := counterexampleInput.Read(path)
	if err != nil {
		return nil, err
	}
	return DecodeCounterexample(path, data)
}

// DecodeCounterexample reads a counterexample from data. An error is one line: the place, what was found, and what was
// expected. Errors use name as the file's name.
func DecodeCounterexample(name string, data []byte) (*Counterexample, error) {
	doc := document{name: name, data: data}
	if len(data) > maxCounterexample {
		return nil, fmt.Errorf("%s: more than %d MB: expected a counterexample, which is smaller", name, maxCounterexample>>20)
	}
	if err := doc.head(counterexampleFormat, counterexampleVersion); err != nil {
		return nil, err
	}
	server, err := doc.server()
	if err != nil {
		return nil, err
	}
	f := counterexampleFile{Scenario: scenario.Scenario{Options: server.Defaults}}
	if err := doc.decode(&f, ReadingOptions(server)); err != nil {
		return nil, err
	}
	f.Scenario.Server = server.Name
	broken, own, err := f.broken()
	if err != nil {
		return nil, doc.fail("/property", err)
	}
	failedAcquire := property.Weak
	if f.FailedAcquire != "" {
		if failedAcquire, err = property.FailedAcquireNamed(f.FailedAcquire); err != nil {
			return nil, doc.fail("/strength", err)
		}
	}
	kind := lock.Semaphore
	if f.Exec != "" || f.Lock != "" {
		if kind, err = lock.KindNamed(f.Lock); err != nil {
			return nil, doc.fail("/lock", err)
		}
	}
	if at, err := checkCounterexample(&f); err != nil {
		return nil, doc.fail(at, err)
	}
	v := f.Violation
	return &Counterexample{
		Exec: f.Exec, Kind: kind, ExecOptions: f.ExecOpts, Holding: f.Holding, Servers: f.Servers, Tool: f.Tool, Property: broken, FailedAcquire: failedAcquire, Scenario: f.Scenario, Origin: f.Found, Transcript: f.Transcript, Shown: f.Shown,
		Suspected: f.Suspected, Tries: f.Tries,
		Violation: scenario.Violation{Step: v.Step - 1, Violation: property.Violation{
			Property: broken, Own: own, Kind: kind, Lock: v.Lock, Client: v.Client, Other: v.Other, Slot: v.Slot, Detail: v.Detail}},
	}, nil
}

// broken is the violated property. For a user's own property, own is its name, and p is property.Count.
func (f *counterexampleFile) broken() (p property.Property, own string, err error) {
	p, err = property.Named(f.Property)
	switch {
	case !f.Own:
		return p, "", err
	case err == nil || f.Property == "":
		return 0, "", fmt.Errorf("%q, of a user's own: expected a name that none of lockproof's properties has", f.Property)
	}
	return property.Count, f.Property, nil
}

func isCounterexample(data []byte) bool {
	return (&document{data: data}).head(counterexampleFormat, 0) == nil
}

// Tries counts the attempts to reproduce a violation with fresh clients, and those that succeeded.
type Tries struct {
	Shown int `json:"reproduced"`
	Of    int `json:"of"`
}
