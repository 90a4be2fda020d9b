package draw

import (
	"slices"
	"strings"

	"github.com/lockproof/lockproof/model/scenario"
)

// wire lists the words of the step's command, its reply and its other events, for wrapping. A phrase that must stay on
// one line, such as the reply, is one word.
func (m *step) wire() []string {
	words := strings.Fields(m.command)
	if m.reply != "" {
		words = append(words, "→ "+m.reply)
	}
	for _, more := range append([]string{m.said}, m.errors...) {
		if more != "" && len(words) > 0 {
			words[len(words)-1] += ";"
		}
		words = append(words, strings.Fields(more)...)
	}
	return words
}

// words describes a call: "acquire", "holds 1", or "verify: held" if it began and ended in one step.
func (c *call) words() string { return strings.Trim(c.begin+": "+c.end, ": ") }

// sentence describes a whole step: the calling client, its command with the reply, and the result of the call.
func (m *step) sentence() []string {
	var words, ends []string
	if m.command != "" { // a client sent it
		words = append(words, clientName(m.actor))
	}
	for i := range m.calls {
		c := &m.calls[i]
		if c.begin != "" {
			words = append(words, c.begin+":")
		}
		if c.end != "" {
			ends = append(ends, "⇒ "+c.end)
		}
	}
	return slices.Concat(words, m.wire(), ends)
}

// Transcript describes an execution in plain sentences, one step in each line. It is for people who read the file of a
// counterexample without lockproof.
func Transcript(t *scenario.Trace) []string {
	var lines []string
	s := tell(t)
	for i := range s.steps {
		m := &s.steps[i]
		if m.number == 0 {
			continue
		}
		text := strings.Join(m.sentence(), " ")
		for _, v := range m.broken {
			text += " " + shows + " " + v.Name()
		}
		for _, v := range m.decides {
			text += " " + decided + " " + v.Name()
		}
		lines = append(lines, text)
	}
	return lines
}
