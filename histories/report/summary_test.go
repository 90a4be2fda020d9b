package report

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/lockproof/lockproof/histories/historiestest"
	"github.com/lockproof/lockproof/model/property"
)

// markup is text that would be Markdown, HTML or a terminal's command.
const markup = "c1 |<img src=x>|\n# **bold** [x](javascript:y) \x1b[2J ``` `"

func TestSummary(t *testing.T) {
	r := sampleReport()
	r.Required = r.Required.With(property.NoLeak)
	r.Properties[property.HonestVerify].Violation.Diagram = "step  c1\n  1   ┏ acquire\n"
	var b strings.Builder
	if err := WriteSummary(&b, r); err != nil {
		t.Fatal(err)
	}
	historiestest.Golden(t, "summary.md", b.String())
}

// TestSummaryIsText: what comes from outside is neither Markdown nor HTML in a summary, and ends no fence.
func TestSummaryIsText(t *testing.T) {
	r := sampleReport()
	r.Target, r.Fixed, r.Command = markup, []string{markup}, markup
	v := r.Properties[property.HonestVerify].Violation
	v.Detail, v.Errors, v.Command, v.Diagram = markup, []string{markup}, markup, markup+"\n```\n<script>"
	r.Properties[property.NoLeak].Skip = markup
	var b strings.Builder
	if err := WriteSummary(&b, r); err != nil {
		t.Fatal(err)
	}
	fence := ""
	for line := range strings.Lines(b.String()) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case fence == "" && strings.HasPrefix(line, "```"):
			fence = strings.TrimSuffix(line, "text")
			continue
		case line == fence:
			fence = ""
			continue
		}
		if fence == "" && (strings.Contains(line, "<img") || strings.Contains(line, "**bold") || strings.Contains(line, "[x](")) || strings.ContainsAny(line, "\x1b\r") {
			t.Errorf("%q", line)
		}
	}
	if fence != "" {
		t.Error("a fence is open at the end")
	}
}

// TestSARIF: rules are properties, what is found is located, and a file without findings is one.
func TestSARIF(t *testing.T) {
	r := sampleReport()
	r.Required = r.Required.With(property.NoLeak)
	var b strings.Builder
	if err := WriteSARIF(&b, r, "adapters/my_adapter.py"); err != nil {
		t.Fatal(err)
	}
	historiestest.Golden(t, "report.sarif", b.String())

	suspected := sampleReport()
	suspected.Properties[property.HonestVerify].Violation.Suspected = true
	suspected.Properties[property.HonestVerify].Violation.Detail = markup + "\xff"
	b.Reset()
	if err := WriteSARIF(&b, suspected, ""); err != nil {
		t.Fatal(err)
	}
	var log sarifLog
	if err := json.Unmarshal([]byte(b.String()), &log); err != nil {
		t.Fatal(err)
	}
	for _, found := range log.Runs[0].Results {
		if found.Rule != log.Runs[0].Tool.Driver.Rules[found.Index].ID || found.Level != "warning" {
			t.Errorf("%+v", found)
		}
		if found.Rule == "honest-verify" && found.Locations[0].Physical.Artifact.URI != "counterexamples/honest-verify.json" {
			t.Errorf("%+v", found.Locations)
		}
	}

	b.Reset()
	if err := WriteSARIF(&b, &Report{Mode: Sampled}, ""); err != nil || !strings.Contains(b.String(), `"results": []`) || !strings.Contains(b.String(), `"rules": []`) {
		t.Errorf("%s %v", b.String(), err)
	}
}
