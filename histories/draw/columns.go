package draw

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lockproof/lockproof/histories/style"
)

// drawing is an execution's timeline with the widths of its columns, ready to be printed.
type drawing struct {
	*timeline
	style style.Style
	// compact says that the clients' columns are too narrow for words. The words are then printed next to the command.
	compact bool
	// The widths of the columns, in characters. clientColumn is in the order of timeline.drawn. time is 0 if no step
	// takes longer than a command.
	step         int
	time         int
	clientColumn []int
	wire         int
	state        int
}

const (
	gap      = 2
	leader   = 2 // width of "▸ "
	minWire  = 36
	minState = 14
	roomy    = 50 // enough for the longest usual command with its reply
)

// layOut measures a timeline's columns. If the terminal is too narrow, the words of the clients' columns move to the
// column of commands, which is wrapped.
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

// measure computes the width that each column needs.
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

// fit is the width, in characters, that the other columns leave for the column of commands and replies.
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
