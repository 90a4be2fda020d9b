package report

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Porcupine's page needs two changes before it can stand in another: it lists partial linearizations
// in the order of a Go map, so that the page of one history differs from run to run; and it measures
// its texts while it loads, which inside another page may be before anything has a size.

var (
	dataBegins = []byte("const data = ")
	dataEnds   = []byte("\n")
	renders    = []byte("render(data)\n")
	rendersIn  = []byte("requestAnimationFrame(() => render(data))\n")
)

// embeddable is porcupine's page with those changes. A page that is not as expected stays as it is.
func embeddable(page []byte) []byte {
	before, rest, ok := bytes.Cut(page, dataBegins)
	if !ok {
		return page
	}
	data, after, ok := bytes.Cut(rest, dataEnds)
	if !ok {
		return page
	}
	var v visualization
	if err := json.Unmarshal(data, &v, json.RejectUnknownMembers(true)); err != nil {
		return page
	}
	for i := range v.Partitions {
		v.Partitions[i].sort()
	}
	// The data stands in a script: no text of it may end that.
	data, err := json.Marshal(v, json.Deterministic(true), jsontext.EscapeForHTML(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return page
	}
	after = bytes.Replace(after, renders, rendersIn, 1)
	return slices.Concat(before, dataBegins, data, dataEnds, after)
}

// visualization is porcupine's data: all of its fields, since one that is not known here would be
// lost.
type visualization struct {
	Partitions  []partition
	Annotations jsontext.Value
}

type partition struct {
	History               jsontext.Value
	PartialLinearizations [][]linearized
	Largest               map[int]int // by operation: the longest that has it
}

type linearized struct {
	Index            int
	StateDescription string
}

// sort puts the longest first, as porcupine does, and orders those of one length by what they do.
func (p *partition) sort() {
	slices.SortFunc(p.PartialLinearizations, func(a, b []linearized) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return slices.CompareFunc(a, b, func(a, b linearized) int { return a.Index - b.Index })
	})
	p.Largest = make(map[int]int)
	for i, steps := range p.PartialLinearizations {
		for _, s := range steps {
			if _, ok := p.Largest[s.Index]; !ok {
				p.Largest[s.Index] = i
			}
		}
	}
}
