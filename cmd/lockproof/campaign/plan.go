package campaign

import (
	"cmp"
	"fmt"
	"regexp"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/lockproof/lockproof/histories/infile"
)

// Plan is a campaign's file. Exactly one of Sample, Mutants, Configurations and Sweep defines its space.
type Plan struct {
	Lockproof string `json:"lockproof"` // must be [Format]
	Version   int    `json:"version"`   // must be [Version]
	// Name is the campaign's name. The names of all its data on a server contain it.
	Name   string `json:"name"`
	Target Target `json:"target,omitzero"`
	// Sample draws scenarios from one seed.
	Sample *Sample `json:"sample,omitzero"`
	// Mutants tests mutants with scenarios of one seed.
	Mutants *Mutants `json:"mutants,omitzero"`
	// Configurations are configurations to explore; each is a row of a table.
	Configurations []Configuration `json:"configurations,omitempty"`
	// Sweep explores every combination of options, sizes and faults; each is a row of a table.
	Sweep *Sweep `json:"sweep,omitzero"`
	// Judge says what is judged in each row of a table.
	Judge  Judge  `json:"judge,omitzero"`
	Budget Budget `json:"budget,omitzero"`
	Stop   Stop   `json:"stop,omitzero"`
	// Shard is the number of scenarios or configurations in a shard; 0 means that lockproof chooses it.
	Shard int `json:"shard,omitzero"`
	// Lease is the time after which a shard is given to another worker if its worker shows no sign of life. 0 means
	// [DefaultLease].
	Lease Duration `json:"lease,omitzero"`
}

// The name and version of the format of campaign files. Other versions are refused.
const (
	Format  = "campaign"
	Version = 1
)

// DefaultLease is the lease of a plan that sets none.
const DefaultLease = 30 * time.Second

// Bounds of a lease. A shorter lease would end before the worker of a busy machine can show a sign of life.
const (
	shortestLease = 500 * time.Millisecond
	longestLease  = time.Hour
)

// Budget limits a campaign.
type Budget struct {
	// Executions is the number of scenarios; 0 means the default of `lockproof prove`.
	Executions int `json:"executions,omitzero"`
	// Time limits the campaign's running time, not counting the time during which it was stopped; 0 means no limit.
	Time Duration `json:"time,omitzero"`
}

// Stop says when a campaign ends before its budget is spent.
type Stop struct {
	// Violation ends the campaign as soon as one of these properties is violated; "any" stands for all properties.
	Violation []string `json:"violation,omitempty"`
	// NoNewCoverage ends the campaign after this many successive shards without new coverage; 0 means never.
	NoNewCoverage int `json:"no_new_coverage,omitzero"`
}

// Duration is a length of time, written like 30s or 8h.
type Duration time.Duration

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil || v <= 0 {
		return fmt.Errorf("%q: expected a length of time such as 30s or 8h", text)
	}
	*d = Duration(v)
	return nil
}

// planInput limits the size of a campaign's file to 8 MiB.
var planInput = infile.Input{Noun: "campaign's file", Most: 8 << 20}

// Load reads a campaign's file.
func Load(path string) (*Plan, error) {
	data, err := planInput.Read(path)
	if err != nil {
		return nil, err
	}
	p, err := Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// Decode decodes a campaign's file. The error is one line.
func Decode(data []byte) (*Plan, error) {
	p := new(Plan)
	if err := json.Unmarshal(data, p, json.RejectUnknownMembers(true)); err != nil {
		return nil, err
	}
	return p, p.Check()
}

var names = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// Check returns an error if the plan is invalid. It runs no scenario.
func (p *Plan) Check() error {
	switch {
	case p.Lockproof != Format:
		return fmt.Errorf("lockproof: found %q, expected %q", p.Lockproof, Format)
	case p.Version != Version:
		return fmt.Errorf("version: found %d, expected %d", p.Version, Version)
	case p.Lease != 0 && (p.LeaseTime() < shortestLease || p.LeaseTime() > longestLease):
		return fmt.Errorf("lease %v: expected %v to %v", p.LeaseTime(), shortestLease, longestLease)
	}
	if err := CheckName(p.Name); err != nil {
		return err
	}
	if err := p.bounded(); err != nil {
		return err
	}
	_, err := p.Job(Options{})
	return err
}

// CheckName returns an error for an invalid name of a campaign.
func CheckName(name string) error {
	if !names.MatchString(name) {
		return fmt.Errorf("name %q: expected up to 32 of the characters a-z, 0-9 and -, the first not a -", name)
	}
	return nil
}

// LeaseTime is the time after which a shard is given to another worker if its worker shows no sign of life.
func (p *Plan) LeaseTime() time.Duration { return cmp.Or(time.Duration(p.Lease), DefaultLease) }
