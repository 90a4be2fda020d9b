package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/lockproof/lockproof/histories/safetext"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/property"
)

// junitSuites is a JUnit file: a suite for the target, and a case for each property.
type junitSuites struct {
	XMLName xml.Name   `xml:"testsuites"`
	Suite   junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr,omitempty"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitFailure `xml:"failure"`
	Error   *junitError   `xml:"error"`
	Skipped *junitSkipped `xml:"skipped"`
	Output  *junitOutput  `xml:"system-out"`
}

type junitFailure struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",cdata"`
}

// junitError says that a property has no answer. JUnit counts this neither as a failure nor as a success.
type junitError struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
}

type junitSkipped struct {
	Message string `xml:"message,attr"`
}

type junitOutput struct {
	Text string `xml:",cdata"`
}

// WriteJUnit writes a report as JUnit's XML. A violated or suspected property is a failure, with its execution drawn.
// A property whose violation is known is skipped, with the same text; one that was not judged is skipped with the
// reason. An undecided property, or a required one that was not judged, is an error. A run that was interrupted, or
// judged nothing, is an error in a separate case.
func WriteJUnit(w io.Writer, r *Report) error {
	s := junitSuite{Name: legal("lockproof " + r.Target)}
	if r.Elapsed > 0 {
		s.Time = strconv.FormatFloat(r.Elapsed.Seconds(), 'f', 3, 64)
	}
	for _, p := range [][2]string{
		{"tool", r.Tool}, {"mode", string(r.Mode)}, {"broker", r.Broker}, {"source", r.Source}, {"command", r.Command},
		{"options", strings.Join(r.Fixed, " ")}, {"seed", fmt.Sprint(r.Seed)},
		{"strength", r.FailedAcquire}, {"bounds", r.Bounds}, {"scenarios", fmt.Sprint(r.Scenarios)}, {"interrupted", fmt.Sprint(r.Interrupted)},
		{"outcome", string(r.Outcome())},
	} {
		if p[1] != "" {
			s.Properties = append(s.Properties, junitProperty{p[0], legal(p[1])})
		}
	}
	for i := range r.Properties {
		s.add(r.testCase(&r.Properties[i]))
	}
	if c, is := r.runCase(s.Errors); is {
		s.add(c)
	}
	data, err := xml.MarshalIndent(junitSuites{Suite: s}, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(safetext.NewWriter(w), xml.Header+string(data)+"\n")
	return err
}

// add adds a case to the suite and counts its result.
func (s *junitSuite) add(c junitCase) {
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Tests++
	s.Cases = append(s.Cases, c)
}

// runCase is an extra case that is an error, for a run that was interrupted or is inconclusive. said is the number of
// properties' cases that are errors. If there are any, an inconclusive run needs no extra case.
func (r *Report) runCase(said int) (c junitCase, is bool) {
	c = junitCase{Class: legal("lockproof." + r.Target), Name: "run"}
	switch outcome := r.Outcome(); {
	case outcome == OutcomeInterrupted:
		c.Error = &junitError{string(outcome), "the run ended before it had done what was asked"}
	case outcome == OutcomeInconclusive && said == 0:
		c.Error = &junitError{string(outcome), legal(strings.Join(r.Missing(), "; "))}
	}
	return c, c.Error != nil
}

func (r *Report) testCase(p *PropertyResult) junitCase {
	c := junitCase{Class: legal("lockproof." + r.Target), Name: p.Name()}
	switch verdict, reason := r.Verdict(p); {
	case p.Violation != nil && p.Violation.Accepted():
		c.Skipped, c.Output = &junitSkipped{legal(r.told(p))}, &junitOutput{legal(r.inFull(p))}
	case p.Violation != nil:
		c.Failure = &junitFailure{Type: string(verdict), Message: legal(r.told(p)), Text: legal(r.inFull(p))}
	case r.Owes(p):
		c.Error = &junitError{string(OutcomeInconclusive), legal(r.missing(p))}
	case verdict == Skipped:
		c.Skipped = &junitSkipped{Message: legal(reason)}
	default:
		from := p.Evidence.String()
		if p.Evidence == property.FromTruth {
			from = r.words().The() + "'s truth"
		}
		c.Output = &junitOutput{Text: fmt.Sprintf("%s: %s; checked %s times, from %s", verdict, r.sentence(p), style.Grouped(p.Checked), from)}
	}
	return c
}

// inFull describes a violation completely. It is for readers who see nothing but this text.
func (r *Report) inFull(p *PropertyResult) string {
	v := p.Violation
	lines := append([]string{p.Name() + ": " + r.sentence(p), r.told(p)}, v.Why()...)
	if v.Command != "" {
		lines = append(lines, "see it: "+v.Command)
	}
	if at := r.DrawnAt(p); at != "" {
		lines = append(lines, "", "the execution is the one drawn at "+at)
	} else if v.Diagram != "" {
		lines = append(lines, "", v.Diagram)
	}
	return strings.Join(lines, "\n")
}

// legal removes the characters that XML does not allow.
func legal(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t', r == '\n', r >= 0x20 && r <= 0xD7FF, r >= 0xE000 && r < 0xFFFD, r >= 0x10000 && r <= 0x10FFFF:
			return r
		}
		return -1
	}, text)
}
