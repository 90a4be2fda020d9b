package histories

// Views is what a search for any number of clients has visited: contexts are what is shared, with all clients
// that hold something; views are a context and what one client can be that holds nothing.
type Views struct {
	Searches int // one for each group of properties
	Contexts int
	Views    int
	Parts    int // that clients can be, in the largest search
	Holders  int // the most clients that held something at once
}

// cardViews is what the card tells of it.
func cardViews(r *Report, s Style) []line {
	v := r.Views
	if v == nil {
		return nil
	}
	return labelled("visited", list([]string{
		plural(v.Views, "view"), plural(v.Contexts, "context"), plural(v.Parts, "client part"),
		plural(v.Holders, "client") + " holding something at once",
	}), plain, s)
}
