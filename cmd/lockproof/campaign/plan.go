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
	Lockproof string `json:"lockproof"` // [Format]
	Version   int    `json:"version"`   // [Version]
	// Name is the campaign's name. It is part of the names of everything that the campaign has on a server.
	Name   string `json:"name"`
	Target Target `json:"target,omitzero"`
	// Sample is a set of scenarios of one seed.
	Sample *Sample `json:"sample,omitzero"`
	// Mutants are mutants to test with scenarios of a seed.
	Mutants *Mutants `json:"mutants,omitzero"`
	// Configurations are configurations to explore, each a row of a table.
	Configurations []Configuration `json:"configurations,omitempty"`
	// Sweep is every combination of options, sizes and faults, each a row of a table.
	Sweep *Sweep `json:"sweep,omitzero"`
	// Judge says what the rows of a table judge.
	Judge  Judge  `json:"judge,omitzero"`
	Budget Budget `json:"budget,omitzero"`
	Stop   Stop   `json:"stop,omitzero"`
	// Shard is the number of scenarios or configurations in a shard; by default it is chosen.
	Shard int `json:"shard,omitzero"`
	// Lease is how long a shard is reserved for a worker that shows no sign of life; 0 is [DefaultLease].
	Lease Duration `json:"lease,omitzero"`
}

// The format of campaign files.
const (
	Format  = "campaign"
	Version = 1
)

// DefaultLease is the default of [Plan.Lease].
const DefaultLease = 30 * time.Second

// Bounds of a lease: a shorter one would end before a busy machine can show a sign of life.
const (
	shortestLease = 500 * time.Millisecond
	longestLease  = time.Hour
)

// Budget bounds a campaign.
type Budget struct {
	// Executions is the number of scenarios; the default is that of `lockproof prove`.
	Executions int `json:"executions,omitzero"`
	// Time bounds the campaign's running time, without the time during which it was stopped.
	Time Duration `json:"time,omitzero"`
}

// Stop says when a campaign ends before its budget is spent.
type Stop struct {
	// Violation ends the campaign once one of these properties is violated; "any" is every property.
	Violation []string `json:"violation,omitempty"`
	// NoNewCoverage ends the campaign after that many successive shards without new coverage.
	NoNewCoverage int `json:"no_new_coverage,omitzero"`
}

// Duration is a length of time, written as 30s or 8h.
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

// planInput bounds a campaign's file: a table with thousands of configurations is smaller.
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

// Check returns an error for an invalid plan. It runs nothing.
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

// LeaseTime is how long a shard is reserved for a worker that shows no sign of life.
func (p *Plan) LeaseTime() time.Duration { return cmp.Or(time.Duration(p.Lease), DefaultLease) }
