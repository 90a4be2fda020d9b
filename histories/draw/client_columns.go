package draw

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/lockproof/lockproof/histories/style"
)

// clientColumns are the clients' columns in one line of a step. On the first line an arrow for the acting client's
// command crosses the columns to its right, and an event of all clients crosses all columns.
func (d *drawing) clientColumns(m *step, i int) style.Line {
	var l style.Line
	fill := " "
	if i == 0 && m.noticeEnds {
		fill = "╌"
	}
	for c, client := range d.drawn {
		text := d.cell(m, client, i)
		l = append(l, style.ClientColour(client).Of(text))
		rest := d.clientColumn[c] + gap - utf8.RuneCountInString(text)
		if i == 0 && m.actor == client && m.command != "" {
			fill = "─"
			if utf8.RuneCountInString(text) > 1 {
				l, rest = append(l, style.Span{Text: " "}), rest-1
			}
		}
		l = append(l, style.Dim.Of(strings.Repeat(fill, rest)))
	}
	if fill == "─" {
		return append(l, style.Dim.Of("▸ "))
	}
	return append(l, style.Dim.Of(fill+" "))
}

// cell is a client's column in the i-th line of a step: its call, the answer, or its state.
func (d *drawing) cell(m *step, client, i int) string {
	if label := at(d.labels(m, client), i); label != "" {
		return label
	}
	glyph := m.columns[client-1].glyph()
	if i == 0 && client == m.actor && m.command != "" {
		glyph = strings.NewReplacer("│", "├", "┃", "┣").Replace(glyph)
	}
	return glyph
}

// labels are the words in a client's column for a step, by line.
func (d *drawing) labels(m *step, client int) []string {
	var out []string
	for i := range m.calls {
		if c := &m.calls[i]; c.client == client {
			out = append(out, d.label(c))
		}
	}
	if m.exit != "" && m.actor == client {
		out = append(out, m.exit)
	}
	return out
}

// label is the text of a call in its client's column; in a compact drawing, only its mark.
func (d *drawing) label(c *call) string {
	mark := "╺"
	switch {
	case c.end == "":
		mark = "┏"
	case c.begin == "":
		mark = "┗"
	}
	if d.compact {
		return mark
	}
	return mark + " " + c.words()
}

// glyph is a client's line: heavy during a call, dashed while its connection is lost without its knowledge, and
// dotted while it is dead and the broker still has its connection. It includes the slot that the client believes it
// holds.
func (l column) glyph() string {
	held := ""
	switch {
	case l.held > 0:
		held = fmt.Sprint(l.held)
	case l.held == unnumbered:
		held = "•"
	}
	switch {
	case l.halfOpen:
		return "┊"
	case l.dead:
		return ""
	case l.calling && l.interrupted:
		return "╏" + held
	case l.calling:
		return "┃" + held
	case l.interrupted:
		return "╎" + held
	}
	return "│" + held
}
