package report

import (
	"cmp"
	"embed"
	"fmt"
	"html"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/draw"
	"github.com/lockproof/lockproof/histories/safetext"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
)

//go:embed page
var pageFiles embed.FS

var pageTemplate = template.Must(template.ParseFS(pageFiles, "page/page.html", "page/card.html", "page/execution.html", "page/made.html"))

// Page is the content of a page, which is one self-contained file.
type Page struct {
	Report     *Report // the report of the run; nil for none
	Executions []Execution
	// Recorded are counterexamples that were not carried out again; they are shown as recorded.
	Recorded []*histories.Counterexample
	// Histories are pictures of recorded histories, without an execution.
	Histories []History
	// Title and Text are the page's title, and its text if there is no Report. The defaults are the first execution's
	// target, and no text.
	Title, Text string
	// Status is the progress of a run that is not over: the browser reloads the page until another replaces it. ""
	// means that the run is over.
	Status string
	// Explorer is the explorer in the page; nil for none.
	Explorer *Explorer
	// Made is the footer of the page, as far as the Report does not have the data.
	Made Made
}

// Made says what made a page.
type Made struct {
	Tool    string    // lockproof's version
	At      time.Time // zero if the output must be reproducible
	Command string    // the command as typed
	Options []string  // as name=value
	Server  string    // on which the target ran
}

// History is a picture of the history of one lock, with an explanation of its longest linearizable prefix.
type History struct {
	History *history.History
	Lock    int
	Prefix  *linear.Prefix
}

// pageData is the data of the template.
type pageData struct {
	Title, Status string
	Style         template.CSS
	Card          *cardData
	Text          template.HTML
	Executions    []executionData
	Histories     []historyData
	Words         []draw.Term // explanations of the words used in steps
	Explorer      template.HTML
	Made          madeData
}

type madeData struct{ Tool, At, Command, Options, Server string }

// WritePage writes a page. Equal pages give equal bytes.
func WritePage(w io.Writer, p *Page) error {
	css, err := pageFiles.ReadFile("page/page.css")
	if err != nil {
		return err
	}
	// This package has made the templates' HTML, with every text escaped.
	data := pageData{Title: "an execution", Status: p.Status, Style: template.CSS(css), Made: p.made()}
	if len(p.Executions) > 0 {
		data.Title = p.Executions[0].Trace.Scenario.Target
	}
	if p.Title != "" {
		data.Title = p.Title
		var lines []style.Line
		for text := range strings.Lines(p.Text) {
			lines = append(lines, style.Line{style.Plain.Of(strings.TrimSuffix(text, "\n"))})
		}
		data.Text = template.HTML(coloured(lines))
	}
	for i := range p.Executions {
		data.add(&p.Executions[i])
	}
	for _, c := range p.Recorded {
		data.Title = c.Scenario.Target
		data.Executions = append(data.Executions, recordedData(len(data.Executions)+1, c))
	}
	for i := range p.Histories {
		data.Histories = append(data.Histories, p.Histories[i].data())
	}
	if r := p.Report; r != nil {
		data.Title = r.Target
		data.Card = newCardData(r, data.Executions, len(p.Histories) > 0)
	}
	data.Words = draw.Glossary(words(data.Executions), p.kind())
	if data.Explorer, err = p.explorer(data.Executions); err != nil {
		return err
	}
	for i := range data.Executions {
		data.Executions[i].Only = len(data.Executions) == 1 && data.Executions[i].Target == data.Title
	}
	return pageTemplate.ExecuteTemplate(safetext.NewWriter(w), "page.html", data)
}

// kind is the type of the page's locks: that of the first execution.
func (p *Page) kind() lock.Kind {
	switch {
	case len(p.Executions) == 0 && len(p.Recorded) > 0:
		return p.Recorded[0].Violation.Kind
	case len(p.Executions) == 0:
		return lock.Semaphore
	}
	return p.Executions[0].Trace.History.Kind
}

// explorer is the page's explorer, with the executions that it can explore.
func (p *Page) explorer(executions []executionData) (template.HTML, error) {
	if p.Explorer == nil {
		return "", nil
	}
	var starts []explorerStart
	for i := range executions {
		if x := &executions[i]; x.file != "" {
			x.Explore = fmt.Sprintf("#explore-%d", len(starts))
			starts = append(starts, explorerStart{x.title(), x.file})
		}
	}
	return p.Explorer.html(starts)
}

// words are the texts of all steps of some executions.
func words(executions []executionData) string {
	var b strings.Builder
	for i := range executions {
		for _, s := range executions[i].Steps {
			b.WriteString(s.Text + "\n")
		}
	}
	return b.String()
}

// made is the footer of the page.
func (p *Page) made() madeData {
	if r := p.Report; r != nil {
		return (&Made{r.Tool, r.At, r.Command, r.Fixed, r.Broker}).data()
	}
	return p.Made.data()
}

func (m *Made) data() madeData {
	d := madeData{Tool: m.Tool, Command: m.Command, Options: strings.Join(m.Options, ", "), Server: m.Server}
	if m.Tool != "" {
		d.Options, d.Server = cmp.Or(d.Options, "as they are by default"), cmp.Or(d.Server, "none: what was recorded is judged")
	}
	if !m.At.IsZero() {
		d.At = m.At.UTC().Format("2006-01-02 15:04 UTC")
	}
	return d
}

// add adds an execution. One that is already shown, since it violates several properties, only gets another command
// to repeat it.
func (d *pageData) add(x *Execution) {
	plain := draw.SVG(x.Trace, "")
	i := slices.IndexFunc(d.Executions, func(e executionData) bool { return e.plain == plain })
	if i < 0 {
		i = len(d.Executions)
		d.Executions = append(d.Executions, x.data(i+1, plain))
	}
	if x.Command != "" {
		d.Executions[i].Commands = append(d.Executions[i].Commands, x.Command)
	}
}

var colourClasses = map[style.Colour]string{style.Bold: "b", style.Dim: "d", style.Red: "r", style.Green: "g", style.Yellow: "y"}

// coloured converts lines for a terminal to HTML.
func coloured(lines []style.Line) string {
	var b strings.Builder
	for _, l := range lines {
		for _, s := range l {
			text := html.EscapeString(style.Printable(s.Text))
			if class, ok := colourClasses[s.Colour]; ok {
				text = `<span class="` + class + `">` + text + `</span>`
			}
			b.WriteString(text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
