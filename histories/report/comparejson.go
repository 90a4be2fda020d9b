package report

import (
	"io"
	"time"
)

// The format of comparisons in JSON.
const (
	comparisonFormat  = "comparison"
	comparisonVersion = 1
)

// comparisonFile is a comparison as JSON. Its fields are those of [Comparison], with the same meaning. Times are in
// seconds.
type comparisonFile struct {
	Lockproof   string               `json:"lockproof"`
	Version     int                  `json:"version"`
	Tool        string               `json:"tool"`
	Command     string               `json:"command,omitempty"`
	Seconds     float64              `json:"seconds,omitzero"`
	Interrupted bool                 `json:"interrupted"`
	Bounds      string               `json:"bounds"`
	Scenarios   int                  `json:"scenarios"`
	Seed        uint64               `json:"seed"`
	Clients     []int                `json:"clients,omitempty"`
	Servers     []comparedServerFile `json:"servers,omitempty"`
	Of          int                  `json:"of"`
	Locks       []comparedLockFile   `json:"locks"`
}

type comparedServerFile struct {
	Title   string `json:"title"`
	Version string `json:"version,omitempty"`
	Missing string `json:"missing,omitempty"`
}

type comparedLockFile struct {
	Target      string              `json:"target"`
	Kind        string              `json:"kind"`
	Server      string              `json:"server"`
	Holds       bool                `json:"holds"`
	Faults      []faultVerdictsFile `json:"faults"`
	Cost        []rowFile           `json:"cost"`
	Stale       staleFile           `json:"stale_belief"`
	Real        *measuredFile       `json:"real,omitempty"`
	NotMeasured string              `json:"not_measured,omitempty"`
}

type faultVerdictsFile struct {
	Fault    string             `json:"fault"`
	Verdict  Verdict            `json:"verdict"`
	States   int                `json:"states"`
	Cut      string             `json:"cut,omitempty"`
	Verdicts map[string]Verdict `json:"verdicts"` // by property
	Command  string             `json:"command"`
}

type measuredFile struct {
	Server     string                  `json:"server"`
	Operations []measuredOperationFile `json:"operations"`
	Loads      []measuredLoadFile      `json:"loads"`
	Free       *distributionFile       `json:"freed_after_crash,omitempty"`
	Lease      float64                 `json:"lease,omitzero"`
}

type measuredOperationFile struct {
	Operation  string            `json:"operation"`
	Commands   float64           `json:"commands"`
	RoundTrips float64           `json:"round_trips"`
	Sent       float64           `json:"bytes_sent"`
	Received   float64           `json:"bytes_received"`
	Latency    *distributionFile `json:"latency,omitempty"`
}

type measuredLoadFile struct {
	Clients   int               `json:"clients"`
	Contended bool              `json:"contended"`
	Granted   int               `json:"granted"`
	Refused   int               `json:"refused"`
	Unknown   int               `json:"unknown"`
	Seconds   float64           `json:"seconds"`
	Rate      float64           `json:"granted_per_second"`
	Acquire   *distributionFile `json:"acquire,omitempty"`
	LeftOut   string            `json:"left_out,omitempty"`
}

type distributionFile struct {
	Count int     `json:"count"`
	Min   float64 `json:"min"`
	P10   float64 `json:"p10"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

// WriteComparisonJSON writes a comparison as JSON.
func WriteComparisonJSON(w io.Writer, c *Comparison) error {
	f := comparisonFile{
		Lockproof: comparisonFormat, Version: comparisonVersion, Tool: c.Tool, Command: c.Command, Seconds: c.Elapsed.Seconds(),
		Interrupted: c.Interrupted, Bounds: c.Bounds, Scenarios: c.Scenarios, Seed: c.Seed, Clients: c.Clients, Of: c.Of,
	}
	for _, s := range c.Servers {
		f.Servers = append(f.Servers, comparedServerFile(s))
	}
	for i := range c.Rows {
		f.Locks = append(f.Locks, c.Rows[i].file())
	}
	return writePretty(w, f)
}

func (l *ComparedLock) file() comparedLockFile {
	f := comparedLockFile{
		Target: l.Target, Kind: l.Kind.String(), Server: l.Server, Holds: l.Holds(), NotMeasured: l.NotMeasured,
		Stale: l.Stale.file(),
	}
	for i := range l.Faults {
		v := &l.Faults[i]
		file := faultVerdictsFile{Fault: v.Fault, Verdict: v.Verdict(), States: v.States, Cut: v.Cut, Verdicts: make(map[string]Verdict), Command: v.Command}
		for _, p := range v.Verdicts {
			file.Verdicts[p.Property.String()] = p.Verdict
		}
		f.Faults = append(f.Faults, file)
	}
	for i := range l.Cost {
		f.Cost = append(f.Cost, l.Cost[i].file())
	}
	if l.Real != nil {
		f.Real = l.Real.file()
	}
	return f
}

func (m *Measured) file() *measuredFile {
	f := &measuredFile{Server: m.Server, Free: m.Free.file(), Lease: m.Lease.Seconds()}
	for i := range m.Operations {
		o := &m.Operations[i]
		f.Operations = append(f.Operations, measuredOperationFile{o.Operation, o.Commands, o.RoundTrips, o.Sent, o.Received, o.Latency.file()})
	}
	for i := range m.Loads {
		l := &m.Loads[i]
		f.Loads = append(f.Loads, measuredLoadFile{
			l.Clients, l.Contended, l.Granted, l.Refused, l.Unknown, l.Took.Seconds(), l.Rate(), l.Acquire.file(), l.LeftOut,
		})
	}
	return f
}

func (d Distribution) file() *distributionFile {
	if d.Count == 0 {
		return nil
	}
	s := time.Duration.Seconds
	return &distributionFile{d.Count, s(d.Min), s(d.P10), s(d.P50), s(d.P90), s(d.P99), s(d.Max)}
}
