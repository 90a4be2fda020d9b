package explorer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/draw"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/own"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// Request asks for an execution: the one of a counterexample, or another execution of the same clients.
type Request struct {
	// File is the content of the counterexample's file.
	File string `json:"file"`
	// Edited means that Actions replace the actions of the file, even if Actions is empty.
	Edited  bool              `json:"edited"`
	Actions []scenario.Action `json:"actions"`
	// Options are the options to change: new values, by name.
	Options map[string]string `json:"options"`
	// At is the number of the step after which the response lists the possible actions. 0 is the start of the
	// execution; a negative number is its end.
	At int `json:"at"`
}

// Response is the execution that was asked for, or the error.
type Response struct {
	Error   string            `json:"error,omitzero"` // why there is no execution; "" if there is one
	Target  string            `json:"target"`
	Doc     string            `json:"doc"`
	Wanted  string            `json:"wanted"` // name of the property that the counterexample is about
	Actions []scenario.Action `json:"actions"`
	// Steps are the states of the execution. The first is the state before the first action.
	Steps      []Step   `json:"steps"`
	At         int      `json:"at"`
	Enabled    []Choice `json:"enabled"` // actions that are possible after step At
	Properties []Judged `json:"properties"`
	Options    []Option `json:"options"`
	Diagram    string   `json:"diagram"`
	Strips     string   `json:"strips"`
	Saved      string   `json:"saved"` // the execution in the format of a counterexample file
	SavedName  string   `json:"savedName"`
}

// Step is the state after one step of an execution.
type Step struct {
	Text      string     `json:"text"` // what happened in the step
	Mark      string     `json:"mark,omitzero"`
	Time      int64      `json:"time"`
	Clients   []Client   `json:"clients"`
	Resources []Resource `json:"resources"`
}

// Client is the state of a client after a step, in words.
type Client struct {
	Name    string `json:"name"`
	Doing   string `json:"doing"`
	Believe string `json:"believes"`
	Link    string `json:"link"`
}

// Resource is something on the server, such as a queue.
type Resource struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Content int    `json:"content"`
	Owner   string `json:"owner"`
}

// Choice is an action that is possible next.
type Choice struct {
	Action scenario.Action `json:"action"`
	Text   string          `json:"text"`
	Fault  bool            `json:"fault"`
	Taken  bool            `json:"taken"` // the execution takes this action
}

// Judged is the verdict on one property.
type Judged struct {
	Name     string `json:"name"`
	Sentence string `json:"sentence"`
	Step     int    `json:"step,omitzero"` // number, from 1, of the step that violates the property; 0 if none does
	Explain  string `json:"explain,omitzero"`
	Cause    string `json:"cause,omitzero"`
}

// Option is an option of the lock and its value.
type Option struct {
	Name   string `json:"name"`
	Values string `json:"values"`
	Doc    string `json:"doc"`
	Value  string `json:"value"`
	Fixed  bool   `json:"fixed"` // the lock does not let the option be changed
}

// World is what can be explored. Named returns a lock by its name, or nil. Own are user-defined properties, which are
// judged as well.
type World struct {
	Named func(name string) *lock.Target
	Own   own.List
}

// Explore answers a request. The request and the response are JSON.
func (w World) Explore(request []byte) []byte {
	var q Request
	var r *Response
	err := json.Unmarshal(request, &q)
	if err == nil {
		r, err = w.explore(&q)
	}
	if err != nil {
		return Refused(err)
	}
	out, err := json.Marshal(r)
	if err != nil {
		return Refused(err)
	}
	return out
}

// Refused returns the JSON response for an error.
func Refused(err error) []byte {
	out, _ := json.Marshal(&Response{Error: err.Error()})
	return out
}

func (w World) explore(q *Request) (*Response, error) {
	ce, err := histories.DecodeCounterexample("the counterexample", []byte(q.File))
	if err != nil {
		return nil, err
	}
	target := w.Named(ce.Scenario.Target)
	if target == nil || ce.Exec != "" {
		return nil, fmt.Errorf("%s is not a lock of the simulated world, which alone can be explored", ce.Scenario.Target)
	}
	s := &ce.Scenario
	for name, value := range q.Options {
		if s.Options, err = s.Options.With(name, value); err != nil {
			return nil, err
		}
	}
	if err := s.Options.Check(); err != nil {
		return nil, err
	}
	if q.Edited {
		s.Schedule.Actions = q.Actions
	}
	r := sim.NewRunner(w.Own)
	x := exploration{target: target, ce: ce, own: w.Own, trace: r.Trace(target, s, ce.FailedAcquire)}
	x.seen = r.Monitor.Found & w.Own.Sometimes()
	return x.response(q.At), nil
}

// exploration is the execution of one request.
type exploration struct {
	target *lock.Target
	ce     *histories.Counterexample
	trace  *scenario.Trace
	own    own.List
	seen   property.Set // user-defined "sometimes" properties that the execution satisfies
}

func (x *exploration) response(at int) *Response {
	done := sim.Replay(x.trace)
	r := &Response{
		Target: x.target.Name, Doc: x.target.Doc, Wanted: x.ce.Property.String(), Actions: done.Schedule.Actions,
		Properties: x.judged(), Options: x.options(), Diagram: draw.SVG(x.trace, "step"), Strips: draw.Strips(x.trace),
	}
	if r.Actions == nil {
		r.Actions = []scenario.Action{}
	}
	if at < 0 || at > len(r.Actions) {
		at = len(r.Actions)
	}
	r.At = at
	r.Steps, r.Enabled = x.walk(&done, at)
	ce, err := x.counterexample(done)
	if err == nil {
		r.Saved = string(ce)
	}
	r.SavedName = histories.FileName(x.ce.Property, x.target.Name)
	return r
}

// walk repeats the execution. It returns the state after each step, and the actions that are possible after step at.
func (x *exploration) walk(s *scenario.Scenario, at int) (steps []Step, enabled []Choice) {
	words := draw.Transcript(x.trace)
	var w sim.Runner
	w.Begin(x.target, s)
	steps = append(steps, x.moment(&w.World, "the beginning", 0))
	if at == 0 {
		enabled = x.enabled(&w.World, at)
	}
	for i, a := range s.Schedule.Actions {
		w.Do(a)
		steps = append(steps, x.moment(&w.World, whose(a, words[i]), i+1))
		if at == i+1 {
			enabled = x.enabled(&w.World, at)
		}
	}
	return steps, enabled
}

// whose returns a step's text, beginning with the name of the client that takes the step, such as "c1 ". It adds the
// name if the text does not begin with it. A step without a client gets no name.
func whose(a scenario.Action, text string) string {
	if name := fmt.Sprintf("c%d ", a.Client); a.Client > 0 && !strings.HasPrefix(text, name) {
		return name + text
	}
	return text
}

func (x *exploration) moment(w *sim.World, text string, number int) Step {
	s := Step{Text: text, Clients: []Client{}, Resources: []Resource{}}
	if number > 0 {
		s.Time = x.trace.Steps[number-1].Time
	}
	for _, v := range x.trace.Violations {
		if draw.Decision(x.trace, v) == number && number > 0 && s.Mark == "" {
			s.Mark = "▶"
		}
		if v.Step+1 == number {
			s.Mark = "✗"
		}
	}
	for c := range x.trace.Scenario.Clients {
		s.Clients = append(s.Clients, x.client(w, uint8(c+1)))
	}
	for _, r := range w.Resources() {
		owner := ""
		if r.Owner != 0 {
			owner = draw.OwnerName(r.Owner)
		}
		s.Resources = append(s.Resources, Resource{r.Name, r.Properties, r.Content, owner})
	}
	return s
}

func (x *exploration) client(w *sim.World, c uint8) Client {
	st := w.Client(c)
	d := Client{Name: fmt.Sprintf("c%d", c), Doing: "nothing", Believe: "–", Link: "connected"}
	switch {
	case st.Dead:
		d.Doing, d.Link = "dead", "–"
		return d
	case st.Op != lock.NoOp:
		d.Doing = st.Op.String()
		if st.Phase != "" {
			d.Doing += ": " + st.Phase
		}
	case st.Left > 0:
		d.Doing = fmt.Sprintf("between calls, %s to come", property.Counted(st.Left, "call"))
	}
	if st.Held > 0 {
		d.Believe = "holds " + property.SlotName(x.target.Kind, int(st.Held))
	}
	switch {
	case st.Linked && !st.Connected:
		d.Link = "gone, and it does not know"
	case !st.Linked:
		d.Link = "not connected"
	}
	return d
}

// judged returns the verdicts on all properties that apply to the lock.
func (x *exploration) judged() (all []Judged) {
	applicable := property.Of(x.target)
	for p := range property.Count {
		if !applicable.Has(p) {
			continue
		}
		j := Judged{Name: p.String(), Sentence: p.SentenceOn(lock.BackendOf(x.target).Words, x.target.Kind)}
		if v, ok := x.violation(p); ok {
			j.Step, j.Explain, j.Cause = v.Step+1, v.Explain(), draw.Cause(x.trace, v)
		}
		all = append(all, j)
	}
	for i, p := range x.own {
		id := own.ID(i)
		j := Judged{Name: p.Name, Sentence: p.Sentence()}
		if v, ok := x.violation(id); ok {
			j.Step, j.Explain, j.Cause = v.Step+1, v.Explain(), v.Explain()
		}
		switch {
		case x.seen.Has(id):
			j.Name += ": seen"
		case p.Sometimes:
			j.Name += ": not seen"
		}
		all = append(all, j)
	}
	return all
}

// violation returns the first violation of property p.
func (x *exploration) violation(p property.Property) (scenario.Violation, bool) {
	i := slices.IndexFunc(x.trace.Violations, func(v scenario.Violation) bool { return v.Property == p })
	if i < 0 {
		return scenario.Violation{}, false
	}
	return x.trace.Violations[i], true
}

func (x *exploration) options() (all []Option) {
	o := x.trace.Scenario.Options
	usual := o.Defaults()
	fixed := x.target.Settled(usual)
	for _, opt := range usual.Table() {
		all = append(all, Option{opt.Name, opt.Values, opt.Doc, o.Value(opt.Name), usual.Value(opt.Name) != fixed.Value(opt.Name)})
	}
	return all
}

// counterexample returns the execution in the format of a counterexample file. The file is about the same property as
// before if that is violated, otherwise about the first violated one. If none is violated, the file says so, and its
// replay finds no violation.
func (x *exploration) counterexample(done scenario.Scenario) ([]byte, error) {
	ce := *x.ce
	v, ok := x.violation(ce.Property)
	if !ok && len(x.trace.Violations) > 0 {
		v = x.trace.Violations[0]
		ok = true
	}
	if ok {
		ce.Property = v.Property
		v.Detail = v.Explain()
	} else {
		v = scenario.Violation{Step: len(done.Schedule.Actions)}
		v.Property, v.Detail = ce.Property, "it is not violated"
	}
	ce.Violation, ce.Scenario, ce.Transcript = v, done, draw.Transcript(x.trace)
	ce.Suspected, ce.Tries = false, histories.Tries{}
	ce.Origin.Command = "edited in the explorer"
	return ce.Encode()
}
