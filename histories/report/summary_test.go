package report

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/lockproof/lockproof/internal/historiestest"
	"github.com/lockproof/lockproof/model/property"
)

// markup is text with Markdown, HTML and an escape sequence.
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

// TestSummaryIsText: text from outside is never taken for Markdown or HTML in a summary, and never ends a code block.
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

// TestSARIF: each property is a rule and each finding has a location. A report without findings gives a valid file.
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

// TestAnnotations: each finding is written on one line, whatever its text contains.
func TestAnnotations(t *testing.T) {
	r := sampleReport()
	r.Required = r.Required.With(property.NoLeak)
	r.Properties[property.HonestVerify].Violation.Detail = "100% wrong\r::error::x"
	var b strings.Builder
	if err := WriteAnnotations(&b, r, "adapters/my:adapter,1.py"); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	const at = "file=adapters/my%3Aadapter%2C1.py,line=1,title="
	want := []string{
		"::warning " + at + "linearizable%3A no answer::linearizable is undecided: 3 of 9,974 histories could not be decided",
		"::error " + at + `honest-verify is violated::100%25 wrong\r::error::x (violated in 12 of 10,000 executions)%0Asee it: lockproof replay counterexamples/honest-verify.json`,
		"::warning " + at + "no-leak%3A no answer::no-leak is required and was skipped: the target offers no destroy",
	}
	if strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s\nexpected\n%s", b.String(), strings.Join(want, "\n"))
	}
}
