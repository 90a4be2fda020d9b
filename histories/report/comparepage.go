package report

import (
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
	"time"

	"github.com/lockproof/lockproof/histories/safetext"
	"github.com/lockproof/lockproof/histories/style"
)

var compareTemplate = template.Must(template.ParseFS(pageFiles, "page/compare.html", "page/made.html"))

// compareData is the data for the HTML template of a comparison.
type compareData struct {
	Tool, How string
	Style     template.CSS
	Warnings  []string
	Advice    []string
	Tables    []compareTableData
	Charts    []compareChart
	Made      madeData
}

type compareTableData struct {
	ID, Title, Legend string
	Head              []string
	Rows              []compareRowData
}

type compareRowData struct {
	Server, Name, Class string
	Cells               []compareCell
	Notes               []string
}

type compareCell struct{ Is, Text, Class string }

type compareChart struct {
	Title, Legend string
	SVG           template.HTML
}

// WriteComparisonPage writes a comparison as one self-contained HTML page.
func WriteComparisonPage(w io.Writer, c *Comparison) error {
	css, err := pageFiles.ReadFile("page/page.css")
	if err != nil {
		return err
	}
	made := Made{Tool: c.Tool, At: c.At, Command: c.Command, Server: strings.Join(append([]string{"simulated servers"}, c.found()...), ", ")}
	data := compareData{
		Tool: c.Tool, How: strings.Join(c.how(), "; "), Style: template.CSS(css), Made: made.data(),
		Advice:   c.advice(),
		Warnings: append(nonempty([]string{c.shortfall()}), c.missing()...),
	}
	for i, t := range c.tables() {
		if i == 0 || len(t.rows) > 0 {
			data.Tables = append(data.Tables, t.data(fmt.Sprintf("table-%d", i+1)))
		}
	}
	data.Charts = c.charts()
	return compareTemplate.Execute(safetext.NewWriter(w), data)
}

func (t *comparedTable) data(id string) compareTableData {
	d := compareTableData{ID: id, Title: t.title, Legend: t.legend, Head: t.head}
	for _, r := range t.rows {
		row := compareRowData{Server: r.server, Name: r.cells[0].Text, Class: colourClasses[r.cells[0].Colour], Notes: r.notes}
		for i := 1; i < len(t.head); i++ {
			cell := compareCell{Is: t.head[i]}
			if i < len(r.cells) {
				cell.Text, cell.Class = r.cells[i].Text, colourClasses[r.cells[i].Colour]
			}
			row.Cells = append(row.Cells, cell)
		}
		d.Rows = append(d.Rows, row)
	}
	return d
}

// bar is one bar of a chart: the name and durations of a lock.
type bar struct {
	name string
	of   Distribution
}

// charts are the charts of the measured durations. Each has a bar for each lock.
func (c *Comparison) charts() (out []compareChart) {
	add := func(title string, of func(m *Measured) Distribution) {
		var bars []bar
		for i := range c.Rows {
			if m := c.Rows[i].Real; m != nil && of(m).Count > 0 {
				bars = append(bars, bar{c.Rows[i].Target, of(m)})
			}
		}
		if len(bars) > 0 {
			out = append(out, compareChart{title, "from the 10th to the 90th percentile, with a mark at the median; the line goes from the least to the 99th", drawBars(title, bars)})
		}
	}
	for _, name := range []string{"acquire", "verify", "release"} {
		add(name+" by one client alone", func(m *Measured) Distribution {
			if o := m.operation(name); o != nil {
				return o.Latency
			}
			return Distribution{}
		})
	}
	for _, n := range c.Clients {
		for _, contended := range []bool{false, true} {
			title := "acquires granted, " + style.Plural(n, "client") + ", a lock each"
			if contended {
				title = "acquires granted, " + style.Plural(n, "client") + " of one lock"
			}
			add(title, func(m *Measured) Distribution {
				if l := m.load(n, contended); l != nil {
					return l.Acquire
				}
				return Distribution{}
			})
		}
	}
	add("from a holder's death to the next grant", func(m *Measured) Distribution { return m.Free })
	return out
}

// The dimensions of a chart, in pixels. A chart is as wide as a narrow page, and the name of a bar is above it.
const (
	chartWidth  = 340.0
	chartMargin = 12.0
	barHeight   = 34.0
	crowded     = 5.0 // number of powers of ten from which on labels next to the ends have no room
)

// drawBars draws durations as bars on a logarithmic scale.
func drawBars(title string, bars []bar) template.HTML {
	least, most := bars[0].of.Min, bars[0].of.P99
	for _, b := range bars {
		least, most = min(least, b.of.Min), max(most, b.of.P99)
	}
	low := math.Floor(math.Log10(max(1, float64(least))))
	high := max(low+1, math.Ceil(math.Log10(max(1, float64(most)))))
	x := func(d time.Duration) float64 {
		return chartMargin + (math.Log10(max(1, float64(d)))-low)/(high-low)*(chartWidth-2*chartMargin)
	}
	height := barHeight*float64(len(bars)) + 24
	var b strings.Builder
	said := make([]string, len(bars))
	for i, bar := range bars {
		said[i] = fmt.Sprintf("%s %s", bar.name, brief(bar.of.P50))
	}
	text := func(s string) string { return template.HTMLEscapeString(s) }
	fmt.Fprintf(&b, `<svg viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" aria-label="%s">`, chartWidth, height, chartWidth, height, text(title+": medians: "+strings.Join(said, ", ")))
	for power := low; power <= high; power++ {
		d := time.Duration(math.Pow(10, power))
		anchor := "middle"
		switch power {
		case low:
			anchor = "start"
		case high:
			anchor = "end"
		}
		fmt.Fprintf(&b, `<line class="scale" x1="%.1f" x2="%.1f" y1="4" y2="%.1f"/>`, x(d), x(d), height-20)
		if high-low >= crowded && (power == low+1 || power == high-1) {
			continue // the label would overlap the label at the end
		}
		fmt.Fprintf(&b, `<text class="soft" x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, x(d), height-6, anchor, text(round(d)))
	}
	for i, bar := range bars {
		top := barHeight * float64(i)
		fmt.Fprintf(&b, `<text x="%.0f" y="%.1f">%s <tspan class="soft">%s</tspan></text>`, chartMargin, top+15, text(bar.name), text(brief(bar.of.P50)))
		fmt.Fprintf(&b, `<line class="range" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`, x(bar.of.Min), x(bar.of.P99), top+25, top+25)
		fmt.Fprintf(&b, `<rect class="most" x="%.1f" y="%.1f" width="%.1f" height="9"/>`, x(bar.of.P10), top+20.5, max(1, x(bar.of.P90)-x(bar.of.P10)))
		fmt.Fprintf(&b, `<line class="median" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`, x(bar.of.P50), x(bar.of.P50), top+18.5, top+31.5)
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String()) // every text in it is escaped
}

// round writes a duration that is a power of ten nanoseconds, such as "10 ms".
func round(d time.Duration) string {
	return strings.NewReplacer(".00", "", ".0", "").Replace(brief(d))
}
