package lockproof

import "github.com/lockproof/lockproof/model/own"

// View is an execution after a step: see model/own. Explore skips properties that call Events or Last, since it visits
// states, which have no past.
type View = own.View

// Own is a custom property. Several goroutines may call its function at once.
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

// Sometimes is a property that some execution must show after at least one step. If none shows it, the verdict is
// Undecided, or Violated if Explore has visited all executions.
func Sometimes(name string, seen func(View) bool) Own {
	p := &own.Property{Name: name, Sometimes: true}
	if seen != nil {
		p.Look = func(v View) (bool, string) { return seen(v), "" }
	}
	return p
}

// listOf copies custom properties to a list, so that results of an earlier run are left out.
func listOf(all []Own) (list own.List) {
	for _, o := range all {
		if o == nil {
			o = new(own.Property)
		}
		list = append(list, &own.Property{Name: o.Name, Sometimes: o.Sometimes, Look: o.Look})
	}
	return list
}
