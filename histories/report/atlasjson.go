package report

import "io"

// The format of atlases in JSON.
const (
	atlasFormat  = "atlas"
	atlasVersion = 1
)

// atlasFile is an atlas as JSON. Its fields are those of [Atlas], with the same meaning.
type atlasFile struct {
	Lockproof string         `json:"lockproof"`
	Version   int            `json:"version"`
	Tool      string         `json:"tool"`
	Broker    string         `json:"broker,omitempty"`
	Questions []questionFile `json:"questions"`
	Needed    *neededFile    `json:"needed,omitempty"`
	Complete  bool           `json:"complete"`
	Missing   string         `json:"missing,omitempty"`
}

type questionFile struct {
	Number  int            `json:"number"`
	Ask     string         `json:"question"`
	Answer  string         `json:"answer,omitempty"` // only if no row is missing
	Rows    []atlasRowFile `json:"rows"`
	Missing []string       `json:"missing,omitempty"`
}

type atlasRowFile struct {
	Setting  string        `json:"setting"`
	Bounds   string        `json:"bounds"`
	Command  string        `json:"command"`
	Verdicts []verdictFile `json:"verdicts"`
	Ends     []string      `json:"slots_in_the_end"`
	Seen     []string      `json:"seen"`
	Cost     []rowFile     `json:"cost"`
	Answered []string      `json:"answered,omitempty"`
	Figures  []string      `json:"figures,omitempty"`
	Same     string        `json:"real_broker,omitempty"`
	Space    *spaceFile    `json:"space"`
}

type verdictFile struct {
	Property string  `json:"property"`
	Verdict  Verdict `json:"verdict"`
	Steps    int     `json:"steps,omitzero"`
	Least    bool    `json:"least,omitzero"`
	Detail   string  `json:"detail,omitempty"`
	Real     string  `json:"real_broker,omitempty"`
}

type neededFile struct {
	Tried    int                `json:"combinations"`
	Proved   int                `json:"proved"`
	Bounds   string             `json:"bounds"`
	Smallest []neededOptionFile `json:"needed"`
	Free     []string           `json:"free"`
	Any      *neededAnyFile     `json:"any_number_of_clients,omitempty"`
}

type neededAnyFile struct {
	Bounds string               `json:"bounds"`
	Each   []anyCombinationFile `json:"combinations"`
}

type anyCombinationFile struct {
	Options string   `json:"options"`
	Proved  []string `json:"proved"`
	Open    []string `json:"not_proved"`
}

type neededOptionFile struct {
	Option string        `json:"option"`
	Lost   []verdictFile `json:"lost_without_it"`
}

// WriteAtlasJSON writes an atlas as JSON.
func WriteAtlasJSON(w io.Writer, a *Atlas) error {
	f := atlasFile{Lockproof: atlasFormat, Version: atlasVersion, Tool: a.Tool, Broker: a.Broker, Complete: a.Complete(), Missing: a.Missing}
	for i := range a.Questions {
		q := &a.Questions[i]
		file := questionFile{Number: q.Number, Ask: q.Ask, Answer: q.Answer, Missing: q.Missing}
		if len(q.Missing) > 0 {
			file.Answer = ""
		}
		for k := range q.Rows {
			file.Rows = append(file.Rows, q.Rows[k].file())
		}
		f.Questions = append(f.Questions, file)
	}
	if n := a.Needed; n != nil {
		f.Needed = &neededFile{Tried: n.Tried, Proved: n.Proved, Bounds: n.Bounds, Free: n.Free}
		for _, o := range n.Smallest {
			f.Needed.Smallest = append(f.Needed.Smallest, neededOptionFile{o.Option, verdictFiles(o.Lost)})
		}
		if n.Any != nil {
			f.Needed.Any = &neededAnyFile{Bounds: n.Any.Bounds}
			for _, c := range n.Any.Each {
				f.Needed.Any.Each = append(f.Needed.Any.Each, anyCombinationFile{c.Options, c.Proved.Names(), c.Open.Names()})
			}
		}
	}
	return writePretty(w, f)
}

func (r *AtlasRow) file() atlasRowFile {
	f := atlasRowFile{
		Setting: r.Setting, Bounds: r.Bounds, Command: r.Command, Verdicts: verdictFiles(r.Verdicts), Ends: r.Ends,
		Seen: r.Seen, Space: spaceOf(r.Space), Answered: r.Answered, Figures: r.Figures, Same: r.Same,
	}
	for i := range r.Cost {
		f.Cost = append(f.Cost, r.Cost[i].file())
	}
	return f
}

func verdictFiles(vs []AtlasVerdict) (out []verdictFile) {
	for _, v := range vs {
		out = append(out, verdictFile{v.Property.String(), v.Verdict, v.Steps, v.Least, v.Detail, v.Real})
	}
	return out
}
