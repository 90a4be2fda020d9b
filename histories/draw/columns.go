package draw

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lockproof/lockproof/histories/style"
)

// drawing is a timeline with measured columns.
type drawing struct {
	*timeline
	style style.Style
	// compact says that the columns of the clients have no room for words, which are then next to the command.
	compact bool
	// The widths of the columns; those of the clients are in the order of timeline.drawn. The time has a column only
	// if it matters.
	step         int
	time         int
	clientColumn []int
	wire         int
	state        int
}

const (
	gap      = 2
	leader   = 2 // "▸ "
	minWire  = 36
	minState = 14
	roomy    = 50 // enough for the longest usual command with its reply
)

// layOut measures a timeline's columns. Without enough room, the words of the clients' columns move to the wire's
// column, which is wrapped.
func layOut(s *timeline, style style.Style) *drawing {
	d := &drawing{timeline: s, style: style}
	d.measure()
	if d.fit() < min(d.wire, roomy) {
		d.compact = true
		d.measure()
	}
	d.wire = max(min(d.wire, d.fit()), minWire)
	return d
}

// measure computes the columns' natural widths.
func (d *drawing) measure() {
	d.clientColumn = make([]int, len(d.drawn))
	for i, client := range d.drawn {
		d.clientColumn[i] = utf8.RuneCountInString(clientName(client))
	}
	for i := range d.steps {
		m := &d.steps[i]
		d.step = max(d.step, len(strconv.Itoa(m.number)))
		if m.leap {
			d.time = max(d.time, len(strconv.FormatInt(m.time, 10)))
		}
		d.wire = max(d.wire, utf8.RuneCountInString(strings.Join(d.words(m), " ")))
		for _, l := range d.broker(m, nil, 1<<10) {
			d.state = max(d.state, utf8.RuneCountInString(l))
		}
		for j, client := range d.drawn {
			for _, label := range d.labels(m, client) {
				d.clientColumn[j] = max(d.clientColumn[j], utf8.RuneCountInString(label))
			}
		}
	}
	d.state = min(d.state, max(minState, d.style.Columns()/4))
}

// fit is the width that is left for the wire's column.
func (d *drawing) fit() int {
	used := 2 + d.step + gap + leader + gap + d.state
	if d.time > 0 {
		used += gap + d.time
	}
	for _, n := range d.clientColumn {
		used += n + gap
	}
	return d.style.Columns() - used
}
