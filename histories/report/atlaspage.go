package report

import (
	"html/template"
	"io"

	"github.com/lockproof/lockproof/histories/draw"
	"github.com/lockproof/lockproof/histories/safetext"
	"github.com/lockproof/lockproof/histories/style"
)

var atlasTemplate = template.Must(template.ParseFS(pageFiles, "page/atlas.html", "page/made.html"))

// atlasData is the data for the HTML template of an atlas.
type atlasData struct {
	Tool, Broker, Title, Heading string
	Shortfall                    string
	Style                        template.CSS
	Questions                    []questionData
	Needed                       *Needed
	Made                         madeData
}

type questionData struct {
	Number      int
	Ask, Answer string
	Rows        []rowData
	Happens     bool // some row has undesired ways in which operations end
}

type rowData struct {
	Setting, Bounds, States, Command, Proved, Undecided, Cost, Same string
	Ends, Seen, Answered, Figures                                   []string
	Broken                                                          []drawnVerdict
}

type drawnVerdict struct {
	AtlasVerdict
	Diagram template.HTML
}

// WriteAtlasPage writes an atlas as one self-contained HTML page.
func WriteAtlasPage(w io.Writer, a *Atlas) error {
	style, err := pageFiles.ReadFile("page/page.css")
	if err != nil {
		return err
	}
	data := atlasData{
		Tool: a.Tool, Broker: a.Broker, Title: a.Title, Heading: a.heading(), Shortfall: a.shortfall(), Style: template.CSS(style), Needed: a.Needed, Made: a.made().data(),
	}
	for i := range a.Questions {
		q := &a.Questions[i]
		d := questionData{Number: q.Number, Ask: q.Ask, Answer: q.conclusion()}
		for k := range q.Rows {
			d.Rows = append(d.Rows, q.Rows[k].data())
			d.Happens = d.Happens || len(q.Rows[k].Seen) > 0
		}
		data.Questions = append(data.Questions, d)
	}
	return atlasTemplate.Execute(safetext.NewWriter(w), data)
}

// made has the data for the page's footer.
func (a *Atlas) made() *Made {
	m := &Made{Tool: a.Tool, At: a.At, Command: a.Command, Server: "the simulated server"}
	if a.Broker != "" {
		m.Server += ", " + a.Broker
	}
	return m
}

func (r *AtlasRow) data() rowData {
	d := rowData{
		Setting: r.Setting, Bounds: r.Bounds, Command: r.Command, Proved: r.counts(Proved, Passed), Undecided: r.counts(Undecided), Cost: r.cost(),
		Ends: r.Ends, Seen: r.Seen, Answered: r.Answered, Figures: r.Figures, Same: r.Same,
	}
	if r.Space != nil {
		d.States = style.Plural(r.Space.States, "state")
	}
	for _, v := range r.Violated() {
		// This package has drawn the diagram, with every text escaped.
		d.Broken = append(d.Broken, drawnVerdict{v, template.HTML(draw.SVG(v.Trace, ""))})
	}
	return d
}
