package report

import "io"

// The format of tables of configurations in JSON.
const (
	sweepFormat  = "sweep"
	sweepVersion = 1
)

// sweepFile is a table as JSON. Its fields are those of [Sweep], with the same meaning.
type sweepFile struct {
	Lockproof     string              `json:"lockproof"`
	Version       int                 `json:"version"`
	Tool          string              `json:"tool"`
	Name          string              `json:"name"`
	Target        string              `json:"target"`
	Kind          string              `json:"kind"`
	Broker        string              `json:"broker"`
	FailedAcquire string              `json:"strength"`
	Command       string              `json:"command,omitempty"`
	Seconds       float64             `json:"seconds,omitzero"`
	Interrupted   bool                `json:"interrupted"`
	Complete      bool                `json:"complete"`
	Of            int                 `json:"configurations"`
	States        int                 `json:"states"`
	Axes          []axisFile          `json:"axes"`
	LeftOut       []countFile         `json:"left_out,omitempty"`
	Properties    []sweepPropertyFile `json:"properties"`
	Rows          []sweepRowFile      `json:"rows"`
}

type axisFile struct {
	Name     string       `json:"name"`
	Baseline string       `json:"baseline"`
	Effects  []effectFile `json:"effects"`
}

type effectFile struct {
	Value string         `json:"value"`
	Rows  int            `json:"rows"`
	Lost  map[string]int `json:"violated,omitempty"` // number of violations by property
}

type sweepPropertyFile struct {
	Property string            `json:"property"`
	Verdicts map[Verdict]int   `json:"verdicts"`
	Causes   []causeFile       `json:"causes,omitempty"`
	Example  *sweepExampleFile `json:"example,omitempty"`
}

type causeFile struct {
	Values []string `json:"values"`
	Lost   int      `json:"violated"`
	Of     int      `json:"of"`
}

type sweepExampleFile struct {
	Row            int    `json:"row"` // index of the configuration, from 0
	Steps          int    `json:"steps"`
	Least          bool   `json:"least,omitzero"`
	Detail         string `json:"detail"`
	Counterexample string `json:"counterexample,omitempty"`
	Command        string `json:"command,omitempty"`
}

type sweepRowFile struct {
	Values   []string           `json:"values"`
	Command  string             `json:"command"`
	States   int                `json:"states"`
	Cut      string             `json:"cut,omitempty"`
	Verdicts map[string]Verdict `json:"verdicts"` // verdicts by property
}

// WriteSweepJSON writes a table of configurations as JSON.
func WriteSweepJSON(w io.Writer, s *Sweep) error {
	f := sweepFile{
		Lockproof: sweepFormat, Version: sweepVersion, Tool: s.Tool, Name: s.Name, Target: s.Target, Kind: s.Kind.String(), Broker: s.Broker,
		FailedAcquire: s.FailedAcquire, Command: s.Command, Seconds: s.Elapsed.Seconds(), Interrupted: s.Interrupted, Complete: s.Complete(),
		Of: s.Of, States: s.States(), LeftOut: countsOf(s.LeftOut),
	}
	for i, name := range s.Axes {
		f.Axes = append(f.Axes, axisFile{name, s.Baseline[i], s.effectFiles(i)})
	}
	for _, p := range s.Properties {
		of := sweepPropertyFile{Property: p.String(), Verdicts: s.Tally(p)}
		for _, c := range s.Causes(p) {
			of.Causes = append(of.Causes, causeFile(c))
		}
		for _, e := range s.Examples {
			if e.Property == p {
				of.Example = &sweepExampleFile{e.Row, e.Steps, e.Least, e.Detail, e.File, e.Command}
			}
		}
		f.Properties = append(f.Properties, of)
	}
	for _, r := range s.Rows {
		of := sweepRowFile{r.Values, r.Command, r.States, r.Cut, make(map[string]Verdict)}
		for k, v := range r.Verdicts {
			of.Verdicts[s.Properties[k].String()] = v
		}
		f.Rows = append(f.Rows, of)
	}
	return writePretty(w, f)
}

func (s *Sweep) effectFiles(axis int) (out []effectFile) {
	for _, e := range s.Effects(axis) {
		f := effectFile{Value: e.Value, Rows: e.Rows, Lost: make(map[string]int)}
		for k, n := range e.Lost {
			if n > 0 {
				f.Lost[s.Properties[k].String()] = n
			}
		}
		out = append(out, f)
	}
	return out
}
