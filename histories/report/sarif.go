package report

import (
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/lockproof/lockproof/histories/safetext"
)

// The part of SARIF 2.1.0 that findings need. It is written by hand, since libraries for all of SARIF would add a
// schema validator and a web client to the program.
type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool    sarifTool     `json:"tool"`
	Results []sarifResult `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name           string      `json:"name"`
	Version        string      `json:"version"`
	InformationURI string      `json:"informationUri"`
	Rules          []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID    string       `json:"id"`
	Short sarifMessage `json:"shortDescription"`
}

type sarifResult struct {
	Rule         string            `json:"ruleId"`
	Index        int               `json:"ruleIndex"`
	Level        string            `json:"level"`
	Message      sarifMessage      `json:"message"`
	Locations    []sarifLocation   `json:"locations"`
	Fingerprints map[string]string `json:"partialFingerprints"`
	Suppressions []sarifSuppressed `json:"suppressions,omitempty"`
}

// sarifSuppressed says that the finding is accepted, and that a file accepts it, not a comment in the code.
type sarifSuppressed struct {
	Kind          string `json:"kind"`
	Status        string `json:"status"`
	Justification string `json:"justification"`
}

type sarifMessage struct {
	Text string `json:"text"`
}

type sarifLocation struct {
	Physical sarifPhysical `json:"physicalLocation"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   sarifRegion   `json:"region"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	Line int `json:"startLine"`
}

// WriteSARIF writes a report's findings as SARIF 2.1.0. Each property is a rule. A violation is an error; a suspected
// violation or a missing answer is a warning. The findings are located in file, such as the adapter, since the lock is
// judged as a whole. If file is "", a violation is located in its counterexample's file. Known violations that have not
// expired are suppressed.
func WriteSARIF(w io.Writer, r *Report, file string) error {
	run := sarifRun{
		Tool: sarifTool{sarifDriver{
			Name: "lockproof", Version: r.Tool, InformationURI: "https://github.com/lockproof/lockproof", Rules: []sarifRule{},
		}},
		Results: []sarifResult{},
	}
	for i := range r.Properties {
		p := &r.Properties[i]
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{p.Name(), sarifMessage{r.sentence(p)}})
		verdict, _ := r.Verdict(p)
		switch {
		case verdict == Violated:
			run.add(r, i, "error", r.findings(p), file)
		case verdict == Suspected:
			run.add(r, i, "warning", r.findings(p), file)
		case r.Owes(p):
			run.add(r, i, "warning", r.missing(p), file)
		}
	}
	data, err := json.Marshal(sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run},
	}, jsontext.WithIndent("  "), json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return err
	}
	_, err = io.WriteString(safetext.NewWriter(w), string(data)+"\n")
	return err
}

// findings is the text about a violation, with the command that shows it.
func (r *Report) findings(p *PropertyResult) string {
	lines := slices.Concat([]string{r.told(p)}, p.Violation.Why(), p.Violation.Errors)
	if p.Violation.Command != "" {
		lines = append(lines, "see it: "+p.Violation.Command)
	}
	return strings.Join(lines, "\n")
}

func (s *sarifRun) add(r *Report, rule int, level, text, file string) {
	p := &r.Properties[rule]
	if file == "" && p.Violation != nil {
		file = p.Violation.File
	}
	found := sarifResult{
		Rule: p.Name(), Index: rule, Level: level, Message: sarifMessage{text}, Locations: []sarifLocation{},
		Fingerprints: map[string]string{"lockproof/v1": r.Target + "/" + p.Name()},
	}
	if file != "" {
		found.Locations = append(found.Locations, sarifLocation{sarifPhysical{sarifArtifact{filepath.ToSlash(file)}, sarifRegion{1}}})
	}
	if v := p.Violation; v != nil && v.Fingerprint != "" {
		found.Fingerprints["counterexample/v1"] = v.Fingerprint
	}
	if v := p.Violation; v != nil && v.Accepted() {
		found.Suppressions = []sarifSuppressed{{"external", "accepted", v.Known.Words()}}
	}
	s.Results = append(s.Results, found)
}
