package draw

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// The measures of the page's diagram, in pixels.
const (
	margin    = 20
	rowHeight = 28
	slotWidth = 44
)

// svgDiagram is a timeline with the positions of its columns and rows.
type svgDiagram struct {
	*timeline
	name string
	canvas
	rows    []int       // y coordinate of each step's middle
	columnX map[int]int // x coordinate of each client's line
	slots   []int       // x coordinate of each lock's first slot
	most    []int       // number of the highest slot of each lock that ever exists
	admin   []int       // x coordinate of each lock's administration mutex
	words   int         // x coordinate of the commands and replies
}

// SVG draws an execution as a space-time diagram in which time goes down. A client's line is thick during a call, and
// banded while the client believes that it holds a slot. Arrows lead from clients to the broker, where a slot is a bar
// in the colour of the client whose connection holds it. If name is "x1", step 6 has the link target "x1-6"; "" means
// no link targets.
func SVG(t *scenario.Trace, name string) string {
	s := tell(t)
	d := &svgDiagram{timeline: s, name: name}
	d.placeRows()
	d.placeColumns()
	for i := range s.steps {
		d.background(i)
	}
	for l := range s.locks {
		for slot := 1; slot <= d.most[l]; slot++ {
			d.slot(l, slot)
		}
		d.holders(d.runs(administrator, l), d.admin[l])
	}
	for i := range s.steps {
		d.clientLines(i)
	}
	for i := range s.steps {
		d.begin(d.id(i))
		d.wide("spot", d.rows[i]-rowHeight/2, rowHeight)
		d.step(i)
		d.end()
	}
	d.heads()
	return d.picture(fmt.Sprintf("Space-time diagram of %s: time goes down, a column for each client, what goes over the wire, and what the broker has.", style.Plural(len(t.Steps), "step")))
}

// id is the link target of a row, such as "x1-6" for step 6; "" if the row has none.
func (d *svgDiagram) id(i int) string {
	if d.name == "" || d.steps[i].number == 0 {
		return ""
	}
	return fmt.Sprintf("%s-%d", d.name, d.steps[i].number)
}

// placeRows sets the height of each row, with room below it for the properties violated in its step.
func (d *svgDiagram) placeRows() {
	y := 2*rowHeight + rowHeight/2
	for i := range d.steps {
		d.rows = append(d.rows, y)
		y += rowHeight * (1 + len(d.steps[i].broken))
	}
	d.height = y
}

// placeColumns makes a client's column as wide as its longest words.
func (d *svgDiagram) placeColumns() {
	x := margin + 40
	d.columnX = make(map[int]int)
	for _, c := range d.drawn {
		d.columnX[c] = x
		widest := textWidth(clientName(c))
		for i := range d.steps {
			for _, call := range d.steps[i].calls {
				if call.client == c {
					widest = max(widest, textWidth(call.words()))
				}
			}
		}
		x += 12 + widest + 2*margin
	}
	x += margin
	for l := range d.locks {
		d.slots = append(d.slots, x)
		d.most = append(d.most, d.largest(l))
		x += d.most[l] * slotWidth
		d.admin = append(d.admin, x)
		if d.runs(administrator, l) != nil {
			x += slotWidth
		}
		x = max(x, d.slots[l]+textWidth(d.locks[l])) + margin
	}
	d.words = x
}

func (d *svgDiagram) heads() {
	for _, c := range d.drawn {
		d.text("bold", clientColor(c), d.columnX[c]-4, rowHeight/2, clientName(c))
	}
	for l, name := range d.locks {
		d.text("head", "", d.slots[l]-15, rowHeight/2, name)
		for slot := 1; slot <= d.most[l] && d.kind == lock.Semaphore; slot++ {
			d.centered("head", "", d.slots[l]+(slot-1)*slotWidth, 3*rowHeight/2, strconv.Itoa(slot))
		}
		if d.runs(administrator, l) != nil {
			d.centered("head", "", d.admin[l], 3*rowHeight/2, "admin")
		}
	}
	d.text("head", "", d.words, rowHeight/2, "command → reply")
}

// background colours the row of a step that decides or shows a violation.
func (d *svgDiagram) background(i int) {
	m := &d.steps[i]
	class := "event"
	if m.marked() {
		class = "band"
	} else if !m.fault {
		return
	}
	d.wide(class, d.rows[i]-rowHeight/2, (1+len(m.broken))*rowHeight)
}

// clientLines draws the clients' lines through a row: the state before the step down to the row's middle, and the state
// after it below.
func (d *svgDiagram) clientLines(i int) {
	m, before, y := &d.steps[i], &d.steps[max(0, i-1)], d.rows[i]
	for _, c := range d.drawn {
		d.clientLine(before.columns[c-1], c, y-rowHeight/2, y)
		d.clientLine(m.columns[c-1], c, y, y+rowHeight/2)
	}
}

func (d *svgDiagram) clientLine(l column, client, y1, y2 int) {
	x, color, class := d.columnX[client], clientColor(client), "idle"
	if l.held != 0 {
		d.line("holds", color, x, y1, x, y2)
	}
	switch {
	case l.halfOpen:
		class += " half-open"
	case l.dead:
		return
	case l.calling:
		class = "busy"
	}
	if l.interrupted {
		class += " cut"
	}
	d.line(class, color, x, y1, x, y2)
}

// step draws a row's events and violations.
func (d *svgDiagram) step(i int) {
	m, y := &d.steps[i], d.rows[i]
	class := ""
	if m.fault {
		class = "warn"
	}
	if m.marked() {
		class = "bad"
	}
	if m.number > 0 {
		d.text("soft", "", margin, y, strconv.Itoa(m.number))
	}
	if len(m.decides) > 0 {
		d.text("bad", "", 2, y, decided)
	}
	d.text(class, "", d.words, y, strings.Join(m.wire(), " "))
	if m.actor > 0 && m.command != "" {
		x := d.columnX[m.actor]
		d.arrow(x+d.labelled(m), y, d.slots[0]-margin)
		d.dot(clientColor(m.actor), x, y, 4)
	}
	for j := range m.calls {
		c := &m.calls[j]
		d.text("", clientColor(c.client), d.columnX[c.client]+12, y, c.words())
	}
	switch m.exit {
	case died:
		d.cross(d.columnX[m.actor], y)
	case noticed:
		d.line("noticed", "", d.columnX[m.actor]-6, y, d.columnX[m.actor]+6, y)
	}
	for j, v := range m.broken {
		d.text("bad", "", margin, y+(j+1)*rowHeight, "✗ "+v.Name()+": "+v.Explain())
	}
}

// labelled is the width, in pixels, of the words next to the acting client's line.
func (d *svgDiagram) labelled(m *step) int {
	room := 8
	for i := range m.calls {
		if m.calls[i].client == m.actor {
			room = max(room, 12+textWidth(m.calls[i].words())+6)
		}
	}
	return room
}
