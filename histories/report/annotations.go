package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockproof/lockproof/histories/style"
)

// WriteAnnotations writes a report's findings as GitHub's workflow commands. GitHub shows them at the top of a job and,
// if file is not "", beside that file. Violations are errors, known violations are notices, and missing answers are
// warnings.
func WriteAnnotations(w io.Writer, r *Report, file string) error {
	var b strings.Builder
	for i := range r.Properties {
		p := &r.Properties[i]
		verdict, _ := r.Verdict(p)
		switch {
		case p.Violation != nil && p.Violation.Accepted():
			annotate(&b, "notice", file, fmt.Sprintf("%s is %s, which is known", p.Property, verdict), r.findings(p))
		case p.Violation != nil:
			annotate(&b, "error", file, fmt.Sprintf("%s is %s", p.Property, verdict), r.findings(p))
		case r.Owes(p):
			annotate(&b, "warning", file, fmt.Sprintf("%s: no answer", p.Property), r.missing(p))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func annotate(b *strings.Builder, level, file, title, text string) {
	if file != "" {
		file = "file=" + inProperty.Replace(style.Printable(file)) + ",line=1,"
	}
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, inCommand.Replace(style.Printable(strings.TrimSuffix(line, "\n"))))
	}
	fmt.Fprintf(b, "::%s %stitle=%s::%s\n", level, file, inProperty.Replace(style.Printable(title)), strings.Join(lines, "%0A"))
}

// The escapes in the text of a workflow command, and in its properties.
var (
	inCommand  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	inProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
