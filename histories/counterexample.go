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

// Counterexample is an execution that violates a property, in one file that replays with nothing
// else.
type Counterexample struct {
	Tool     string // lockproof's version
	Property property.Property
	// FailedAcquire is the assumed promise of a failed acquire.
	FailedAcquire property.FailedAcquire
	// Scenario has the target, its options, the workload, and the whole execution as actions.
	Scenario scenario.Scenario
	// Violation is the violation and its moment. Step counts from 0; it is the number of actions for a violation at
	// the end of the execution. Detail is the event, in one line.
	Violation scenario.Violation
	Origin    Origin
	// Suspected and Tries are those of [Found].
	Suspected bool
	Tries     Tries
	// Exec is the command of an external target; "" is one of our targets, or a Go program. Kind is the kind of lock
	// that an external target was taken for.
	Exec string
	Kind lock.Kind
	// ExecOptions are the program's own options, which it gets at the beginning.
	ExecOptions map[string]string
	// Holding is how its server shows who holds a lock, where that was declared, as package holding reads it.
	Holding string
	// Servers is how many servers stood behind the gate, of the kind of the scenario; 0 is one.
	Servers int
	// Transcript tells the execution to people, a step a line. Replaying does not look at it.
	Transcript []string
	// Shown is what there was to see of an execution whose lock a reader may not have; the zero value where it is one of ours.
	Shown Shown
}

// Shown is an execution as it was shown when it was recorded. Replaying does not look at it.
type Shown struct {
	Cause    string   `json:"cause,omitzero"`    // how the violation came about
	Expected string   `json:"expected,omitzero"` // what a lock that is right does instead
	Line     int      `json:"line,omitzero"`     // of the transcript, at which it shows, counted from 1; 0 is not known
	Diagram  []string `json:"diagram,omitempty"` // in plain text
}

// Origin is the run and the execution that found a counterexample.
type Origin struct {
	Seed     uint64   `json:"seed"`
	Scenario int      `json:"scenario,omitzero"` // the execution that first showed it, counted from 1
	Command  string   `json:"command,omitzero"`  // the command line
	Broker   string   `json:"broker,omitzero"`   // as in [Report]
	Bounds   string   `json:"bounds,omitzero"`   // as in [Report]
	Options  []string `json:"options,omitempty"` // that were fixed, as name=value
}

// The format of counterexamples. Files of other versions are refused.
const (
	counterexampleFormat  = "counterexample"
	counterexampleVersion = 1
	maxCounterexample     = 4 << 20 // bytes; one of the most steps has a tenth of that
)

var counterexampleInput = infile.Input{Noun: "counterexample", Most: maxCounterexample}

// counterexampleFile is the file as JSON. Steps, clients and slots count from 1, locks from 0.
type counterexampleFile struct {
	Lockproof     string            `json:"lockproof"`
	Version       int               `json:"version"`
	Tool          string            `json:"tool"`
	Property      string            `json:"property"`
	Own           bool              `json:"own,omitzero"` // it is a user's
	Sentence      string            `json:"sentence"`
	FailedAcquire string            `json:"strength,omitzero"` // weak where it is left out
	Violation     violationFile     `json:"violation"`
	Found         Origin            `json:"found"`
	Suspected     bool              `json:"suspected,omitzero"`
	Tries         Tries             `json:"tries,omitzero"`
	Exec          string            `json:"exec,omitzero"`
	Lock          string            `json:"lock,omitzero"` // with exec, and where it is no semaphore
	ExecOpts      map[string]string `json:"exec_options,omitempty"`
	Holding       string            `json:"holding,omitzero"`
	Servers       int               `json:"servers,omitzero"`
	GivenAgain    []string          `json:"given_again,omitempty"` // of Exec and ExecOpts; follows from them
	Scenario      scenario.Scenario `json:"scenario"`
	Transcript    []string          `json:"transcript,omitempty"`
	Shown         Shown             `json:"shown,omitzero"`
}

type violationFile struct {
	Step   int    `json:"step"` // one more than there are actions: when all was over
	Client uint8  `json:"client,omitzero"`
	Other  uint8  `json:"other,omitzero"`
	Lock   uint8  `json:"lock,omitzero"`
	Slot   uint8  `json:"slot,omitzero"`
	Detail string `json:"detail"`
}

// FileName is the name of a counterexample's file: one property of one target with its fixed options has one file.
func FileName(property property.Property, target string, options ...string) string {
	return fileName(property.String(), target, options)
}

// FileName is the name of the counterexample's file, for a target of that name.
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

// maxFileNamePart is the longest target or property in a file's name, in bytes: names of files have at most 255, and
// one of several that are called alike has a number.
const maxFileNamePart = 80

// cut shortens a name to the given number of bytes. A hash of the full text distinguishes names with equal
// beginnings.
func cut(name, said string, most int) string {
	if len(name) <= most {
		return name
	}
	h := fnv.New32a()
	_, _ = io.WriteString(h, said) // to memory
	end := fmt.Sprintf("-%08x", h.Sum32())
	return strings.ToValidUTF8(name[:most-len(end)], "") + end
}

// maxOptionsName is how long options may be in a file's name, in bytes.
const maxOptionsName = 40

// optionsName is options as part of a file's name. A hash stands for what a name cannot say.
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

// HistoryName is the name of the file of a target's history.
func HistoryName(target string) string { return safeName(target) + ".history.jsonl" }

// safeName is a target's name as part of a file's, on every system.
func safeName(target string) string {
	safe := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '-'
	}
	return cut(strings.Map(safe, target), target, maxFileNamePart)
}

// Save writes the counterexample to a file that the user named, whole or not at all. A counterexample that is there
// already is replaced; anything else is not.
func (c *Counterexample) Save(path string) error { return c.SaveAt(outfile.Place{Path: path}) }

// SaveAt is Save to a place.
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

// Encode is the counterexample as it stands in its file: without the secrets of a program's command and options.
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

// DecodeCounterexample reads a counterexample; errors use the name. An error is one line: the place, what was found,
// and what was expected.
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

// broken is the property that is violated; one that is a user's has a name, and no number that means anything.
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

// Tries is how often fresh clients have reproduced a violation, and in how many attempts.
type Tries struct {
	Shown int `json:"reproduced"`
	Of    int `json:"of"`
}
