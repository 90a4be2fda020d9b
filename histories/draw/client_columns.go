package draw

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/lockproof/lockproof/histories/style"
)

// clientColumns is the part of one line of a step that belongs to the clients, a column for each. On the first line, an
// arrow leads from the acting client's column to the right, if it sent a command. A dashed line crosses all columns if
// the step concerns all clients.
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

// cell is the text of a client's column in the i-th line of a step: a call, its answer, or the mark of the client's
// state.
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

// labels are the texts in a client's column for a step, one for each line.
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

// glyph is the line that shows a client's state. It is heavy during a call, and dashed if the connection is lost and
// the client does not know. It is dotted if the client is dead and the broker still has its connection. The number of
// the slot that the client believes it holds follows.
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
