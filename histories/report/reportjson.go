package report

import (
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/lockproof/lockproof/histories"
)

// The format of reports in JSON.
const (
	reportFormat  = "report"
	reportVersion = 1
)

// reportFile is a report as JSON. Its fields are those of [Report], with the same meaning.
type reportFile struct {
	Lockproof     string         `json:"lockproof"`
	Version       int            `json:"version"`
	Tool          string         `json:"tool"`
	Target        string         `json:"target"`
	Doc           string         `json:"doc,omitempty"`
	Design        string         `json:"design,omitempty"`
	Kind          string         `json:"kind"`
	Mode          Mode           `json:"mode"`
	Broker        string         `json:"broker,omitempty"`
	Server        string         `json:"server,omitempty"`
	Source        string         `json:"source,omitempty"`
	Readings      []string       `json:"readings,omitempty"`
	Command       string         `json:"command,omitempty"`
	Options       []string       `json:"options,omitempty"` // options that the user has fixed, as name=value
	Seed          uint64         `json:"seed,omitzero"`
	FailedAcquire string         `json:"strength,omitempty"`
	Bounds        string         `json:"bounds,omitempty"`
	Holds         bool           `json:"holds"` // whether the outcome is "holds"
	Outcome       Outcome        `json:"outcome"`
	Missing       []string       `json:"missing,omitempty"` // missing answers, if the outcome is inconclusive
	Required      []string       `json:"required,omitempty"`
	Interrupted   bool           `json:"interrupted"`
	Scenarios     int            `json:"scenarios"`
	Asked         int            `json:"scenarios_asked,omitzero"`
	Least         int            `json:"scenarios_least,omitzero"`
	Steps         int            `json:"steps"`
	Commands      int            `json:"commands"`
	Operations    int            `json:"operations"`
	Seconds       float64        `json:"seconds,omitzero"`
	Contract      *[]string      `json:"contract,omitempty"` // demanded promises; null for simulated locks
	Properties    []propertyFile `json:"properties"`
	Earlier       *earlierFile   `json:"earlier,omitempty"`
	Efficiency    []rowFile      `json:"efficiency"`
	Stale         staleFile      `json:"stale_belief"`
	Exercised     []exerciseFile `json:"exercised"`
	Guided        []string       `json:"guided,omitempty"`
	Covered       []countFile    `json:"covered,omitempty"`
	Uncontrolled  []string       `json:"uncontrolled,omitempty"`
	Nemesis       []string       `json:"nemesis,omitempty"`
	Together      []string       `json:"held_twice,omitempty"`
	Left          []string       `json:"left,omitempty"`
	Wire          []countFile    `json:"wire,omitempty"`
	Traffic       []trafficFile  `json:"traffic,omitempty"`
	Space         *spaceFile     `json:"space,omitempty"`
	Views         *viewsFile     `json:"views,omitempty"`
	Runs          *runsFile      `json:"runs,omitempty"`
}

type runsFile struct {
	Whole       int      `json:"whole"`
	Blocked     int      `json:"blocked"`
	Audited     int      `json:"audited,omitzero"`
	Incomplete  string   `json:"incomplete,omitempty"`
	Preemptions *int     `json:"preemptions,omitempty"`
	NotExplored []string `json:"not_explored,omitempty"`
}

type spaceFile struct {
	States      int         `json:"states"`
	Transitions int         `json:"transitions"`
	Diameter    int         `json:"diameter"`
	Branching   float64     `json:"branching"`
	Final       int         `json:"final"`
	Queue       int         `json:"queue"`
	Bytes       int         `json:"bytes_per_state"`
	Reductions  []string    `json:"reductions"`
	Missed      float64     `json:"probability_of_a_missed_state"`
	Cut         string      `json:"cut,omitempty"`
	Moments     string      `json:"moments,omitempty"`
	Operations  []countFile `json:"transitions_by_operation"`
	Covered     []string    `json:"covered"`
	NotCovered  []string    `json:"not_covered"`
}

type countFile struct {
	Name   string `json:"name"`
	Number int    `json:"number"`
}

// viewsFile is [Views] as JSON.
type viewsFile struct {
	Searches int `json:"searches"`
	Contexts int `json:"contexts"`
	Views    int `json:"views"`
	Parts    int `json:"clientParts"`
	Holders  int `json:"holders"`
	Cutoff   int `json:"cutoff"`
	Tried    int `json:"cutoffTried"`
}

// spaceOf writes the figures of the state space as JSON.
func spaceOf(s *Space) *spaceFile {
	if s == nil {
		return nil
	}
	f := &spaceFile{
		States: s.States, Transitions: s.Transitions, Diameter: s.Diameter, Branching: s.Branching(), Final: s.Final,
		Queue: s.Queue, Bytes: s.Bytes, Reductions: s.Reductions, Missed: s.Missed, Cut: s.Cut, Moments: s.Moments,
		Covered: s.Covered, NotCovered: s.NotCovered,
	}
	f.Operations = countsOf(s.Operations)
	return f
}

func countsOf(counts []Count) (files []countFile) {
	for _, c := range counts {
		files = append(files, countFile(c))
	}
	return files
}

type propertyFile struct {
	Property  string     `json:"property"`
	Part      string     `json:"part,omitempty"` // safety, recovery, promise or own; only for external locks
	Sentence  string     `json:"sentence"`
	Verdict   Verdict    `json:"verdict"`
	Reason    string     `json:"reason,omitempty"` // why there is no answer; if passed, which schedules it covers
	Evidence  string     `json:"evidence"`
	Checked   int        `json:"checked"`
	Scenarios int        `json:"scenarios"`
	Violating int        `json:"violating_scenarios,omitzero"`
	Undecided int        `json:"undecided,omitzero"`
	Note      string     `json:"note,omitempty"`
	Violation *foundFile `json:"violation,omitempty"`
}

type foundFile struct {
	Detail         string           `json:"detail"`
	Cause          string           `json:"cause,omitempty"`
	Expected       string           `json:"expected,omitempty"`
	Errors         []string         `json:"errors,omitempty"` // the clients' messages for failed calls
	Steps          int              `json:"steps"`
	Least          bool             `json:"least,omitzero"`
	Scenario       int              `json:"scenario,omitzero"`
	Seed           uint64           `json:"seed,omitzero"`
	Counterexample string           `json:"counterexample,omitempty"`
	Command        string           `json:"command,omitempty"`
	Tries          *histories.Tries `json:"tries,omitempty"`
	Fingerprint    string           `json:"fingerprint,omitempty"`
	Known          *knownFile       `json:"known,omitempty"`
}

// earlierFile is [Earlier] as JSON.
type earlierFile struct {
	Again  []string `json:"violated_again,omitempty"`
	Passed []string `json:"pass_now,omitempty"`
	Held   int      `json:"pass_still,omitzero"`
}

// knownFile is [Known] as JSON.
type knownFile struct {
	Reason  string `json:"reason"`
	Owner   string `json:"owner,omitempty"`
	Expires string `json:"expires,omitempty"`
	Expired bool   `json:"expired,omitzero"`
}

type rowFile struct {
	Operation   string      `json:"operation"`
	Situation   string      `json:"situation,omitempty"`
	Count       int         `json:"count"`
	Commands    spreadFile  `json:"commands"`
	RoundTrips  spreadFile  `json:"round_trips"`
	Unpipelined spreadFile  `json:"unpipelined_round_trips"`
	Channels    spreadFile  `json:"channels_opened"`
	Connections spreadFile  `json:"connections_opened"`
	Budget      *budgetFile `json:"budget,omitempty"`
	Within      bool        `json:"within"`
}

type spreadFile struct {
	Min  int     `json:"min"`
	Mean float64 `json:"mean"`
	Max  int     `json:"max"`
}

// budgetFile is [Budget] as JSON. Costs without a limit are left out.
type budgetFile struct {
	RoundTrips  *int `json:"round_trips,omitempty"`
	Channels    *int `json:"channels_opened,omitempty"`
	Connections *int `json:"connections_opened,omitempty"`
}

type staleFile struct {
	Commands     int   `json:"commands"`
	Milliseconds int64 `json:"milliseconds"`
	OwnClock     int64 `json:"own_clock_milliseconds,omitzero"` // by the client's own clock; left out if it is the same
	Scenarios    int   `json:"scenarios"`
}

type trafficFile struct {
	Operation  string  `json:"operation"`
	Calls      int     `json:"calls"`
	FramesSent float64 `json:"frames_sent"`
	FramesBack float64 `json:"frames_back"`
	BytesSent  float64 `json:"bytes_sent"`
	BytesBack  float64 `json:"bytes_back"`
}

type exerciseFile struct {
	Name      string `json:"name"`
	Scenarios int    `json:"scenarios"`
}

// WriteJSON writes a report as JSON.
func WriteJSON(w io.Writer, r *Report) error {
	f := reportFile{
		Lockproof: reportFormat, Version: reportVersion, Tool: r.Tool,
		Target: r.Target, Doc: r.Doc, Kind: r.Kind.String(), Mode: r.Mode, Broker: r.Broker, Server: r.Server, Source: r.Source, Readings: r.Readings,
		Command: r.Command, Options: r.Fixed,
		Seed: r.Seed, FailedAcquire: r.FailedAcquire, Bounds: r.Bounds, Outcome: r.Outcome(), Required: r.Required.Names(), Interrupted: r.Interrupted,
		Scenarios: r.Scenarios, Asked: r.Asked, Least: r.Least, Steps: r.Steps, Commands: r.Commands, Operations: r.Operations,
		Seconds: r.Elapsed.Seconds(),
		Guided:  r.Guided, Covered: countsOf(r.Covered),
		Uncontrolled: r.Uncontrolled, Nemesis: r.Nemesis, Together: r.Together, Left: r.Left, Wire: countsOf(r.Wire),
		Stale: r.Stale.file(),
	}
	if f.Holds = f.Outcome == OutcomeHolds; f.Outcome == OutcomeInconclusive {
		f.Missing = r.Missing()
	}
	if r.Contract != nil {
		demands := append([]string{}, r.Contract.Demands.Names()...)
		f.Contract = &demands
	}
	for _, p := range r.ordered() {
		f.Properties = append(f.Properties, r.property(p))
	}
	f.Earlier = r.Earlier.file()
	for i := range r.Efficiency {
		f.Efficiency = append(f.Efficiency, r.Efficiency[i].file())
	}
	for _, t := range r.Traffic {
		f.Traffic = append(f.Traffic, trafficFile{t.Operation, t.Calls, t.Frames, t.Back, t.Bytes, t.BytesBack})
	}
	f.Views = (*viewsFile)(r.Views)
	f.Space, f.Runs = spaceOf(r.Space), (*runsFile)(r.Runs)
	for _, e := range r.Exercised {
		f.Exercised = append(f.Exercised, exerciseFile(e))
	}
	return writePretty(w, f)
}

func (r *Report) property(p *PropertyResult) propertyFile {
	verdict, reason := r.Verdict(p)
	if of := r.Runs.bounded(verdict); of != "" {
		reason = of
	}
	f := propertyFile{
		Property: p.Name(), Part: r.part(p), Sentence: r.sentence(p), Verdict: verdict, Reason: reason,
		Evidence: p.Evidence.String(), Checked: p.Checked, Scenarios: p.Scenarios, Violating: p.Violating, Undecided: p.Undecided, Note: p.Note,
	}
	if v := p.Violation; v != nil {
		f.Violation = &foundFile{v.Detail, v.Cause, v.Expected, v.Errors, v.Steps, v.Least, v.Scenario, v.Seed, v.File, v.Command, nil, v.Fingerprint, nil}
		if k := v.Known; k != nil {
			f.Violation.Known = &knownFile{k.Reason, k.Owner, k.Expires, k.Expired}
		}
		if v.Tries.Of > 0 {
			f.Violation.Tries = &v.Tries
		}
	}
	return f
}

func (e *EfficiencyRow) file() rowFile {
	f := rowFile{
		Operation: e.Operation, Situation: e.Situation, Count: e.Count,
		Commands: e.Commands.file(), RoundTrips: e.RoundTrips.file(), Unpipelined: e.Unpipelined.file(),
		Channels: e.Channels.file(), Connections: e.Connections.file(), Within: e.Within(),
	}
	if b := e.Budget; b != nil {
		f.Budget = &budgetFile{limit(b.RoundTrips), limit(b.Channels), limit(b.Connections)}
	}
	return f
}

func (o Overlap) file() staleFile {
	f := staleFile{Commands: o.Commands, Milliseconds: o.Time.Milliseconds(), Scenarios: o.Scenarios}
	if o.Own != o.Time {
		f.OwnClock = o.Own.Milliseconds()
	}
	return f
}

// file is the results as JSON; nil if no counterexamples were replayed.
func (e *Earlier) file() *earlierFile {
	if len(e.Lines()) == 0 {
		return nil
	}
	return (*earlierFile)(e)
}

func (s Spread) file() spreadFile { return spreadFile{s.Min, s.Mean(), s.Max} }

func limit(n int) *int {
	if n < 0 {
		return nil
	}
	return &n
}

// writePretty writes a struct as indented JSON. The output is the same for equal structs.
func writePretty(w io.Writer, f any) error {
	data, err := json.Marshal(f, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return err
	}
	if data, err = histories.Pretty(data); err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}
