package histories

import (
	"fmt"
	"slices"
	"strings"
)

// Views is what a search for any number of clients has visited: contexts are what is shared, with what may be seen of
// all clients that hold something; views are a context and what one client can be in it.
type Views struct {
	Searches int // one for each group of properties, and those that looked closer
	Contexts int
	Views    int
	Parts    int // that clients can be, in the largest search
	Holders  int // the most clients that held something at once
	// Cutoff is the smallest number of real clients of each kind that were seen to reach every view of every search; 0 is
	// that there is none up to Tried, as far as was looked.
	Cutoff int
	Tried  int
}

// cardViews is what the card tells of it.
func cardViews(r *Report, s Style) []line {
	v := r.Views
	if v == nil {
		return nil
	}
	var out []line
	if slices.ContainsFunc(r.Properties, func(p PropertyResult) bool { verdict, _ := r.Verdict(&p); return verdict == Proved }) {
		out = labelled("proved for", strings.Fields(printable(r.Bounds)), plain, s)
	}
	out = append(out, labelled("visited", list([]string{
		plural(v.Views, "view"), plural(v.Contexts, "context"), plural(v.Parts, "client part"),
		plural(v.Holders, "client") + " holding something at once",
	}), plain, s)...)
	return append(out, labelled("cut-off", strings.Fields(v.cutoff()), plain, s)...)
}

// cutoff is which cut-off was seen, in words.
func (v *Views) cutoff() string {
	switch {
	case v.Cutoff > 0:
		return fmt.Sprintf("every view is reached by executions of %s of each kind", plural(v.Cutoff, "client"))
	case v.Tried == 0:
		return "not looked for"
	}
	return fmt.Sprintf("not seen with up to %s of each kind", plural(v.Tried, "client"))
}
