package draw

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// Draw draws an execution for a terminal as a space-time diagram. Time goes down, and each step has a line. The columns
// show each client's state, the command with its reply, and the broker's state. An arrow leads from the acting client
// to the command. A horizontal rule marks a violation.
func Draw(w io.Writer, t *scenario.Trace, s style.Style) error {
	d := layOut(tell(t), s)
	var b strings.Builder
	for _, l := range title(t, s) {
		s.Paint(&b, l)
	}
	lines := d.lines()
	for _, l := range append(lines, legend(text(lines), lock.WordsOf(t.Scenario.Target, t.Scenario.Server), s)...) {
		s.Paint(&b, l)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// title has the target's name, and the execution's settings.
func title(t *scenario.Trace, s style.Style) []style.Line {
	target := style.Printable(t.Scenario.Target)
	words := append([]string{target + " ·"}, Settings(t)...)
	var out []style.Line
	for i, text := range style.Fill(words, " ", s.Columns()) {
		if i == 0 && strings.HasPrefix(text, target) {
			out = append(out, style.Line{style.Bold.Of(target), style.Dim.Of(text[len(target):])})
			continue
		}
		out = append(out, style.Line{style.Dim.Of(text)})
	}
	return append(out, nil)
}

// Settings lists an execution's locks, and the options that differ from their defaults.
func Settings(t *scenario.Trace) []string {
	var items []string
	for _, l := range t.Scenario.Locks {
		switch kind := t.History.Kind; {
		case l.Missing != 0:
			items = append(items, fmt.Sprintf("%s with slots %s", l.Name, l.Existing()))
		case kind == lock.Semaphore:
			items = append(items, fmt.Sprintf("%s with %s", l.Name, style.Plural(int(l.Slots), "slot")))
		case kind == lock.PersistentMutex && l.Slots == 0:
			items = append(items, l.Name+", not created yet")
		default: // locks other than semaphores have no slots to list
			items = append(items, l.Name)
		}
	}
	for i, c := range t.Scenario.Clients {
		if c.With > 0 {
			items = append(items, fmt.Sprintf("c%d is one process with c%d", i+1, c.With))
		}
	}
	for _, o := range t.Scenario.Changed() {
		items = append(items, o[0]+"="+o[1])
	}
	return style.List(items)
}

func (d *drawing) lines() []style.Line {
	out := d.head()
	var before *step
	for i := range d.steps {
		m := &d.steps[i]
		out = append(out, d.row(m, before)...)
		out = append(out, d.rule(m)...)
		before = m
	}
	return out
}

func (d *drawing) head() []style.Line {
	l := d.margin("step", "ms")
	for i, client := range d.drawn {
		l = append(l, style.Line{style.ClientColour(client).Of(clientName(client))}.Pad(d.clientColumn[i]+gap)...)
	}
	l = append(l, style.Line{{Text: "  "}, style.Dim.Of("command → reply")}.Pad(leader+d.wire+gap)...)
	name := d.server
	if len(d.locks) == 1 {
		name = style.Printable(d.locks[0])
	}
	return []style.Line{append(l, style.Dim.Of(name))}
}

// margin is the left part of a line: the step's number and its time.
func (d *drawing) margin(step, ms string) style.Line {
	text := fmt.Sprintf("%*s", 2+d.step, step)
	if d.time > 0 {
		text += fmt.Sprintf("%*s", gap+d.time, ms)
	}
	return style.Line{style.Dim.Of(text + strings.Repeat(" ", gap))}
}

// row is the lines of one step: one, or more if a column needs more.
func (d *drawing) row(m, before *step) []style.Line {
	wire := style.Fill(d.words(m), " ", d.wire)
	state := d.broker(m, before, d.state)
	height := max(len(wire), len(state))
	for _, client := range d.drawn {
		height = max(height, len(d.labels(m, client)))
	}
	var out []style.Line
	for i := range height {
		l := d.margin("", "")
		if i == 0 {
			l = d.number(m)
		}
		l = append(l, d.clientColumns(m, i)...)
		l = append(l, style.Line{d.colour(m).Of(at(wire, i))}.Pad(d.wire+gap)...)
		cell := style.Plain.Of(at(state, i))
		if state == nil {
			cell = style.Dim.Of("│")
		}
		out = append(out, append(l, cell))
	}
	return out
}

// number is the margin of a step's first line. It shows the time only if more time passed than one command takes.
func (d *drawing) number(m *step) style.Line {
	step, ms := "", ""
	if m.number > 0 {
		step = strconv.Itoa(m.number)
	}
	if m.leap {
		ms = strconv.FormatInt(m.time, 10)
	}
	l := d.margin(step, ms)
	switch {
	case len(m.broken) > 0:
		return style.Line{style.Red.Of(shows), style.Plain.Of(l[0].Text[1:])}
	case len(m.decides) > 0:
		return style.Line{style.Red.Of(decided), style.Plain.Of(l[0].Text[1:])}
	}
	return l
}

func (d *drawing) colour(m *step) style.Colour {
	switch {
	case m.marked():
		return style.Red
	case m.fault:
		return style.Yellow
	}
	return style.Plain
}

// words are the words in the column of commands and replies.
func (d *drawing) words(m *step) []string {
	switch {
	case m.number == 0:
		return nil
	case d.compact:
		return m.sentence()
	}
	return m.wire()
}

// broker describes the broker's state of the locks that changed in the step. At a violation it describes all locks. If
// there are several locks, each is on a separate line.
func (d *drawing) broker(m, before *step, width int) []string {
	var out []string
	for i := range m.truth {
		if len(m.broken) == 0 && before != nil && m.truth[i] == before.truth[i] {
			continue
		}
		parts := []string{"not known"}
		if !d.unknown {
			parts = stateWords(&m.truth[i], d.kind)
		}
		if len(m.truth) > 1 {
			parts[0] = style.Printable(d.locks[i]) + " " + parts[0]
		}
		out = append(out, style.Fill(parts, "  ", width)...)
	}
	return out
}

// rule draws a horizontal rule below a step, with the properties whose violation shows there.
func (d *drawing) rule(m *step) []style.Line {
	if len(m.broken) == 0 {
		return nil
	}
	width := 2 + d.step + gap
	out := []style.Line{{style.Red.Of(strings.Repeat("━", min(d.style.Columns(), d.style.Columns()-d.fit()+d.wire)))}}
	for _, v := range m.broken {
		text := v.Name() + ": " + v.Property.Sentence(d.kind)
		out = append(out, style.Beside(style.Line{style.Red.Of(shows)}, strings.Fields(text), style.Red, width, d.style.Columns()-width)...)
		out = append(out, style.Beside(nil, strings.Fields(style.Printable(v.Explain())), style.Plain, width, d.style.Columns()-width)...)
	}
	return append(out, out[0])
}

func clientName(client int) string { return fmt.Sprintf("c%d", client) }

// at is the i-th line; "" if there are fewer lines.
func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// text is the text of lines, without colours.
func text(lines []style.Line) string {
	var b strings.Builder
	for _, l := range lines {
		style.Style{}.Paint(&b, l)
	}
	return b.String()
}
