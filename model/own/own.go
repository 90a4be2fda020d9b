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
	// Sometimes says that the property must be seen in some execution, instead of holding after each step.
	Sometimes bool
	// Look looks at an execution after a step. It reports whether the property is violated, with a detail in one
	// line; or, for Sometimes, whether the property is seen. Several goroutines may call it at once.
	Look func(View) (seen bool, detail string)

	asked atomic.Bool
	fault atomic.Pointer[string]
}

// Asked reports whether the function has asked for the past in a search, which has none, so that it cannot be judged
// there.
func (p *Property) Asked() bool { return p.asked.Load() }

// Sentence is the property's sentence in a report.
func (p *Property) Sentence() string {
	if p.Sometimes {
		return property.OwnSometimes
	}
	return property.OwnAlways
}

// List are the custom properties of one run.
type List []*Property

// Most is the largest length of a List.
const Most = property.Most - int(property.Count)

// Check reports an invalid list.
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

// unfit reports whether a character is not allowed in a property's name, which is part of file names and command
// lines.
func unfit(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' }

// ID is the number of the list's i-th property.
func ID(i int) property.Property { return property.Count + property.Property(i) }

// Of returns the property with a number, or nil if the list has none.
func (l List) Of(p property.Property) *Property {
	if i := int(p) - int(property.Count); i >= 0 && i < len(l) {
		return l[i]
	}
	return nil
}

// Name is the name of a property of the list, "" for any other.
func (l List) Name(p property.Property) string {
	if own := l.Of(p); own != nil {
		return own.Name
	}
	return ""
}

// Named is the number of the property with that name.
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

// Sometimes is the set of the properties that must be seen in some execution.
func (l List) Sometimes() (set property.Set) {
	for i, p := range l {
		if p.Sometimes {
			set = set.With(ID(i))
		}
	}
	return set
}

// Err is the error of the first property whose function panicked or contradicted itself.
func (l List) Err() error {
	for _, p := range l {
		if why := p.fault.Load(); why != nil {
			return fmt.Errorf("property %s of your own: %s", p.Name, *why)
		}
	}
	return nil
}

// Contradicted notes that a property's function gave another result for the same execution.
func (l List) Contradicted(p property.Property) {
	if own := l.Of(p); own != nil {
		own.fail("it says two things of one execution: expected it to depend on its View alone")
	}
}

func (p *Property) fail(why string) { p.fault.CompareAndSwap(nil, &why) }

// look calls the function, and turns its panic into an error of the property.
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
