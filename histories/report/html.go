package report

import (
	"embed"
	"fmt"
	"html"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/histories/draw"
	"github.com/lockproof/lockproof/histories/safetext"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/scenario"
)

//go:embed page
var pageFiles embed.FS

var pageTemplate = template.Must(template.ParseFS(pageFiles, "page/page.html"))

// Page is what a page shows: one file that needs nothing else, no network either.
type Page struct {
	Report     *Report // the card; nil for none
	Executions []Execution
	// Title and Text are the page's head and what it says where there is no card; "" is the first execution's target, and
	// nothing.
	Title, Text string
	// Status is how far a run is that goes on: the page is loaded again until another one takes its place. "" is over.
	Status string
}

// Execution is one execution of a page.
type Execution struct {
	Trace *scenario.Trace
	// Command repeats it; may be empty.
	Command string
	// Again is how often it was seen again, where that is worth telling; see [Found.Reproduced].
	Again string
	// Porcupine is the page that porcupine.Visualize wrote of its history; may be empty.
	Porcupine []byte
}

// pageData is what the template sees.
type pageData struct {
	Tool, Title, Status string
	Style               template.CSS
	Card                template.HTML
	Executions          []executionData
}

type executionData struct {
	Target, Settings, Note string
	Again                  string
	Commands               []string
	Broken                 []brokenData
	Diagram, Linearization template.HTML
}

type brokenData struct {
	Property, Sentence, Explanation string
	Decided                         int // the step, which is another than that at which it shows; 0 for none
}

// WritePage writes a page. The same page is the same bytes.
func WritePage(w io.Writer, p *Page) error {
	css, err := pageFiles.ReadFile("page/page.css")
	if err != nil {
		return err
	}
	// The templates' HTML is what this package made itself, with every text escaped.
	data := pageData{Title: "an execution", Status: p.Status, Style: template.CSS(css)}
	if len(p.Executions) > 0 {
		data.Title = p.Executions[0].Trace.Scenario.Target
	}
	if p.Title != "" {
		data.Title = p.Title
		var lines []style.Line
		for text := range strings.Lines(p.Text) {
			lines = append(lines, style.Line{style.Plain.Of(strings.TrimSuffix(text, "\n"))})
		}
		data.Card = template.HTML(inked(lines))
	}
	if r := p.Report; r != nil {
		data.Tool, data.Title = r.Tool, r.Target
		data.Card = template.HTML(inked(cardLines(r, style.Style{Width: 150})))
	}
	for i := range p.Executions {
		data.add(&p.Executions[i])
	}
	return pageTemplate.Execute(safetext.NewWriter(w), data)
}

// add shows an execution; one that is shown already, since it violates several properties, gets
// another command to repeat it.
func (d *pageData) add(x *Execution) {
	diagram := template.HTML(draw.SVG(x.Trace))
	i := slices.IndexFunc(d.Executions, func(e executionData) bool { return e.Diagram == diagram })
	if i < 0 {
		i = len(d.Executions)
		d.Executions = append(d.Executions, x.data(diagram))
	}
	if x.Command != "" {
		d.Executions[i].Commands = append(d.Executions[i].Commands, x.Command)
	}
}

func (x *Execution) data(diagram template.HTML) executionData {
	s := &x.Trace.Scenario
	d := executionData{Target: s.Target, Settings: strings.Join(draw.Settings(x.Trace), " "), Again: x.Again, Diagram: diagram}
	for _, v := range x.Trace.Violations {
		d.Broken = append(d.Broken, brokenData{v.Property.String(), v.Property.Sentence(x.Trace.History.Kind), v.Explain(), draw.Decision(x.Trace, v)})
	}
	switch size := len(x.Porcupine); {
	case size > maxPorcupine:
		d.Note = fmt.Sprintf("Porcupine's page of this history has %d MB and was left out.", size>>20)
	case size > 0:
		d.Linearization = template.HTML(framed(embeddable(x.Porcupine)))
	}
	return d
}

// maxPorcupine is the largest page of porcupine's that is embedded: a browser does not show a larger
// one in reasonable time.
const maxPorcupine = 16 << 20

// framed is a page inside a page, where its scripts can reach nothing outside.
func framed(page []byte) string {
	return `<iframe sandbox="allow-scripts" title="porcupine" srcdoc="` + html.EscapeString(string(page)) + `"></iframe>`
}

var inkClasses = map[style.Colour]string{style.Bold: "b", style.Dim: "d", style.Red: "r", style.Green: "g", style.Yellow: "y"}

// inked is lines for a terminal as HTML.
func inked(lines []style.Line) string {
	var b strings.Builder
	for _, l := range lines {
		for _, s := range l {
			text := html.EscapeString(style.Printable(s.Text))
			if class, ok := inkClasses[s.Colour]; ok {
				text = `<span class="` + class + `">` + text + `</span>`
			}
			b.WriteString(text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
