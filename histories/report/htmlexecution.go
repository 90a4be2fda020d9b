package report

import (
	"cmp"
	"fmt"
	"html"
	"html/template"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/draw"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// Execution is an execution that a page shows.
type Execution struct {
	Trace *scenario.Trace
	// Command is the command that repeats the execution; may be empty.
	Command string
	// Again says how often the execution was reproduced; see [Found.Reproduced]. It may be empty.
	Again string
	// Prefix explains the longest linearizable prefix of the execution's history; nil if the history is not the
	// evidence.
	Prefix *linear.Prefix
	// File is the execution as a counterexample's file, for the explorer. It is empty if the explorer cannot carry it
	// out.
	File string
	// Well is the most similar execution without a violation; nil if there is none. Parts is the index of the first
	// step in which it differs. Sought says that such an execution was searched for.
	Well   *scenario.Trace
	Parts  int
	Sought bool
}

type executionData struct {
	plain                    string // the diagram without link targets, to recognize equal executions
	file, Explore            string // the counterexample for the explorer, and the link to it in the explorer
	Name                     string // name of the section, for links
	Target, Settings         string
	Only                     bool   // the page's title already has the target's name
	Recorded                 bool   // the steps are known only in words, so there is no picture
	Drawn                    string // diagram in plain text; may be empty
	Again                    string
	Commands                 []string
	Broken                   []brokenData
	Diagram, Strips, History template.HTML
	What                     string // what a strip is about: a slot, or the lock
	Ends                     string // why the explained prefix of the history ends
	Steps                    []stepData
	Well                     *wellData
	Alone                    bool // a search found no execution without a violation
}

type brokenData struct {
	Property, Sentence, Explanation string
	Expected                        string // what a correct lock does instead; "" if unknown
	Cause                           template.HTML
	Decided, Shows                  int // step numbers; Decided is 0 if it equals Shows or is unknown
	Over                            bool
}

// title names the execution in the explorer's list: by the first property that it violates, or else by its target.
func (d *executionData) title() string {
	for _, b := range d.Broken {
		return b.Property
	}
	return d.Target
}

// stepData is a step in words. Mark is the mark of a step that shows a violation, or that made one unavoidable; else
// "".
type stepData struct {
	Number     int
	Text, Mark string
}

// wellData compares an execution with the most similar one that has no violation.
type wellData struct {
	Same         int // number of steps at the beginning that both executions share
	Violated, Ok []stepData
	More         bool // the execution without a violation has more steps than shown
	Faultless    bool // the violating execution has a fault after the steps that both share
}

// data is the template's data for the n-th execution on the page.
func (x *Execution) data(n int, plain string) executionData {
	s := &x.Trace.Scenario
	name := fmt.Sprintf("x%d", n)
	d := executionData{
		plain: plain, file: x.File, Name: name, Target: s.Target, Settings: strings.Join(draw.Settings(x.Trace), " "), Again: x.Again,
		Diagram: template.HTML(draw.SVG(x.Trace, name)), Strips: template.HTML(draw.Strips(x.Trace)), Steps: steps(x.Trace),
		What: property.ForKind(x.Trace.History.Kind, "a slot", "the lock"), Alone: x.Sought && x.Well == nil,
	}
	for _, v := range x.Trace.Violations {
		b := brokenData{
			Property: v.Name(), Sentence: v.Property.SentenceOn(lock.WordsOf(x.Trace.Scenario.Target, x.Trace.Scenario.Server), x.Trace.History.Kind), Explanation: v.Explain(),
			Expected: draw.Expected(x.Trace, v), Cause: linked(draw.Cause(x.Trace, v), name, len(x.Trace.Steps)),
			Decided: draw.Decision(x.Trace, v), Shows: v.Step + 1, Over: v.Step >= len(x.Trace.Steps),
		}
		d.Broken = append(d.Broken, b)
		if v.Property == property.Linearizable && x.Prefix != nil {
			d.History, d.Ends = drawnHistory(&x.Trace.History, int(v.Lock), x.Prefix)
		}
	}
	if x.Well != nil {
		d.Well = x.well()
	}
	return d
}

// recordedData is the template's data for the n-th execution on the page, a counterexample that was recorded and not
// replayed.
func recordedData(n int, c *histories.Counterexample) executionData {
	name, s := fmt.Sprintf("x%d", n), &c.Scenario
	trace := &scenario.Trace{Scenario: *s, History: history.History{Kind: c.Violation.Kind}}
	v := c.Violation
	shows := cmp.Or(c.Shown.Line, v.Step+1)
	d := executionData{
		Name: name, Target: s.Target, Settings: strings.Join(draw.Settings(trace), " "), Recorded: true,
		Again: "This was recorded when it was found, and not carried out again.",
		Broken: []brokenData{{
			Property: v.Name(), Sentence: c.Property.SentenceOn(lock.WordsOf(s.Target, s.Server), c.Violation.Kind),
			Cause: linked(cmp.Or(c.Shown.Cause, v.Detail), name, len(c.Transcript)), Expected: c.Shown.Expected, Shows: shows, Over: shows > len(c.Transcript),
		}},
		Drawn: strings.Join(c.Shown.Diagram, "\n"),
	}
	for i, text := range c.Transcript {
		d.Steps = append(d.Steps, stepData{Number: i + 1, Text: text})
	}
	return d
}

// steps are an execution's steps in words, with their marks.
func steps(t *scenario.Trace) []stepData {
	marks := make(map[int]string)
	for _, v := range t.Violations {
		if at := draw.Decision(t, v); at > 0 {
			marks[at] = "▶"
		}
	}
	for _, v := range t.Violations {
		marks[v.Step+1] = "✗"
	}
	var all []stepData
	for i, text := range draw.Transcript(t) {
		all = append(all, stepData{Number: i + 1, Text: text, Mark: marks[i+1]})
	}
	return all
}

// alongside is the number of steps that are shown of both executions from the first difference on. common is the number
// of steps shown before that.
const alongside, common = 12, 2

// well compares both executions from shortly before the step in which they first differ.
func (x *Execution) well() *wellData {
	from := max(0, x.Parts-common)
	part := func(all []stepData) []stepData { return all[min(from, len(all)):min(x.Parts+alongside, len(all))] }
	violated, ok := steps(x.Trace), steps(x.Well)
	left := slices.ContainsFunc(x.Trace.Steps[min(x.Parts, len(x.Trace.Steps)):], func(s scenario.TraceStep) bool { return s.Action.Kind.Fault() })
	return &wellData{Faultless: left, Same: x.Parts, Violated: part(violated), Ok: part(ok), More: len(ok) > x.Parts+alongside}
}

var stepWord = regexp.MustCompile(`\bstep (\d+)\b`)

// linked converts a text to HTML. Each "step 3" in it becomes a link to that step of the named diagram, for steps from
// 1 to most.
func linked(text, name string, most int) template.HTML {
	return template.HTML(stepWord.ReplaceAllStringFunc(html.EscapeString(style.Printable(text)), func(word string) string {
		number := strings.TrimPrefix(word, "step ")
		if n, err := strconv.Atoi(number); err != nil || n < 1 || n > most {
			return word
		}
		return `<a href="#` + name + "-" + number + `">` + word + `</a>`
	}))
}

type historyData struct {
	Name    string
	Picture template.HTML
	Ends    string
}

// data is the template's data for a history.
func (h *History) data() historyData {
	d := historyData{Name: "the history"}
	if h.Lock < len(h.History.Locks) && len(h.History.Locks) > 1 {
		d.Name += " of " + h.History.Locks[h.Lock]
	}
	d.Picture, d.Ends = drawnHistory(h.History, h.Lock, h.Prefix)
	return d
}

// drawnHistory draws a history, and says why the explained prefix ends.
func drawnHistory(h *history.History, lock int, p *linear.Prefix) (picture template.HTML, ends string) {
	picture = template.HTML(draw.History(h, lock, p))
	explained := "Each dot is a moment at which a call had its effect: together they explain every answer"
	switch {
	case p.Events >= len(h.Events) && p.Effects == nil:
		return picture, "The whole history is linearizable."
	case p.Events >= len(h.Events):
		return picture, "The whole history is linearizable. " + explained + "."
	}
	ends = fmt.Sprintf("The longest linearizable prefix ends before %s: %s.", h.Moment(p.Events), p.Why)
	if p.Effects != nil {
		ends += " " + explained + " up to there."
	}
	return picture, ends
}
