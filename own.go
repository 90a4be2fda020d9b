package lockproof

import "github.com/lockproof/lockproof/model/own"

// View is an execution after a step: see model/own. Explore visits states, and skips what asks for Events or Last.
type View = own.View

// Own is a property of a user's. Several goroutines may call its function.
type Own = *own.Property

// Always is a property that must hold after each step: judge returns the violation, or nil.
func Always(name string, judge func(View) error) Own {
	p := &own.Property{Name: name}
	if judge != nil {
		p.Look = func(v View) (bool, string) {
			if err := judge(v); err != nil {
				return true, err.Error()
			}
			return false, ""
		}
	}
	return p
}

// Sometimes is what must be seen after some step. If no execution shows it, it is undecided, and violated if Explore has
// visited all.
func Sometimes(name string, seen func(View) bool) Own {
	p := &own.Property{Name: name, Sometimes: true}
	if seen != nil {
		p.Look = func(v View) (bool, string) { return seen(v), "" }
	}
	return p
}

// listOf are somebody's own properties as a list. One that is used again has neither asked for anything nor failed yet.
func listOf(all []Own) (list own.List) {
	for _, o := range all {
		if o == nil {
			o = new(own.Property)
		}
		list = append(list, &own.Property{Name: o.Name, Sometimes: o.Sometimes, Look: o.Look})
	}
	return list
}
