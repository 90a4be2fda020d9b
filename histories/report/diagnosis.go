package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/lockproof/lockproof/histories/style"
)

// Diagnosis is what a server reports about itself, and what this means for locks on it.
type Diagnosis struct {
	Tool    string   `json:"tool"` // lockproof's version
	Facts   []Fact   `json:"facts"`
	Worries []string `json:"worries"` // what endangers a lock on this server
	// Measured says on which cluster the Designs were measured, or why there are none.
	Measured string            `json:"measured"`
	Faults   []string          `json:"faults"`
	Designs  []DiagnosedDesign `json:"designs"`
	Touches  []string          `json:"touches"` // what lockproof creates on the server
}

// Fact is one fact that the server reports about itself.
type Fact struct {
	Name string `json:"name"`
	Said string `json:"said"`
}

// DiagnosedDesign has the measurements of one lock design, one for each fault.
type DiagnosedDesign struct {
	Name  string   `json:"name"`
	Doc   string   `json:"doc"`   // how a client holds the lock
	Cells []string `json:"cells"` // in the order of Faults
}

// diagnosisLegend explains the cells of the table of designs.
const diagnosisLegend = "Cells are seconds in which two clients held the lock, each for certain. ∞: neither was told. lost: verify refused the holder " +
	"though its connection was open. stuck: never free again. 0: not seen, which is no proof. ?: not measured. The page is adapters/amqp/cluster/README.md; " +
	"your own lock: lockproof cluster prove --exec COMMAND."

// diagnosisAdvice is advice that is printed with every diagnosis.
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
	out = append(out, nil)
	paragraph(style.Bold, d.answer())
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

// answer says whether a lock of queues on this server is safe, from what was measured on the nearest version. It says
// this of safety first, then of locks that were lost or were never free again, and then which designs were not measured.
func (d *Diagnosis) answer() string {
	var two, one, lost, stuck, unknown []string
	for i := range d.Designs {
		design := &d.Designs[i]
		switch {
		case !design.known():
			unknown = append(unknown, design.Name)
			continue
		case design.saw(isTime):
			two = append(two, design.Name)
			continue
		}
		one = append(one, design.Name)
		if design.saw(is("lost")) {
			lost = append(lost, design.Name)
		}
		if design.saw(is("stuck")) {
			stuck = append(stuck, design.Name)
		}
	}
	said := []string{"Is a lock of queues safe here by itself?", safetyOf(two, one)}
	for _, s := range []struct {
		what string
		of   []string
	}{{"Verify refused the holder, though its connection was open: %s.", lost}, {"Never free again: %s.", stuck}, {"Not measured: %s.", unknown}} {
		if len(s.of) > 0 {
			said = append(said, fmt.Sprintf(s.what, strings.Join(s.of, ", ")))
		}
	}
	return strings.Join(said, " ")
}

// safetyOf says whether a lock of queues is safe. two are the designs of which two holders were seen. one are the other
// designs that were measured.
func safetyOf(two, one []string) string {
	switch {
	case len(two)+len(one) == 0:
		return "Not known: nothing was measured on a server like this one."
	case len(one) == 0:
		return fmt.Sprintf("No: each of %s below had two holders under some fault of a node or of the network.", style.Plural(len(two), "design"))
	case len(two) == 0:
		return fmt.Sprintf("Not proved: no two holders were seen of %s.", strings.Join(one, ", "))
	default:
		return fmt.Sprintf("Not proved: no two holders were seen of %s, but under some fault of each other design.", strings.Join(one, ", "))
	}
}

// known reports whether something was measured of the design.
func (d *DiagnosedDesign) known() bool { return d.saw(func(word string) bool { return word != "?" }) }

// saw reports whether a word of the design's cells is what the function is selects.
func (d *DiagnosedDesign) saw(is func(word string) bool) bool {
	return slices.ContainsFunc(d.Cells, func(c string) bool { return slices.ContainsFunc(strings.Fields(c), is) })
}

// is returns a function that selects one word of a cell.
func is(word string) func(string) bool { return func(other string) bool { return other == word } }

// isTime reports whether a word of a cell is a time in which there were two holders. A time of 0 is none.
func isTime(word string) bool {
	seconds, err := strconv.ParseFloat(word, 64)
	return err == nil && seconds > 0 || word == "∞" || strings.HasPrefix(word, "<")
}

// WriteDiagnosisJSON writes a diagnosis as JSON.
func WriteDiagnosisJSON(w io.Writer, d *Diagnosis) error { return writePretty(w, d) }

// table is the table of designs, with a row for each and a column for each fault.
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
			if c == "0" || c == "?" {
				colour = style.Plain
			}
			spans = append(spans, colour.Of(c))
		}
		table.Add(spans...)
	}
	return table.Lines(2)
}
