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

// Page is the content of an HTML page. The page is a single file with all its styles and scripts.
type Page struct {
	Report     *Report // report of the run; nil if the page has none
	Executions []Execution
	// Recorded are counterexamples that were not replayed. The page shows them as they were recorded.
	Recorded []*histories.Counterexample
	// Histories are pictures of recorded histories, of which no execution is known.
	Histories []History
	// Title is the page's title; "" means the target of the first execution. Text is the page's text if there is no
	// Report.
	Title, Text string
	// Status describes the progress of a run that goes on. The browser then reloads the page regularly. "" means that
	// the run is over.
	Status string
	// Explorer is the interactive explorer in the page; nil if the page has none.
	Explorer *Explorer
	// Made has data for the page's footer, for a page without a Report.
	Made Made
}

// Made says which program and command made a page.
type Made struct {
	Tool    string    // lockproof's version
	At      time.Time // zero if the output must be reproducible
	Command string    // the command as typed
	Options []string  // as name=value
	Server  string    // server on which the target ran
}

// History is a picture of one lock's history, with a linearization of its longest linearizable prefix.
type History struct {
	History *history.History
	Lock    int
	Prefix  *linear.Prefix
}

// pageData is the data for the page's HTML template.
type pageData struct {
	Title, Status string
	Style         template.CSS
	Card          *cardData
	Text          template.HTML
	Executions    []executionData
	Histories     []historyData
	Words         []draw.Term // explanations of words that occur in steps
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

// kind is the type of the page's locks, taken from the first execution.
func (p *Page) kind() lock.Kind {
	switch {
	case len(p.Executions) == 0 && len(p.Recorded) > 0:
		return p.Recorded[0].Violation.Kind
	case len(p.Executions) == 0:
		return lock.Semaphore
	}
	return p.Executions[0].Trace.History.Kind
}

// explorer is the HTML of the page's explorer. It sets a link for each execution that can be explored.
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

// words joins the texts of all steps, to find the words to explain.
func words(executions []executionData) string {
	var b strings.Builder
	for i := range executions {
		for _, s := range executions[i].Steps {
			b.WriteString(s.Text + "\n")
		}
	}
	return b.String()
}

// made has the data for the page's footer.
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

// add adds an execution to the page. If the page already shows it, because it violates several properties, only the
// command to repeat it is added.
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

// coloured converts lines with a terminal's colours to HTML.
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
