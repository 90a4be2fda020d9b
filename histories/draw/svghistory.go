package draw

import (
	"fmt"
	"slices"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
)

// The measures of the page's picture of a history, in pixels.
const (
	clientHeight = 46
	eventWidth   = 18
	barHeight    = 14
	eventsX      = 64 // x coordinate where events begin, right of the clients' names
)

// maxEvents is the largest number of events in the picture. If the history is longer, only the last ones before the
// unexplained answer are drawn.
const maxEvents = 60

// svgHistory is a picture of a history. Time goes to the right, and a client's calls are bars on its line. A dot marks
// the moment at which a call takes effect in the linearization that was found.
type svgHistory struct {
	canvas
	h           *history.History
	prefix      *linear.Prefix
	lock        int
	first, last int // indices of the first and last drawn event
	rows        map[string]int
	x           []int // x coordinates of the events from first on
	calls       []drawnCall
}

// drawnCall is a client's call, as a bar of the picture.
type drawnCall struct {
	client string
	number int // number of the client, for its colour
	words  string
	inv    int // index of the call's event
	ret    int // index of the answer's event; beyond last if no answer is drawn
	wrong  bool
}

// History draws the history of one lock up to the first answer that no linearization explains. Dots show the
// linearization of the events before that answer.
func History(h *history.History, lock int, prefix *linear.Prefix) string {
	d := &svgHistory{h: h, prefix: prefix, lock: lock, last: min(prefix.Events, len(h.Events)-1), rows: make(map[string]int)}
	if d.last < 0 {
		return ""
	}
	d.first = max(0, d.last-maxEvents+1)
	d.gather()
	d.place()
	d.paint()
	label := "The history: a line for each client, a bar for each call, a dot where it has its effect."
	if prefix.Events < len(h.Events) {
		label += " The last answer has no explanation: " + prefix.Why
	}
	return d.picture(label)
}

// gather collects the calls to draw, with their clients and words.
func (d *svgHistory) gather() {
	open := make(map[int32]int) // by process: the index in d.calls of its call under way
	for i := 0; i <= d.last; i++ {
		e := d.h.Events[i]
		if int(e.Lock) != d.lock || e.Process < 0 {
			continue
		}
		who := d.h.Who(e.Process)
		if e.Type == history.Invoke {
			open[e.Process] = len(d.calls)
			d.calls = append(d.calls, drawnCall{client: who, inv: i, ret: d.last + 1, words: invocationWords(e, d.h.Kind)})
			continue
		}
		if k, ok := open[e.Process]; ok {
			delete(open, e.Process)
			d.calls[k].ret, d.calls[k].wrong = i, i == d.prefix.Events
			d.calls[k].words += ": " + completionWords(e, d.h.Kind)
		}
	}
	d.calls = slices.DeleteFunc(d.calls, func(c drawnCall) bool { return c.ret < d.first })
	var names []string
	for _, c := range d.calls {
		if !slices.Contains(names, c.client) {
			names = append(names, c.client)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return slices.Compare([]byte(a), []byte(b))
	})
	for i, name := range names {
		d.rows[name] = i
	}
	for i := range d.calls {
		d.calls[i].number = d.rows[d.calls[i].client] + 1
	}
}

// place gives each event its x coordinate, so that the words of a call fit above its bar.
func (d *svgHistory) place() {
	d.x = make([]int, d.last-d.first+2)
	at := eventsX
	for i := range d.x {
		at += eventWidth
		for _, c := range d.calls {
			if c.ret == d.first+i {
				at = max(at, d.at(c.inv)+textWidth(c.words)+eventWidth)
			}
		}
		d.x[i] = at
	}
	d.width = at
	d.height = clientHeight*len(d.rows) + 30 + bandHeight*len(d.bandsDrawn())
}

// at is the x coordinate of an event. Events before the first drawn one are at the left edge.
func (d *svgHistory) at(event int) int {
	if event < d.first {
		return eventsX
	}
	return d.x[event-d.first]
}

func (d *svgHistory) y(row int) int { return 20 + clientHeight*row + clientHeight/2 }

func (d *svgHistory) paint() {
	d.shade()
	for name, row := range ordered(d.rows) {
		d.text("bold", clientColor(row+1), margin, d.y(row), name)
	}
	d.occurrences()
	for i := range d.calls {
		d.call(&d.calls[i])
	}
	for _, e := range d.prefix.Effects {
		d.effect(&e)
	}
	if d.prefix.Events < len(d.h.Events) {
		x := d.at(d.last)
		d.line("ends", "", x, 14, x, d.height-20)
		d.text("bad", "", max(eventsX, x-textWidth("no explanation")), d.height-8, "no explanation")
	}
}

// ordered iterates over the names and numbers of rows, from the top row down.
func ordered(rows map[string]int) func(func(string, int) bool) {
	names := make([]string, len(rows))
	for name, row := range rows {
		names[row] = name
	}
	return func(yield func(string, int) bool) {
		for row, name := range names {
			if !yield(name, row) {
				return
			}
		}
	}
}

// call draws the bar of a call. The bar has no right end if the call has no answer.
func (d *svgHistory) call(c *drawnCall) {
	y, x1, x2 := d.y(c.number-1), d.at(c.inv), d.at(min(c.ret, d.last+1))
	class := "call"
	if c.wrong {
		class = "call wrong"
	}
	d.rect(class, clientColor(c.number), x1, y, max(4, x2-x1), barHeight)
	d.text(map[bool]string{true: "bad"}[c.wrong], "", x1, y-8, c.words)
}

// effect draws the moment at which a call takes effect.
func (d *svgHistory) effect(e *linear.Effect) {
	i := slices.IndexFunc(d.calls, func(c drawnCall) bool { return c.inv == e.Invocation })
	if i < 0 || int(e.At) < d.first || int(e.At) > d.last {
		return
	}
	c := &d.calls[i]
	x := d.at(int(e.At))
	x += int(float64(d.at(min(int(e.At)+1, d.last+1))-x) * (e.At - float64(int(e.At))))
	x = min(max(x+5, d.at(c.inv)+5), d.at(c.ret)-5)
	d.titled("var(--text)", x, d.y(c.number-1)+barHeight/2, 4, e.What)
}

// occurrences draws the events that no client caused, such as crashes and restarts.
func (d *svgHistory) occurrences() {
	for i := d.first; i <= d.last; i++ {
		e := d.h.Events[i]
		if e.F.Op() != lock.NoOp || !e.F.Occurrence() || e.F.Machine() || e.F == history.Other {
			continue
		}
		words := e.F.String()
		if e.F.Whose() {
			words = fmt.Sprintf("%s %s", d.h.Who(e.Target), words)
		}
		d.line("occurs", "", d.at(i), 14, d.at(i), d.height-20)
		d.text("warn", "", d.at(i)+2, 8, words)
	}
}
