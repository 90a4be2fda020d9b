package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/histories/style"
)

// Views is the result of a search for any number of clients. A context is the shared part of a state, together with the
// roles of the clients that hold something. A view is a context together with the local state of one client.
type Views struct {
	Searches int // number of searches: one for each group of properties, and more detailed ones
	Contexts int
	Views    int
	Parts    int // number of different local states of clients in the largest search
	Holders  int // largest number of clients that held something at once
	// Cutoff is the smallest number of real clients of each kind whose executions reach every view of every search. It
	// is 0 if no number up to Tried does, in the states that were visited.
	Cutoff int
	Tried  int
}

// cardViews is the part of the card about a search for any number of clients.
func cardViews(r *Report, s style.Style) []style.Line {
	v := r.Views
	if v == nil {
		return nil
	}
	var out []style.Line
	if slices.ContainsFunc(r.Properties, func(p PropertyResult) bool { verdict, _ := r.Verdict(&p); return verdict == Proved }) {
		out = labelled("proved for", strings.Fields(style.Printable(r.Bounds)), style.Plain, s)
	}
	out = append(out, labelled("visited", style.List([]string{
		style.Plural(v.Views, "view"), style.Plural(v.Contexts, "context"), style.Plural(v.Parts, "client part"),
		style.Plural(v.Holders, "client") + " holding something at once",
	}), style.Plain, s)...)
	return append(out, labelled("cut-off", strings.Fields(v.cutoff()), style.Plain, s)...)
}

// cutoff says how many real clients of each kind reach every view, or up to which number this was tried.
func (v *Views) cutoff() string {
	switch {
	case v.Cutoff > 0:
		return fmt.Sprintf("every view is reached by executions of %s of each kind", style.Plural(v.Cutoff, "client"))
	case v.Tried == 0:
		return "not looked for"
	}
	return fmt.Sprintf("not seen with up to %s of each kind", style.Plural(v.Tried, "client"))
}
