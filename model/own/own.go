package own

import (
	"fmt"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"github.com/lockproof/lockproof/model/property"
)

// Property is a custom property.
type Property struct {
	Name string
	// Sometimes says that some execution must show the property. Otherwise it must hold after each step.
	Sometimes bool
	// Look looks at an execution after a step. It returns whether the property is violated or, for Sometimes, shown.
	// detail describes a violation in one line. Several goroutines may call Look at once.
	Look func(View) (seen bool, detail string)

	asked atomic.Bool
	fault atomic.Pointer[string]
}

// Asked reports whether the function has used the past in a search. Since a search has no past, the property was not
// judged there.
func (p *Property) Asked() bool { return p.asked.Load() }

// Sentence is the property in words, as reports show it.
func (p *Property) Sentence() string {
	if p.Sometimes {
		return property.OwnSometimes
	}
	return property.OwnAlways
}

// List are the custom properties of one run.
type List []*Property

// Most is the maximum length of a List.
const Most = property.Most - int(property.Count)

// Check returns an error if the list is invalid: it has too many properties, or one has no valid name or no function.
func (l List) Check() error {
	if len(l) > Most {
		return fmt.Errorf("%d properties of your own: expected at most %d", len(l), Most)
	}
	for i, p := range l {
		switch _, err := property.Named(p.Name); {
		case err == nil:
			return fmt.Errorf("property %q of your own: there is one of that name; expected another name", p.Name)
		case p.Name == "" || strings.ContainsFunc(p.Name, unfit):
			return fmt.Errorf("property %q of your own: expected a name such as no-overtaking, of small letters, digits and hyphens", p.Name)
		case p.Look == nil:
			return fmt.Errorf("property %q of your own: expected a function that judges it", p.Name)
		}
		for _, o := range l[:i] {
			if o.Name == p.Name {
				return fmt.Errorf("property %q of your own: there are two of that name", p.Name)
			}
		}
	}
	return nil
}

// unfit reports whether a character is not allowed in a property's name. Names are parts of file names and command
// lines.
func unfit(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' }

// ID is the number that the list's i-th property has in a [property.Set].
func ID(i int) property.Property { return property.Count + property.Property(i) }

// Of returns the property with the number p; nil if it is not in the list.
func (l List) Of(p property.Property) *Property {
	if i := int(p) - int(property.Count); i >= 0 && i < len(l) {
		return l[i]
	}
	return nil
}

// Name is the name of the property with the number p; "" if it is not in the list.
func (l List) Name(p property.Property) string {
	if own := l.Of(p); own != nil {
		return own.Name
	}
	return ""
}

// Named is the number of the property with that name, and whether the list has one.
func (l List) Named(name string) (property.Property, bool) {
	for i, p := range l {
		if p.Name == name {
			return ID(i), true
		}
	}
	return 0, false
}

// All is the set of the list's properties.
func (l List) All() (set property.Set) {
	for i := range l {
		set = set.With(ID(i))
	}
	return set
}

// Sometimes is the set of the properties that some execution must show.
func (l List) Sometimes() (set property.Set) {
	for i, p := range l {
		if p.Sometimes {
			set = set.With(ID(i))
		}
	}
	return set
}

// Err is the error of the first property whose function has panicked, or has given two results for the same execution.
func (l List) Err() error {
	for _, p := range l {
		if why := p.fault.Load(); why != nil {
			return fmt.Errorf("property %s of your own: %s", p.Name, *why)
		}
	}
	return nil
}

// Contradicted records that the function of property p has given another result when the same execution was repeated.
func (l List) Contradicted(p property.Property) {
	if own := l.Of(p); own != nil {
		own.fail("it says two things of one execution: expected it to depend on its View alone")
	}
}

func (p *Property) fail(why string) { p.fault.CompareAndSwap(nil, &why) }

// look calls the property's function and returns its results. If the function panics, this becomes an error of the
// property, and seen is false.
func (p *Property) look(v View) (seen bool, detail string) {
	if p.fault.Load() != nil {
		return false, ""
	}
	defer func() {
		if value := recover(); value != nil {
			p.fail(fmt.Sprintf("its function panicked: %v\n%s", value, debug.Stack()))
			seen = false
		}
	}()
	v.watch.asked = false
	seen, detail = p.Look(v)
	if v.watch.asked {
		p.asked.Store(true)
		return false, ""
	}
	return seen, detail
}
