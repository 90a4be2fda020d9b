package report

import (
	"io"
	"strings"

	"github.com/lockproof/lockproof/histories/style"
)

// Diagnosis is what a server says about itself, and what it means for locks.
type Diagnosis struct {
	Tool    string   `json:"tool"` // lockproof's version
	Facts   []Fact   `json:"facts"`
	Worries []string `json:"worries"` // what endangers a lock on the server as it is
	// Measured says what Designs were measured on, or why there are none.
	Measured string            `json:"measured"`
	Faults   []string          `json:"faults"`
	Designs  []DiagnosedDesign `json:"designs"`
	Touches  []string          `json:"touches"` // what lockproof creates there
}

// Fact is one fact about the server.
type Fact struct {
	Name string `json:"name"`
	Said string `json:"said"`
}

// DiagnosedDesign has the measurements of one design of a lock, fault by fault.
type DiagnosedDesign struct {
	Name  string   `json:"name"`
	Doc   string   `json:"doc"`   // the way in which a client holds it
	Cells []string `json:"cells"` // in the order of Faults
}

// diagnosisLegend explains the cells.
const diagnosisLegend = "Cells are seconds in which two clients held the lock, each for certain. ∞: neither was told. lost: verify refused the holder " +
	"though its connection was open. stuck: never free again. 0: not seen, which is no proof. The page is adapters/amqp/cluster/README.md; " +
	"your own lock: lockproof cluster prove --exec COMMAND."

// diagnosisAdvice is advice that holds for every result.
const diagnosisAdvice = "No lock of queues is safe by itself while nodes are separated: have each effect carry a number that grows with each grant (a fencing token), " +
	"verify before each effect, and take basic.cancel and closed connections for a loss."

// WriteDiagnosis prints a diagnosis in plain text.
func WriteDiagnosis(w io.Writer, d *Diagnosis, s style.Style) error {
	var out []style.Line
	paragraph := func(colour style.Colour, text string) {
		for _, line := range style.Wrap(style.Printable(text), s.Columns()) {
			out = append(out, style.Line{colour.Of(line)})
		}
	}
	paragraph(style.Dim, "lockproof "+d.Tool)
	for _, f := range d.Facts {
		paragraph(style.Plain, f.Name+": "+f.Said)
	}
	for _, worry := range d.Worries {
		out = append(out, nil)
		paragraph(style.Red, worry)
	}
	out = append(out, nil)
	paragraph(style.Bold, d.Measured)
	if len(d.Designs) > 0 {
		out = append(out, d.table()...)
		paragraph(style.Dim, diagnosisLegend)
	}
	out = append(out, nil)
	paragraph(style.Plain, diagnosisAdvice)
	paragraph(style.Plain, strings.Join(d.Touches, " "))
	return write(w, out, s)
}

// WriteDiagnosisJSON writes a diagnosis as JSON.
func WriteDiagnosisJSON(w io.Writer, d *Diagnosis) error { return writePretty(w, d) }

// table has a line for each design.
func (d *Diagnosis) table() []style.Line {
	table := style.Table{}
	head := []style.Span{style.Dim.Of("design")}
	for _, fault := range d.Faults {
		head = append(head, style.Dim.Of(fault))
	}
	table.Add(head...)
	for _, design := range d.Designs {
		spans := []style.Span{style.Plain.Of(design.Name)}
		for _, c := range design.Cells {
			colour := style.Red
			if c == "0" {
				colour = style.Plain
			}
			spans = append(spans, colour.Of(c))
		}
		table.Add(spans...)
	}
	return table.Lines(2)
}
